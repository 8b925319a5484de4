// What runs in a pool, as the smallest sets of tasks that rule 7.4 lets go together.
//
// A task (or segment) beyond its role's minimum, and each of a set of independent tasks, is a unit
// of its own; of a role at most as many tasks as it has beyond its minimum. What is left of a
// preemptible gang goes whole: one more unit. Non-preemptible tasks are in none.
//
// Collected for those workloads that a claim may turn to, and kept while claims are looked at.
// Cost: O(tasks of those workloads × log). Memory: about 250 bytes per task.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <boost/container/small_vector.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "base/wide.h"
#include "sched/state/node_state.h"
#include "sched/state/pool_state.h"
#include "sched/state/workload_table.h"

namespace fairlead::sched {

using TaskRefs = boost::container::small_vector<TaskRef, 1>;
using Slots = boost::container::small_vector<std::uint32_t, 1>;

struct VictimUnit {
  static constexpr std::uint32_t kElsewhere = UINT32_MAX;  // its node was moved to another pool
  WorkloadId workload;
  QueueId queue;
  std::int32_t priority = 0;
  std::int64_t sequence = 0;  // of its workload's submission
  TaskRefs tasks;             // by role and index
  Slots slots;                // where each of them runs
  ResourceVector amounts;     // what its queue is charged for them
  Int128 cost = 0;            // 7.5, in milli-GPU × ms, weighted by priority
  Instant started;            // of the earliest of its tasks
  std::int32_t spare = -1;    // position in spares(): of those at most so many tasks may go
  bool whole = false;         // the rest of a gang
  bool gone = false;          // its workload changed since
};

class Victims {
 public:
  using Id = std::uint32_t;

  // Of the named workloads, all of which run in the pool.
  Victims(const PoolState& pool, const std::vector<WorkloadId>& ids, const WorkloadTable& workloads,
          const Shapes& shapes, const TaskClasses& classes, Instant now, Duration restart_cost);

  // Some of its tasks stopped or moved: what is left of it may go otherwise than before.
  // Cost: O(its tasks), and O(units) moved bytes for each new unit.
  void changed(WorkloadId id);

  const std::vector<VictimUnit>& units() const { return units_; }
  const VictimUnit& unit(Id id) const { return units_[id]; }
  // Units with a task on the slot, least cost first.
  std::span<const Id> at(std::uint32_t slot) const {
    const auto it = at_.find(slot);
    return it == at_.end() ? std::span<const Id>{} : std::span<const Id>(it->second);
  }
  // Least cost first; of equals the workload that was submitted last.
  const std::vector<Id>& by_cost() const { return by_cost_; }
  // How many tasks of a role may go beside each other.
  const std::vector<std::int32_t>& spares() const { return spares_; }
  // 7.5, 7.5.b: how many workloads the units are of, and how many of them are gangs that go whole.
  std::pair<std::size_t, std::size_t> hit(const std::vector<Id>& units) const;

 private:
  void collect(WorkloadId id, const WorkloadRecord& w, const Shape& shape);
  void index(Id id);
  bool cheaper(Id a, Id b) const;

  const PoolState& pool_;
  const WorkloadTable& workloads_;
  const Shapes& shapes_;
  const TaskClasses& classes_;
  Instant now_;
  Duration restart_cost_;
  std::vector<VictimUnit> units_;
  // Those that are not gone.
  using Ids = boost::container::small_vector<Id, 2>;
  boost::unordered_flat_map<WorkloadId, Ids, std::hash<WorkloadId>> of_;
  boost::unordered_flat_map<std::uint32_t, boost::container::small_vector<Id, 8>> at_;
  std::vector<Id> by_cost_;
  std::vector<std::int32_t> spares_;
};

// 7.5: what is lost if the task is stopped now, its restart included: milli-GPU × ms, a CPU core
// counting as 1/64 of a device, times 1 + priority.
Int128 disruption(const TaskSlot& slot, const TaskClass& task, const WorkloadRecord& w, Instant now,
                  Duration restart_cost);

}  // namespace fairlead::sched
