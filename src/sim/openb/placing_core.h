// The scheduling core of an openb run: takes one pod at a time, says where it went or that it is
// lost, and keeps the measure of fragmentation beside it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sched/scheduler.h"
#include "sim/cluster/core_clock.h"
#include "sim/openb/workload.h"

namespace fairlead::sim {

class PlacingCore {
 public:
  struct Place {
    std::size_t node = 0;
    std::vector<DeviceShare> devices;
  };

  // `list` is what the mix is taken from, `arriving` all pods that will come.
  static Result<PlacingCore> create(const std::vector<OpenbNode>& nodes,
                                    const std::vector<OpenbPod>& list,
                                    const std::vector<OpenbPod>& arriving,
                                    const std::string& policy, std::uint64_t seed);

  // nullopt: it does not fit now (or ever) and is forgotten. Error: what the core refuses for
  // another reason. Requires: pod names are unique among those placed.
  Result<std::optional<Place>> place(Instant now, const OpenbPod& pod);

  Result<void> remove(Instant now, const OpenbPod& pod, const Place& place);

  double fragmented_milli() { return meter_.total(); }
  double core_seconds() const { return clock_.seconds(); }

 private:
  PlacingCore(sched::Scheduler core, FragmentationMeter meter)
      : core_(std::move(core)), meter_(std::move(meter)) {}

  sched::Scheduler core_;
  FragmentationMeter meter_;
  CoreClock clock_;
};

}  // namespace fairlead::sim
