#include "sim/openb/fill.h"

#include <algorithm>
#include <cmath>

#include "sim/openb/placing_core.h"

namespace fairlead::sim {
namespace {

// Means of the values whose arrived volume rounds to the same percent.
class PercentMeter {
 public:
  void add(double arrived_percent, double value) {
    const double at = std::floor(arrived_percent + 0.5);
    if (at >= static_cast<double>(kArrivedPercents)) return;
    sum_[static_cast<std::size_t>(at)] += value;
    count_[static_cast<std::size_t>(at)] += 1;
  }
  ByArrived means() const {
    ByArrived out{};
    for (std::size_t i = 0; i < kArrivedPercents; ++i) {
      out[i] = count_[i] > 0 ? sum_[i] / static_cast<double>(count_[i]) : -1;
    }
    return out;
  }

 private:
  std::array<double, kArrivedPercents> sum_{};
  std::array<std::int64_t, kArrivedPercents> count_{};
};

}  // namespace

Result<OpenbRun> run_openb_fill(const OpenbInput& input, const std::string& policy,
                                std::uint64_t seed, const Progress& progress) {
  const OpenbFill fill = make_fill(input, seed);
  FAIRLEAD_ASSIGN(PlacingCore core,
                  PlacingCore::create(fill.nodes, input.pods, fill.pods, policy, seed));
  OpenbRun run;
  run.seed = seed;
  const auto total = static_cast<double>(total_gpu_milli(input.nodes));
  std::int64_t arrived = 0;
  std::int64_t used = 0;
  PercentMeter unallocated;
  PercentMeter fragmented;
  Instant now;
  for (const OpenbPod& pod : fill.pods) {
    now = now + milliseconds(1);
    arrived += pod.milli();
    ++run.pods;
    FAIRLEAD_ASSIGN(const auto place, core.place(now, pod));
    if (place) {
      ++run.placed;
      used += pod.milli();
    }
    const double percent = 100.0 * static_cast<double>(arrived) / total;
    unallocated.add(percent, 100.0 - 100.0 * static_cast<double>(used) / total);
    fragmented.add(percent, 100.0 * core.fragmented_milli() / total);
    if (progress && run.pods % 256 == 0) {
      progress(static_cast<double>(run.pods) / static_cast<double>(fill.pods.size()));
    }
  }
  run.unallocated_percent = unallocated.means();
  run.fragmentation_percent = fragmented.means();
  run.core_seconds = core.core_seconds();
  return run;
}

OpenbRun mean_of(const std::vector<OpenbRun>& runs) {
  OpenbRun mean;
  const auto average = [&](ByArrived OpenbRun::* field) {
    ByArrived out{};
    for (std::size_t i = 0; i < kArrivedPercents; ++i) {
      double sum = 0;
      int count = 0;
      for (const OpenbRun& run : runs) {
        if ((run.*field)[i] < 0) continue;
        sum += (run.*field)[i];
        ++count;
      }
      out[i] = count > 0 ? sum / count : -1;
    }
    return out;
  };
  mean.unallocated_percent = average(&OpenbRun::unallocated_percent);
  mean.fragmentation_percent = average(&OpenbRun::fragmentation_percent);
  for (const OpenbRun& run : runs) {
    mean.pods += run.pods;
    mean.placed += run.placed;
    mean.core_seconds += run.core_seconds;
  }
  return mean;
}

}  // namespace fairlead::sim
