// Faults of a cluster as a plan made before the replay: what breaks when, and when it is back.
//
// Rates are those of docs/yardsticks.md (published fleet reports): device 1.2e-5 per GPU-hour, node
// 4e-5 per node-hour, a switch that takes 2 to 16 nodes with it 1e-6 per GPU-hour; 3 % of the nodes
// are lemons that fail 20 times as often; 20 % of the faults are silent at first: jobs stand still
// until someone notices. Repair times are lognormal with a median of 4 hours.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "model/cluster.h"

namespace fairlead::sim {

enum class FaultKind : std::uint8_t { kDevice, kNode, kSwitch };

struct Fault {
  FaultKind kind = FaultKind::kNode;
  Instant at;       // progress made after this is lost
  Instant noticed;  // the core is told
  Instant repaired;
  std::vector<std::size_t> nodes;  // positions in the cluster's node list
  std::size_t device = 0;          // kDevice: position in the node's device list
};

struct FaultRates {
  double device_per_gpu_hour = 1.2e-5;
  double node_per_node_hour = 4e-5;
  double switch_per_gpu_hour = 1e-6;
  double lemon_share = 0.03;
  double lemon_factor = 20;
  double silent_share = 0.2;
  Duration notice_after = minutes(30);  // mean, for silent ones
  Duration repair_median = hours(4);
  double repair_sigma = 1.0;
  double scale = 1;  // all rates × this
};

// How many faults there will be on average.
double expected_faults(const ClusterSpec& cluster, Duration horizon, const FaultRates& rates);

// Faults in [0, horizon), by time. Same arguments, same plan.
std::vector<Fault> plan_faults(const ClusterSpec& cluster, Duration horizon,
                               const FaultRates& rates, std::uint64_t seed);

}  // namespace fairlead::sim
