// Finds the earliest time at which a gang will have room (9.2).
//
// It walks through time on a copy of the pool: at each moment at which a task is to end, or a
// reservation begins to matter or ends, the copy has what is free from then on for as long as the
// gang will run, and the placement that also starts workloads says whether and where it fits.
// So what is found respects devices, cores, domains and segments, and every reservation there is.
// The idea of a shadow start at which enough will have ended is that of EASY backfill (Lifka, The
// ANL/IBM SP Scheduling System, 1995); one for each of the first K makes it conservative.
//
// Cost: O(nodes that changed) to follow the pool; then per task that ends before the start that is
// found O(log n) for each class of the gang; and a placement wherever counts do not rule it out.
// Memory: a copy of the pool's nodes, from the first plan on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/time.h"
#include "sched/place/gang.h"
#include "sched/plan/timeline.h"

namespace fairlead::sched {

// Nothing is planned to start later than this, and what nobody knows the end of needs its room for
// longer.
inline constexpr Duration kPlanHorizon = hours(24 * 365 * 100);
inline constexpr Duration kForGood = hours(24 * 365 * 1000);

class Planner {
 public:
  Planner(const PlacementPool& pool, const std::vector<NodeState>& nodes, const Timeline& timeline,
          const WorkloadTable& workloads, const Shapes& shapes, const TaskClasses& classes);

  struct Plan {
    Instant start;
    std::vector<TaskPlacement> tasks;
  };
  // Nothing if it does not fit when all has ended of which it is known when, or the steps are used
  // up. `passes`: reservations that it need not mind. Requires: the pool is ordered.
  std::optional<Plan> earliest(const GangRequest& request, Duration length, Instant now,
                               const Passes& passes, std::int64_t steps);

  // Steps that the last search took: tasks that ended, and placements tried.
  std::int64_t steps_taken() const { return steps_taken_; }

 private:
  void follow();
  void rebuild();
  void give(const TaskRef& task);
  void set_room(NodeId node, const NodeRoom& room);
  bool counts_allow(const GangRequest& request);

  const PlacementPool& pool_;
  const std::vector<NodeState>& nodes_;
  const Timeline& timeline_;
  const WorkloadTable& workloads_;
  const Shapes& shapes_;
  const TaskClasses& classes_;
  std::vector<NodeState> copies_;  // by NodeId
  std::unique_ptr<PlacementPool> future_;
  std::uint64_t shape_version_ = UINT64_MAX;
  std::vector<std::uint32_t> seen_;  // versions of nodes, by NodeId
  std::vector<NodeId> moved_;        // copies that were moved in time
  std::int64_t steps_taken_ = 0;
};

}  // namespace fairlead::sched
