#include "sim/openb/churn.h"

#include <queue>
#include <tuple>

#include <fmt/core.h>

#include "base/rng.h"
#include "sim/openb/placing_core.h"

namespace fairlead::sim {
namespace {

constexpr double kLifetimeMs = 3'600'000;
constexpr double kWarmUp = kChurnWarmUp;
constexpr double kEnd = kChurnEnd;

struct Departure {
  double at = 0;
  std::size_t number = 0;
  OpenbPod pod;
  PlacingCore::Place place;
  friend bool operator<(const Departure& a, const Departure& b) {  // the top leaves first
    return std::tuple(b.at, b.number) < std::tuple(a.at, a.number);
  }
};

// Time-weighted means over the measured part.
class TimeMeter {
 public:
  void add(double from, double to, double unallocated, double fragmented) {
    const double begin = std::max(from, kWarmUp * kLifetimeMs);
    const double part = std::min(to, kEnd * kLifetimeMs) - begin;
    if (part <= 0) return;
    span_ += part;
    unallocated_ += part * unallocated;
    fragmented_ += part * fragmented;
  }
  double unallocated() const { return span_ > 0 ? unallocated_ / span_ : 0; }
  double fragmented() const { return span_ > 0 ? fragmented_ / span_ : 0; }

 private:
  double span_ = 0;
  double unallocated_ = 0;
  double fragmented_ = 0;
};

}  // namespace

Result<ChurnRun> run_openb_churn(const OpenbInput& input, const std::string& policy,
                                 std::uint64_t seed, double load_percent,
                                 const Progress& progress) {
  std::vector<OpenbNode> nodes = input.nodes;
  Rng rng(seed);
  rng.shuffle(nodes);
  FAIRLEAD_ASSIGN(PlacingCore core,
                  PlacingCore::create(nodes, input.pods, input.pods, policy, seed));
  const auto total = static_cast<double>(total_gpu_milli(nodes));
  double listed = 0;
  for (const OpenbPod& pod : input.pods) listed += static_cast<double>(pod.milli());
  const double mean_milli = listed / static_cast<double>(input.pods.size());
  const double gap = kLifetimeMs * mean_milli / (total * load_percent / 100);

  ChurnRun run;
  run.seed = seed;
  TimeMeter meter;
  std::priority_queue<Departure> departures;
  std::int64_t used = 0;
  double arrived_milli = 0;
  double lost_milli = 0;
  double now = 0;
  const auto pass = [&](double to) {
    const double unallocated = 100 - 100 * static_cast<double>(used) / total;
    const double fragmented = 100 * core.fragmented_milli() / total;
    meter.add(now, to, unallocated, fragmented);
    run.state.add(now / kLifetimeMs, to / kLifetimeMs, {unallocated, fragmented});
    now = to;
  };
  const auto instant = [&] { return Instant{static_cast<std::int64_t>(now)}; };
  double next_arrival = rng.exponential(gap);
  while (next_arrival < kEnd * kLifetimeMs) {
    while (!departures.empty() && departures.top().at <= next_arrival) {
      pass(departures.top().at);
      FAIRLEAD_TRY(core.remove(instant(), departures.top().pod, departures.top().place));
      used -= departures.top().pod.milli();
      departures.pop();
    }
    pass(next_arrival);
    OpenbPod pod = input.pods[rng.below(input.pods.size())];
    pod.name = fmt::format("{}#{}", pod.name, run.decisions);
    const double lifetime = rng.exponential(kLifetimeMs);
    const auto number = static_cast<std::size_t>(run.decisions++);
    const bool measured = now >= kWarmUp * kLifetimeMs;
    FAIRLEAD_ASSIGN(auto place, core.place(instant(), pod));
    if (measured) {
      ++run.pods;
      arrived_milli += static_cast<double>(pod.milli());
      if (!place) {
        ++run.lost_pods;
        lost_milli += static_cast<double>(pod.milli());
      }
    }
    if (place) {
      used += pod.milli();
      departures.push(Departure{now + lifetime, number, std::move(pod), std::move(*place)});
    }
    next_arrival = now + rng.exponential(gap);
    if (progress && run.decisions % 256 == 0) progress(now / (kEnd * kLifetimeMs));
  }
  pass(kEnd * kLifetimeMs);
  run.lost_percent = arrived_milli > 0 ? 100 * lost_milli / arrived_milli : 0;
  run.unallocated_percent = meter.unallocated();
  run.fragmentation_percent = meter.fragmented();
  run.core_seconds = core.core_seconds();
  return run;
}

ChurnRun mean_of(const std::vector<ChurnRun>& runs) {
  ChurnRun mean;
  const auto n = static_cast<double>(runs.size());
  for (const ChurnRun& run : runs) {
    mean.pods += run.pods;
    mean.lost_pods += run.lost_pods;
    mean.decisions += run.decisions;
    mean.core_seconds += run.core_seconds;
    mean.lost_percent += run.lost_percent / n;
    mean.unallocated_percent += run.unallocated_percent / n;
    mean.fragmentation_percent += run.fragmentation_percent / n;
  }
  return mean;
}

}  // namespace fairlead::sim
