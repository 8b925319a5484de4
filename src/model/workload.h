// Workloads: what a person submits, as typed roles of identical tasks (semantics 1, 2, 6.4, 8).
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/gpu_request.h"
#include "model/node.h"
#include "model/units.h"

namespace fairlead {

enum class WorkloadKind : std::uint8_t {
  kTraining,
  kWorkspace,
  kDistributed,
  kInference,
  kExternal
};

enum class Preemptibility : std::uint8_t { kPreemptible, kNonPreemptible, kSemiPreemptible };

// Whether a task's CPUs must lie on the NUMA node of its devices (6.3).
enum class NumaPolicy : std::uint8_t {
  kPreferred,  // near if there is room, else anywhere on the node
  kRequired,   // a node where it cannot be near does not fit
};

struct TaskRequest {
  GpuRequest gpu;
  MilliCpu cpu;
  Bytes memory;
  ExtendedResources extended;
  NumaPolicy numa = NumaPolicy::kPreferred;

  friend auto operator<=>(const TaskRequest&, const TaskRequest&) = default;
};

enum class MatchOperator : std::uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGreater, kLess };

// A term over one label of a node. kGreater and kLess compare integers.
struct MatchTerm {
  std::string key;
  MatchOperator op = MatchOperator::kIn;
  std::vector<std::string> values;
  friend auto operator<=>(const MatchTerm&, const MatchTerm&) = default;
};

struct Toleration {
  std::string key;                    // empty: every key
  std::optional<std::string> value;   // unset: every value
  std::optional<TaintEffect> effect;  // unset: every effect
  friend auto operator<=>(const Toleration&, const Toleration&) = default;
};

// Hard constraints of 6.1 on the node of a task; all must hold.
struct Constraints {
  std::vector<std::string> node_types;      // any of; empty: all
  std::vector<std::string> device_classes;  // any of; empty: all
  Labels node_selector;                     // each label as stated
  std::vector<MatchTerm> affinity;          // each term
  std::vector<Toleration> tolerations;

  friend auto operator<=>(const Constraints&, const Constraints&) = default;
};

// 6.4. Level names are those of the cluster, or "host".
struct TopologyGoal {
  std::string within;  // required level; empty: none
  std::string prefer;  // preferred level, at or below `within`; empty: none
  bool fewest_hosts = false;

  friend auto operator<=>(const TopologyGoal&, const TopologyGoal&) = default;
  bool empty() const { return within.empty() && prefer.empty() && !fewest_hosts; }
};

struct RoleSpec {
  std::string name = "worker";
  std::int32_t count = 1;  // tasks wanted; 8.1 "max"
  std::int32_t min = 1;    // tasks below which the role cannot run; 0 <= min <= count
  TaskRequest request;
  Constraints constraints;
  TopologyGoal topology;
  std::int32_t segment_size = 0;  // 6.4: tasks [0,k), [k,2k), … each within one domain; 0: none
  TopologyGoal segment_topology;  // of each segment; set only with segment_size

  friend auto operator<=>(const RoleSpec&, const RoleSpec&) = default;
  bool elastic() const { return min < count; }
};

// 8.3: a gang below its minimum runs on.
inline constexpr Duration kNeverStale{-1};

struct WorkloadSpec {
  std::string name;
  std::string queue;  // a leaf of the queue tree
  WorkloadKind kind = WorkloadKind::kTraining;
  std::int32_t priority = 50;
  Preemptibility preemptibility = Preemptibility::kPreemptible;
  std::vector<std::string> pools = {"default"};  // 6.1: one pool per workload, tried in this order
  std::vector<RoleSpec> roles;
  TopologyGoal topology;  // of the whole workload
  // 8.2: `completions` > 0 makes the one role a set of independent tasks, of which `parallelism`
  // run at once; the role's count equals parallelism then (else an error), its min says nothing,
  // and nothing is a gang. Without completions, parallelism is 0.
  std::int32_t completions = 0;
  std::int32_t parallelism = 0;
  std::int32_t backoff_limit = 6;
  std::optional<Duration> expected_runtime;
  std::optional<Duration> max_runtime;
  Duration grace_period = seconds(30);           // 7.8: between notice and the end of a victim
  Duration staleness_grace_period = minutes(1);  // 8.3; 0: at once; kNeverStale
  std::int64_t order_key = 0;  // site's own order among equals of priority: lower is served first
  std::string user;
  std::string template_name;

  friend auto operator<=>(const WorkloadSpec&, const WorkloadSpec&) = default;
  bool independent_tasks() const { return completions > 0; }
};

// Priority of a class by name: train 50, build-preemptible 75, build 100, inference 125 (the
// classes of KAI-Scheduler); nullopt if the name is not known.
std::optional<std::int32_t> priority_of_class(const std::string& name);

std::int32_t default_priority(WorkloadKind kind);

// At or above 100 non-preemptible, below preemptible, unless the workload says otherwise.
Preemptibility default_preemptibility(std::int32_t priority);

}  // namespace fairlead
