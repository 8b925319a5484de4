#include "sim/replay/faults.h"

#include <algorithm>
#include <cmath>

#include "base/rng.h"

namespace fairlead::sim {
namespace {

constexpr double kHourMs = 3'600'000;

// Times of a Poisson process in [0, horizon).
template <class Sink>
void poisson(Rng& rng, double per_hour, Duration horizon, Sink&& sink) {
  if (per_hour <= 0) return;
  double at = rng.exponential(kHourMs / per_hour);
  while (at < static_cast<double>(horizon.ms)) {
    sink(Instant{static_cast<std::int64_t>(at)});
    at += rng.exponential(kHourMs / per_hour);
  }
}

Fault make_fault(const FaultRates& rates, Rng& rng, FaultKind kind, Instant at,
                 std::vector<std::size_t> nodes, std::size_t device) {
  Fault out{kind, at, at, at, std::move(nodes), device};
  if (rng.unit() < rates.silent_share) {
    const double mean = static_cast<double>(rates.notice_after.ms);
    out.noticed = at + Duration{1 + static_cast<std::int64_t>(rng.exponential(mean))};
  }
  const double repair =
      static_cast<double>(rates.repair_median.ms) * std::exp(rates.repair_sigma * rng.normal());
  const double bounded = std::clamp(repair, 60'000.0, 60 * 24 * kHourMs);
  out.repaired = out.noticed + Duration{static_cast<std::int64_t>(bounded)};
  return out;
}

}  // namespace

double expected_faults(const ClusterSpec& cluster, Duration horizon, const FaultRates& rates) {
  std::size_t devices = 0;
  for (const NodeSpec& node : cluster.nodes) devices += node.devices.size();
  const double lemons = 1 + rates.lemon_share * (rates.lemon_factor - 1);
  const double per_hour =
      lemons * rates.node_per_node_hour * static_cast<double>(cluster.nodes.size()) +
      (lemons * rates.device_per_gpu_hour + rates.switch_per_gpu_hour) *
          static_cast<double>(devices);
  return per_hour * rates.scale * static_cast<double>(horizon.ms) / kHourMs;
}

std::vector<Fault> plan_faults(const ClusterSpec& cluster, Duration horizon,
                               const FaultRates& rates, std::uint64_t seed) {
  std::vector<Fault> faults;
  const Rng root(seed);
  std::int64_t gpus = 0;
  for (std::size_t n = 0; n < cluster.nodes.size(); ++n) {
    // A stream per node: adding a node leaves the others' faults where they were.
    Rng rng = root.fork(n + 1);
    const double factor = rates.scale * (rng.unit() < rates.lemon_share ? rates.lemon_factor : 1.0);
    const std::size_t devices = cluster.nodes[n].devices.size();
    gpus += static_cast<std::int64_t>(devices);
    poisson(rng, rates.node_per_node_hour * factor, horizon, [&](Instant at) {
      faults.push_back(make_fault(rates, rng, FaultKind::kNode, at, {n}, 0));
    });
    for (std::size_t d = 0; d < devices; ++d) {
      poisson(rng, rates.device_per_gpu_hour * factor, horizon, [&](Instant at) {
        faults.push_back(make_fault(rates, rng, FaultKind::kDevice, at, {n}, d));
      });
    }
  }
  Rng rng = root.fork(0);
  const auto fleet = static_cast<std::int64_t>(cluster.nodes.size());
  poisson(rng, rates.switch_per_gpu_hour * rates.scale * static_cast<double>(gpus), horizon,
          [&](Instant at) {
            const std::int64_t width = std::min(fleet, rng.between(2, 16));
            const std::int64_t first = rng.between(0, fleet - width);
            std::vector<std::size_t> nodes;
            for (std::int64_t i = 0; i < width; ++i) {
              nodes.push_back(static_cast<std::size_t>(first + i));
            }
            faults.push_back(make_fault(rates, rng, FaultKind::kSwitch, at, std::move(nodes), 0));
          });
  std::stable_sort(faults.begin(), faults.end(),
                   [](const Fault& a, const Fault& b) { return a.at < b.at; });
  return faults;
}

}  // namespace fairlead::sim
