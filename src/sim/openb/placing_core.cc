#include "sim/openb/placing_core.h"

#include <variant>

namespace fairlead::sim {
namespace {

const std::string kQueue = "openb";

const sched::Started* started(const std::vector<sched::Decision>& decisions) {
  for (const sched::Decision& decision : decisions) {
    if (const auto* start = std::get_if<sched::Started>(&decision)) return start;
  }
  return nullptr;
}

}  // namespace

Result<PlacingCore> PlacingCore::create(const std::vector<OpenbNode>& nodes,
                                        const std::vector<OpenbPod>& list,
                                        const std::vector<OpenbPod>& arriving,
                                        const std::string& policy, std::uint64_t seed) {
  const OpenbMix mix = mix_of(list);
  std::vector<std::string> models;
  FragmentationMeter meter(meter_classes(mix, models));
  sched::SchedulerOptions options;
  options.reclaim = options.preempt = options.consolidate = false;  // as published
  options.placement = policy;
  options.seed = seed;
  FAIRLEAD_ASSIGN(sched::Scheduler core, sched::Scheduler::create(options));
  for (const sched::Event& event :
       openb_cluster_events(nodes, arriving, mix_of(list, 1.0), kQueue)) {
    FAIRLEAD_TRY(core.apply(Instant{}, event));
  }
  core.decide(Instant{});
  // The core numbers nodes in the order in which they came, as the meter does.
  for (const OpenbNode& node : nodes) {
    meter.add_node(node.cpu_milli, static_cast<std::size_t>(node.gpus),
                   node.gpus > 0 ? model_number(models, node.model) : 0);
  }
  return PlacingCore(std::move(core), std::move(meter));
}

Result<std::optional<PlacingCore::Place>> PlacingCore::place(Instant now, const OpenbPod& pod) {
  const sched::Event submit = sched::WorkloadSubmitted{workload_of(pod, kQueue)};
  const sched::Event forget = sched::WorkloadRemoved{pod.name};
  std::vector<sched::Decision> decisions;
  const auto told = clock_.time([&]() -> Result<void> {
    FAIRLEAD_TRY(core_.apply(now, submit));
    decisions = core_.decide(now);
    if (started(decisions) == nullptr) FAIRLEAD_TRY(core_.apply(now, forget));
    return {};
  });
  // A pod that no node could ever hold is refused at submit: lost like any other.
  if (!told && told.error().code != ErrorCode::kImpossible) return fail(told.error());
  const sched::Started* start = started(decisions);
  if (start == nullptr) return std::optional<Place>{};
  const sched::TaskPlacement& task = start->tasks.front();
  Place place{task.node.index(), {}};
  for (const sched::DeviceClaim& claim : task.devices) {
    place.devices.push_back(DeviceShare{claim.device, claim.milli.value});
  }
  meter_.take(place.node, pod.cpu_milli, place.devices);
  return std::optional<Place>(std::move(place));
}

Result<void> PlacingCore::remove(Instant now, const OpenbPod& pod, const Place& place) {
  const sched::Event gone = sched::WorkloadRemoved{pod.name};
  FAIRLEAD_TRY(clock_.time([&] { return core_.apply(now, gone); }));
  meter_.give(place.node, pod.cpu_milli, place.devices);
  return {};
}

}  // namespace fairlead::sim
