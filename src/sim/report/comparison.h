// Fairness of a replay beside fifo and las on the same trace, and what its quotas promised.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sim/replay/replay.h"
#include "sim/replay/safety.h"
#include "sim/report/summary.h"

namespace fairlead::sim {

struct PolicyFairness {
  std::string policy;
  FinishTimeFairness rho;
  Quantiles completion;
};

struct Comparison {
  std::vector<PolicyFairness>
      policies;                   // the one replayed, then fifo and las where they are others
  std::vector<SafetyRow> safety;  // by project; empty where none has a quota
};

// `result` and `summary` are those of replay() with the same arguments. Cost: up to two replays,
// and one of each project's jobs.
Result<Comparison> compare_fairness(const ClusterSpec& cluster, const std::vector<TraceJob>& jobs,
                                    const ReplayOptions& options, const ReplayResult& result,
                                    const Summary& summary, const Progress& progress = {});

}  // namespace fairlead::sim
