// What may lie ahead of a present state, in the form of a history: what runs goes on and what waits
// is served, each task takes as long as is usual of it (9.1.a), and nothing comes from outside.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/cluster.h"
#include "sched/event.h"
#include "sim/whatif/history.h"

namespace fairlead::sim {

struct PresentState {
  Instant at;
  ClusterSpec cluster;              // with what runs and what waits
  std::vector<std::string> frozen;  // workloads that hold their place and stand still
  std::vector<sched::UsageRestored> usage;
  std::vector<sched::RuntimesRestored> runtimes;
};

// Of what stands still, and of what nobody knows how long it runs, nothing ends. Error: what a core
// says to the state, naming the part of it. Cost: that of telling a core all of it.
Result<History> history_ahead(const PresentState& present, Duration length);

}  // namespace fairlead::sim
