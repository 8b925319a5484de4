// Faults during a replay: work stops when a fault strikes; the core hears of it when it is noticed.
#include <algorithm>

#include "sim/replay/engine.h"

namespace fairlead::sim {

bool ReplayEngine::hit(const RunningJob& job, const Fault& fault) const {
  for (const Hold& hold : job.holds) {
    if (std::count(fault.nodes.begin(), fault.nodes.end(), hold.node) == 0) continue;
    if (fault.kind != FaultKind::kDevice) return true;
    for (const DeviceShare& share : hold.devices) {
      if (share.device == fault.device) return true;
    }
  }
  return false;
}

bool ReplayEngine::on_broken(const RunningJob& job) const {
  return std::any_of(silent_.begin(), silent_.end(),
                     [&](const Fault* fault) { return hit(job, *fault); });
}

void ReplayEngine::strike(const Fault& fault) {
  ++totals_.faults;
  silent_.push_back(&fault);
  for (const std::uint32_t n : active_) {
    RunningJob& job = jobs_[n];
    if (job.phase != JobPhase::kRunning || !hit(job, fault)) continue;
    advance(n);
    job.stalled = true;
    ++job.version;
  }
  const auto number = static_cast<std::uint32_t>(&fault - options_.faults.data());
  timeline_.add(Timed{fault.noticed, TimedKind::kNotice, number, 0});
}

Result<void> ReplayEngine::notice(const Fault& fault) {
  std::erase(silent_, &fault);
  // All that the shadow runs waits again there: the next choice is made on healthy nodes.
  for (const std::uint32_t n : shadow_running_) {
    FAIRLEAD_TRY(shadow_->tell(now_, sched::WorkloadRequeued{trace_[n].name}));
  }
  shadow_running_.clear();
  for (const std::uint32_t n : std::vector<std::uint32_t>(active_)) {
    RunningJob& job = jobs_[n];
    if (job.phase != JobPhase::kRunning || !hit(job, fault)) continue;
    FAIRLEAD_TRY(requeue(n, true));
    lose(n, undo(job));
  }
  for (const std::size_t node : fault.nodes) {
    if (fault.kind == FaultKind::kDevice) {
      if (ledger_.device_down(node, fault.device)) {
        FAIRLEAD_TRY(change_health(node, fault.device, DeviceHealth::kUnhealthy));
      }
    } else if (ledger_.node_down(node)) {
      FAIRLEAD_TRY(change_health(node, false));
    }
  }
  const auto number = static_cast<std::uint32_t>(&fault - options_.faults.data());
  timeline_.add(Timed{fault.repaired, TimedKind::kRepair, number, 0});
  return {};
}

Result<void> ReplayEngine::repair(const Fault& fault) {
  for (const std::size_t node : fault.nodes) {
    if (fault.kind == FaultKind::kDevice) {
      if (ledger_.device_up(node, fault.device)) {
        FAIRLEAD_TRY(change_health(node, fault.device, DeviceHealth::kHealthy));
      }
    } else if (ledger_.node_up(node)) {
      FAIRLEAD_TRY(change_health(node, true));
    }
  }
  return {};
}

Result<void> ReplayEngine::change_health(std::size_t node, bool ready) {
  const NodeSpec& spec = cluster_.nodes[node];
  return tell(sched::NodeConditionChanged{spec.name, ready, spec.schedulable});
}

Result<void> ReplayEngine::change_health(std::size_t node, std::size_t device,
                                         DeviceHealth health) {
  const NodeSpec& spec = cluster_.nodes[node];
  return tell(sched::DeviceHealthChanged{spec.name, spec.devices[device].id, health});
}

}  // namespace fairlead::sim
