// What runs in a pool, as the smallest sets of tasks that rule 7.4 lets go together.
//
// A task (or segment) beyond its role's minimum, and each of a set of independent tasks, is a unit
// of its own; of a role at most as many tasks as it has beyond its minimum. What is left of a
// preemptible gang goes whole: one more unit. Non-preemptible tasks are in none.
//
// Cost: O(running tasks × log) to collect, once per round of claims and
// per claim that was served. Memory: about 150 bytes per
// running task while the round lasts.
#pragma once

#include <cstdint>
#include <vector>

#include "base/wide.h"
#include "sched/state/node_state.h"
#include "sched/state/pool_state.h"
#include "sched/state/workload_table.h"

namespace fairlead::sched {

struct VictimUnit {
  WorkloadId workload;
  QueueId queue;
  std::int32_t priority = 0;
  std::vector<TaskRef> tasks;        // by role and index
  std::vector<std::uint32_t> slots;  // where each of them runs
  ResourceVector amounts;            // what its queue is charged for them
  Int128 cost = 0;                   // 7.5, in milli-GPU × ms, weighted by priority
  Instant started;                   // of the earliest of its tasks
  std::int32_t spare = -1;           // position in spares(): of those at most so many tasks may go
  bool whole = false;                // the rest of a gang
};

class Victims {
 public:
  using Id = std::uint32_t;

  Victims(const PoolState& pool, const WorkloadTable& workloads, const Shapes& shapes,
          const TaskClasses& classes, Instant now, Duration restart_cost);

  const std::vector<VictimUnit>& units() const { return units_; }
  const VictimUnit& unit(Id id) const { return units_[id]; }
  // Units with a task on the slot, least cost first.
  const std::vector<Id>& at(std::uint32_t slot) const { return at_[slot]; }
  // Least cost first; of equals the workload that was submitted last.
  const std::vector<Id>& by_cost() const { return by_cost_; }
  // How many tasks of a role may go beside each other.
  const std::vector<std::int32_t>& spares() const { return spares_; }

 private:
  void collect(WorkloadId id, const WorkloadRecord& w, const Shape& shape);

  const PoolState& pool_;
  const TaskClasses& classes_;
  Instant now_;
  Duration restart_cost_;
  std::vector<VictimUnit> units_;
  std::vector<std::vector<Id>> at_;
  std::vector<Id> by_cost_;
  std::vector<std::int32_t> spares_;
};

// 7.5: what is lost if the task is stopped now, its restart included: milli-GPU × ms, a CPU core
// counting as 1/64 of a device, times 1 + priority.
Int128 disruption(const TaskSlot& slot, const TaskClass& task, const WorkloadRecord& w, Instant now,
                  Duration restart_cost);

}  // namespace fairlead::sched
