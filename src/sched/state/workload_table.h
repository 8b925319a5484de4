// Workloads as the core keeps them: what each asks (its shape, shared by all that ask the same),
// which of its tasks run where, and what it wants next.
//
// A pending workload is small: its roles lie in the shared shape, its task slots come with its
// first start.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/workload.h"
#include "sched/decision.h"
#include "sched/ids.h"
#include "sched/state/resource_vector.h"
#include "sched/state/task_class.h"

namespace fairlead::sched {

using ShapeId = Id<struct ShapeIdTag>;
using RequirementId = Id<struct RequirementIdTag>;

// All that decides whether and where a workload can start, without whose it is.
struct Shape {
  ShapeId id;
  std::vector<RoleSpec> roles;
  std::vector<TaskClassId> classes;  // by role
  std::vector<std::string> pools;
  TopologyGoal topology;
  Preemptibility preemptibility = Preemptibility::kPreemptible;
  bool independent = false;

  // Its position; −1 if there is none.
  std::int32_t role_named(const std::string& name) const;
  // Whether a goal ties tasks of the role to others.
  bool tied(std::size_t role) const {
    return !topology.empty() || !roles[role].topology.empty() || roles[role].segment_size > 0;
  }
};

enum class TaskState : std::uint8_t { kPending, kRunning, kSucceeded };

struct TaskSlot {
  TaskState state = TaskState::kPending;
  bool non_preemptible = false;  // how it is charged (5.2, 5.3)
  std::int64_t charge_gpu = 0;   // milli, in exchange units
  std::int64_t cost_rate = 0;    // 5.4, thousandths per hour
  Instant started;
  Instant ends = kNever;       // as far as is planned (9.1); never: nothing is known
  Instant saved{INT64_MIN};    // 7.5.a: what was done before is not lost
  std::uint64_t taken_in = 0;  // 7.7: number of the outside event after which rule 7 touched it
  TaskPlacement placement;
};

struct RoleProgress {
  std::vector<TaskSlot> tasks;  // by index; empty until something ran
  std::int32_t running = 0;
  std::int32_t succeeded = 0;
  std::int32_t first_pending = 0;  // no task below it is pending
};

// What a workload waits for next.
enum class EntryKind : std::uint8_t {
  kGang = 0,   // its minimum, or what it lost of it; or the next of its independent tasks
  kExtra = 1,  // one more elastic task, or segment
};

struct Entry {
  EntryKind kind = EntryKind::kGang;
  RequirementId requirement;
  std::vector<PoolId> pools;        // in whose buckets it stands
  std::int64_t minus_priority = 0;  // as it was keyed: aging may have moved on since
};

struct WorkloadRecord {
  bool alive = false;
  std::string name;
  QueueId queue;
  ShapeId shape;
  WorkloadKind kind = WorkloadKind::kTraining;
  std::int32_t priority = 0;
  std::int64_t order_key = 0;
  std::int32_t completions = 0;
  std::int32_t backoff_limit = 6;
  std::int32_t failures = 0;
  Instant submitted;
  std::int64_t sequence = 0;  // order of submission: decides among equals
  Instant retry_at{INT64_MIN};
  std::size_t run_position = 0;    // in its queue's list of what runs
  std::int64_t smallest_unit = 0;  // as counted by its queue; 0: nothing of it can be taken
  std::int32_t run_priority = 0;   // 7.2: with what it had won by aging when it started
  std::optional<Duration> expected_runtime;
  std::optional<Duration> max_runtime;
  Duration grace_period;
  Duration staleness_grace_period;
  bool lost_some = false;     // tasks of its minimum, since it last had it
  Instant stale_at = kNever;  // 8.3: it runs below its minimum, and is stopped then
  std::string user;
  std::string template_name;

  PoolId pool;  // where it runs; invalid while nothing runs
  std::vector<RoleProgress> roles;
  std::int32_t running = 0;

  // Pending demand as charged to its queue.
  PoolId demand_pool;
  ResourceVector demand;
  std::vector<Entry> entries;  // one, or one per role that may grow
};

// Workloads and requirements hold shapes, shapes hold the classes of their roles. A shape that
// nothing holds is gone at once, and its id is used again.
class Shapes {
 public:
  explicit Shapes(TaskClasses& classes) : classes_(classes) {}

  // The shape of the spec, held once more.
  ShapeId acquire(const WorkloadSpec& spec);
  void hold(ShapeId id) { ++slots_[id.index()].holds; }
  void release(ShapeId id);

  const Shape& get(ShapeId id) const { return slots_[id.index()].shape; }
  std::size_t slots() const { return slots_.size(); }  // ids lie below; free ones are not held
  std::size_t size() const { return by_key_.size(); }
  std::int64_t holds(ShapeId id) const { return slots_[id.index()].holds; }

 private:
  using Key = std::tuple<std::vector<RoleSpec>, std::vector<std::string>, TopologyGoal,
                         Preemptibility, bool>;
  struct Slot {
    Shape shape;
    std::int64_t holds = 0;
    std::map<Key, ShapeId>::iterator place;
  };

  TaskClasses& classes_;
  std::map<Key, ShapeId> by_key_;
  std::deque<Slot> slots_;  // references stay valid
  std::vector<ShapeId> free_;
};

// Holds a shape while it lives.
class ShapeHold {
 public:
  ShapeHold(Shapes& shapes, const WorkloadSpec& spec)
      : shapes_(shapes), id_(shapes.acquire(spec)) {}
  ShapeHold(const ShapeHold&) = delete;
  ShapeHold& operator=(const ShapeHold&) = delete;
  ~ShapeHold() { shapes_.release(id_); }
  ShapeId id() const { return id_; }

 private:
  Shapes& shapes_;
  ShapeId id_;
};

class WorkloadTable {
 public:
  WorkloadId add(WorkloadRecord state);  // Requires: the name is not taken
  void remove(WorkloadId id);
  WorkloadId find(const std::string& name) const;  // invalid if unknown
  WorkloadRecord& get(WorkloadId id) { return table_[id.index()]; }
  const WorkloadRecord& get(WorkloadId id) const { return table_[id.index()]; }
  std::size_t slots() const { return table_.size(); }  // ids lie below; check alive
  std::size_t size() const { return by_name_.size(); }

 private:
  std::deque<WorkloadRecord> table_;
  std::vector<WorkloadId> free_;
  std::unordered_map<std::string, WorkloadId> by_name_;
};

}  // namespace fairlead::sched
