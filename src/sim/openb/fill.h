// The openb fill-up of FGD's evaluation through the scheduling core: pods arrive one at a time and
// never leave; one that does not fit at once is lost.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/cluster/progress.h"
#include "sim/openb/workload.h"

namespace fairlead::sim {

inline constexpr std::size_t kArrivedPercents = 131;  // 0 … 130

// A value by arrived percent; negative where no event rounds to that percent.
using ByArrived = std::array<double, kArrivedPercents>;

struct OpenbRun {
  std::uint64_t seed = 0;
  ByArrived unallocated_percent{};    // 100 − allocated / all GPU capacity
  ByArrived fragmentation_percent{};  // free capacity the mix cannot use / all GPU capacity
  std::int64_t pods = 0;
  std::int64_t placed = 0;
  double core_seconds = 0;

  double decisions_per_second() const {
    return core_seconds > 0 ? static_cast<double>(pods) / core_seconds : 0;
  }
};

// Error: what the core refuses about the cluster itself, or an unknown policy.
Result<OpenbRun> run_openb_fill(const OpenbInput& input, const std::string& policy,
                                std::uint64_t seed, const Progress& progress = {});

// Mean over seeds, percent by percent; speed is all pods over all core seconds.
OpenbRun mean_of(const std::vector<OpenbRun>& runs);

}  // namespace fairlead::sim
