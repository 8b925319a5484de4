// Reservations: room on certain nodes and devices that is kept for someone from a time on (9.2,
// 9.3). The planner makes them for workloads that wait; people make them of whole nodes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "sched/decision.h"
#include "sched/ids.h"
#include "sched/state/node_state.h"
#include "sched/state/resource_vector.h"
#include "sched/state/task_class.h"

namespace fairlead::sched {

struct PlannedTask {
  TaskPlacement placement;
  TaskClassId task_class;
};

struct Reservation {
  // For a workload (9.2).
  WorkloadId workload;        // invalid: made by a person
  std::int64_t sequence = 0;  // of the workload: ids are used again
  QueueId queue;
  std::int64_t minus_priority = 0;  // as it stands in its queue
  bool non_preemptible = false;
  ResourceVector demand;           // what its queue will be charged
  std::vector<PlannedTask> tasks;  // where it will run
  bool declared = true;            // all runtimes that it rests on are declared maxima
  Instant promised;                // the start that was promised first

  // By a person (9.3).
  std::string name;
  std::vector<QueueId> users;  // who may use it, with all below them; none: nobody
  std::vector<NodeId> nodes;   // whole

  Instant start;  // of a workload: it starts then at the latest
  Instant end;    // exclusive
};

}  // namespace fairlead::sched
