// Events: everything the scheduling core is ever told. Each is a delta; Scheduler::apply() takes
// one with the time at which it happened. A recorded list of events is a complete input: replaying
// it gives the same decisions (law 1, I8).
//
// Things are named by the names people gave them; the core keeps its own dense ids.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "model/cluster.h"
#include "model/reservation.h"

namespace fairlead::sched {

// The cluster's topology levels, widest first, without the host. Before the first node.
struct TopologyDefined {
  std::vector<std::string> levels;
};
// A device class must be defined before a node has devices of it; it cannot change afterwards.
struct DeviceClassDefined {
  DeviceClass device_class;
};
struct PoolDefined {
  PoolSpec pool;
};  // new or changed
struct NodeUpserted {
  NodeSpec node;
};  // new, or changed labels, pool, capacity, devices
struct NodeRemoved {
  std::string node;
};  // its tasks are lost
struct NodeConditionChanged {
  std::string node;
  bool ready = true;
  bool schedulable = true;
};
struct DeviceHealthChanged {
  std::string node;
  std::string device;
  DeviceHealth health;
};
struct QueueUpserted {
  QueueSpec queue;
};  // new or changed quota, limit, weight, rank, …
struct QueueRemoved {
  std::string queue;
};  // must hold nothing
struct WorkloadSubmitted {
  WorkloadSpec workload;
};

// A workload that already runs, told at start-up or found in the cluster: takes what it holds
// without passing gates. Tasks that are not named as running are pending.
struct WorkloadAdopted {
  WorkloadEntry entry;
};

struct RoleChange {
  std::string role;
  std::optional<std::int32_t> count;
  std::optional<std::int32_t> min;
};
struct WorkloadChanged {
  std::string workload;
  std::optional<std::int32_t> priority;
  std::optional<std::int64_t> order_key;
  std::vector<RoleChange> roles;
};
struct WorkloadRemoved {
  std::string workload;
};  // cancelled, or its owner says it is over

enum class TaskOutcome : std::uint8_t {
  kSucceeded,  // done; not started again
  kFailed,     // 8.2: retried up to backoff_limit; of a gang: wanted again
  kLost,       // evicted or lost with its node: wanted again, not counted as a failure
};
struct TaskEnded {
  std::string workload;
  std::string role;
  std::int32_t index = 0;
  TaskOutcome outcome = TaskOutcome::kSucceeded;
  // 4.3: of a failure or loss, before which nothing of the workload is tried again; what runs goes
  // on.
  std::optional<Instant> retry_at = {};
  Duration stood_still = {};  // of its run: no part of how long such work takes (9.1.a)
};

// What running tasks have done is saved: stopped later, they lose only what comes after (7.5.a).
struct CheckpointSaved {
  std::string workload;
  std::string role;         // empty: of every role
  std::int32_t index = -1;  // −1: every task that runs
};

// All of its tasks were stopped from outside; it waits again with its place kept (7.8).
struct WorkloadRequeued {
  std::string workload;
};

// The engine could not start what was decided (bind refused, image pull): the tasks are pending
// again and the workload is not tried before `retry_at` (4.3).
struct StartRefused {
  std::string workload;
  Instant retry_at;
};

// The mix of requests that placement scores against (6.2), stated instead of observed: task
// requests with how often each occurs. Replaces what was observed so far.
struct MixStated {
  struct Entry {
    TaskRequest request;
    Constraints constraints;
    std::int64_t count = 1;
  };
  std::vector<Entry> entries;
};

// 9.3: nodes are kept for a time; new, or changed.
struct ReservationUpserted {
  ReservationSpec reservation;
};
struct ReservationRemoved {
  std::string reservation;
};

// 3.3.e: what is remembered of what a queue used of one resource of a pool, as usage() of an
// earlier core told it. After the pool, its nodes, the queue and what runs: what is held now counts
// as held since then.
struct UsageRestored {
  std::string pool;
  std::string queue;  // empty: the pool's capacity
  std::string resource;
  std::string state;
};

// 9.1.a: how long the last tasks of one template and user took, the oldest first, as runtimes() of
// an earlier core told it. What this core knows of them comes before.
struct RuntimesRestored {
  std::string user;
  std::string template_name;
  std::vector<Duration> last;  // at most 32
};

// Nothing happened but time: windows open, back-off ends, budgets renew.
struct TimePassed {};

using Event =
    std::variant<TopologyDefined, DeviceClassDefined, PoolDefined, NodeUpserted, NodeRemoved,
                 NodeConditionChanged, DeviceHealthChanged, QueueUpserted, QueueRemoved,
                 WorkloadSubmitted, WorkloadAdopted, WorkloadChanged, WorkloadRemoved, TaskEnded,
                 CheckpointSaved, WorkloadRequeued, StartRefused, MixStated, ReservationUpserted,
                 ReservationRemoved, UsageRestored, RuntimesRestored, TimePassed>;

// The events that build a cluster document from nothing, in an order that apply() accepts:
// topology, classes, pools, nodes, queues, running workloads, then pending ones by submit time.
std::vector<std::pair<Instant, Event>> events_of(const ClusterSpec& cluster);

}  // namespace fairlead::sched
