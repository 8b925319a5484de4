#include "sim/replay/core_driver.h"

#include <algorithm>
#include <variant>

#include "base/check.h"

namespace fairlead::sim {
namespace {

// Adds what one task holds to the holds of its job, which stay sorted by node.
void add_hold(std::vector<Hold>& holds, std::size_t node, const sched::TaskPlacement& task) {
  auto at = std::lower_bound(holds.begin(), holds.end(), node,
                             [](const Hold& hold, std::size_t n) { return hold.node < n; });
  if (at == holds.end() || at->node != node) at = holds.insert(at, Hold{node, 0, {}});
  for (const sched::CpuClaim& claim : task.cpus) at->cpu_milli += claim.cpu.value;
  for (const sched::DeviceClaim& claim : task.devices) {
    const auto same = std::find_if(at->devices.begin(), at->devices.end(),
                                   [&](const DeviceShare& s) { return s.device == claim.device; });
    if (same != at->devices.end()) {
      same->milli += claim.milli.value;
    } else {
      at->devices.push_back(DeviceShare{claim.device, claim.milli.value});
    }
  }
}

}  // namespace

Result<CoreDriver> CoreDriver::create(const ClusterSpec& cluster,
                                      const sched::SchedulerOptions& options,
                                      const JobNumbers& numbers, Recorder* recorder) {
  FAIRLEAD_ASSIGN(sched::Scheduler core, create_recorded(options, recorder));
  CoreDriver driver(std::move(core), numbers, recorder);
  ClusterSpec empty = cluster;
  empty.workloads.clear();
  for (const auto& [at, event] : sched::events_of(empty)) {
    FAIRLEAD_TRY(apply_recorded(driver.core_, recorder, Instant{}, event));
  }
  std::unordered_map<std::string, std::size_t> positions;
  for (std::size_t i = 0; i < cluster.nodes.size(); ++i) positions[cluster.nodes[i].name] = i;
  for (std::size_t id = 0; id < cluster.nodes.size(); ++id) {
    driver.node_position_.push_back(positions.at(driver.core_.node_name(sched::NodeId(id))));
  }
  return driver;
}

Result<void> CoreDriver::tell(Instant now, const sched::Event& event) {
  if (recorder_ != nullptr) recorder_->tells(now, event);
  Result<void> told = clock_.time([&] { return core_.apply(now, event); });
  if (recorder_ != nullptr && !told) recorder_->refused(now, told.error());
  return told;
}

std::vector<CoreDriver::Start> CoreDriver::decide(Instant now) {
  const std::vector<sched::Decision> decisions = clock_.time([&] { return core_.decide(now); });
  if (recorder_ != nullptr) recorder_->decided(now, decisions, core_);
  std::vector<Start> starts;
  for (const sched::Decision& decision : decisions) {
    const auto* started = std::get_if<sched::Started>(&decision);
    if (started == nullptr) continue;
    const auto job = numbers_->find(core_.workload_name(started->workload));
    FAIRLEAD_CHECK(job != numbers_->end(), "the core starts only what it was given");
    Start start{job->second, {}};
    for (const sched::TaskPlacement& task : started->tasks) {
      add_hold(start.holds, node_position_[task.node.index()], task);
    }
    starts.push_back(std::move(start));
  }
  return starts;
}

}  // namespace fairlead::sim
