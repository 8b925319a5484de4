#include "sim/openb/fill.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "sched/scheduler.h"
#include "sim/cluster/core_clock.h"

namespace fairlead::sim {
namespace {

const std::string kQueue = "openb";

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

const sched::Started* started(const std::vector<sched::Decision>& decisions) {
  for (const sched::Decision& decision : decisions) {
    if (const auto* start = std::get_if<sched::Started>(&decision)) return start;
  }
  return nullptr;
}

}  // namespace

Result<OpenbRun> run_openb_fill(const OpenbInput& input, const std::string& policy,
                                std::uint64_t seed, const Progress& progress) {
  const OpenbFill fill = make_fill(input, seed);
  const OpenbMix mix = mix_of(input.pods);
  std::vector<std::string> models;
  FragmentationMeter fragmentation(meter_classes(mix, models));

  sched::SchedulerOptions options;
  options.placement = policy;
  options.seed = seed;
  FAIRLEAD_ASSIGN(sched::Scheduler core, sched::Scheduler::create(options));
  Instant now;
  for (const sched::Event& event : openb_cluster_events(fill.nodes, fill.pods, mix, kQueue)) {
    FAIRLEAD_TRY(core.apply(now, event));
  }
  core.decide(now);
  // The core numbers nodes in the order in which they came, as the meter does.
  for (const OpenbNode& node : fill.nodes) {
    fragmentation.add_node(node.cpu_milli, static_cast<std::size_t>(node.gpus),
                           node.gpus > 0 ? model_number(models, node.model) : 0);
  }

  OpenbRun run;
  run.seed = seed;
  const auto total = static_cast<double>(total_gpu_milli(input.nodes));
  std::int64_t arrived = 0;
  std::int64_t used = 0;
  PercentMeter unallocated;
  PercentMeter fragmented;
  CoreClock clock;
  std::vector<DeviceShare> shares;
  for (const OpenbPod& pod : fill.pods) {
    now = now + milliseconds(1);
    arrived += pod.milli();
    ++run.pods;
    const sched::Event submit = sched::WorkloadSubmitted{workload_of(pod, kQueue)};
    const sched::Event remove = sched::WorkloadRemoved{pod.name};
    std::vector<sched::Decision> decisions;
    const auto told = clock.time([&]() -> Result<void> {
      FAIRLEAD_TRY(core.apply(now, submit));
      decisions = core.decide(now);
      if (started(decisions) == nullptr) FAIRLEAD_TRY(core.apply(now, remove));
      return {};
    });
    // A pod that no node could ever hold is refused at submit: lost like any other.
    if (!told && told.error().code != ErrorCode::kImpossible) return fail(told.error());
    if (const sched::Started* start = started(decisions)) {
      ++run.placed;
      used += pod.milli();
      const sched::TaskPlacement& task = start->tasks.front();
      shares.clear();
      for (const sched::DeviceClaim& claim : task.devices) {
        shares.push_back(DeviceShare{claim.device, claim.milli.value});
      }
      fragmentation.take(task.node.index(), pod.cpu_milli, shares);
    }
    const double percent = 100.0 * static_cast<double>(arrived) / total;
    unallocated.add(percent, 100.0 - 100.0 * static_cast<double>(used) / total);
    fragmented.add(percent, 100.0 * fragmentation.total() / total);
    if (progress && run.pods % 256 == 0) {
      progress(static_cast<double>(run.pods) / static_cast<double>(fill.pods.size()));
    }
  }
  run.unallocated_percent = unallocated.means();
  run.fragmentation_percent = fragmented.means();
  run.core_seconds = clock.seconds();
  return run;
}

OpenbRun mean_of(const std::vector<OpenbRun>& runs) {
  OpenbRun mean;
  const auto average = [&](ByArrived OpenbRun::*field) {
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
