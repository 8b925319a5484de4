// openb with departures: pods arrive and leave, and load stays at a set part of the cluster.
//
// Pods are drawn uniformly from the list, arrive as a Poisson process and stay for exponential
// times of one mean lifetime; the rate makes the offered GPU volume `load_percent` of the cluster's
// GPUs. A pod that does not fit at once is lost, so that policies compare on the same arrivals.
// Measured from 3 to 9 mean lifetimes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/cluster/over_time.h"
#include "sim/cluster/progress.h"
#include "sim/openb/workload.h"

namespace fairlead::sim {

// What is measured, in mean lifetimes.
inline constexpr double kChurnWarmUp = 3;
inline constexpr double kChurnEnd = 9;

struct ChurnRun {
  std::uint64_t seed = 0;
  std::int64_t pods = 0;  // arrived while measured
  std::int64_t lost_pods = 0;
  double lost_percent = 0;           // GPU volume lost ÷ GPU volume that arrived
  double unallocated_percent = 0;    // mean over time
  double fragmentation_percent = 0;  // mean over time: free capacity the mix cannot use ÷ capacity
  OverTime state{2, 0.025};          // by mean lifetimes: unallocated %, fragmented %
  std::int64_t decisions = 0;        // all arrivals
  double core_seconds = 0;

  double decisions_per_second() const {
    return core_seconds > 0 ? static_cast<double>(decisions) / core_seconds : 0;
  }
};

// Requires: load_percent > 0. Error: as run_openb_fill().
Result<ChurnRun> run_openb_churn(const OpenbInput& input, const std::string& policy,
                                 std::uint64_t seed, double load_percent,
                                 const Progress& progress = {});

ChurnRun mean_of(const std::vector<ChurnRun>& runs);

}  // namespace fairlead::sim
