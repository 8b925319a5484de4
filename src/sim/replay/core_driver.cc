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
  const std::string* freed = nullptr;  // the workload that holds nothing from now on
  if (const auto* removed = std::get_if<sched::WorkloadRemoved>(&event)) freed = &removed->workload;
  if (const auto* again = std::get_if<sched::WorkloadRequeued>(&event)) freed = &again->workload;
  if (const auto* refused = std::get_if<sched::StartRefused>(&event)) freed = &refused->workload;
  if (freed != nullptr) placed_.erase(numbers_->at(*freed));
  if (recorder_ != nullptr) recorder_->tells(now, event);
  Result<void> told = clock_.time([&] { return core_.apply(now, event); });
  if (recorder_ != nullptr && !told) recorder_->refused(now, told.error());
  return told;
}

CoreDriver::Outcome CoreDriver::decide(Instant now) {
  const std::vector<sched::Decision> decisions = clock_.time([&] { return core_.decide(now); });
  if (recorder_ != nullptr) recorder_->decided(now, decisions, core_);
  Outcome outcome;
  std::vector<std::uint32_t> started;  // in order, each once
  const auto note = [](std::vector<std::uint32_t>& jobs, std::uint32_t job) {
    if (std::find(jobs.begin(), jobs.end(), job) == jobs.end()) jobs.push_back(job);
  };
  const auto number_of = [&](sched::WorkloadId workload) {
    const auto job = numbers_->find(core_.workload_name(workload));
    FAIRLEAD_CHECK(job != numbers_->end(), "the core decides only about what it was given");
    return job->second;
  };
  for (const sched::Decision& decision : decisions) {
    if (const auto* stop = std::get_if<sched::Stopped>(&decision)) {
      const std::uint32_t job = number_of(stop->workload);
      note(outcome.stopped, job);
      std::erase_if(placed_[job], [&](const sched::TaskPlacement& task) {
        return std::count(stop->tasks.begin(), stop->tasks.end(),
                          std::pair(task.role, task.index)) > 0;
      });
    } else if (const auto* start = std::get_if<sched::Started>(&decision)) {
      const std::uint32_t job = number_of(start->workload);
      std::vector<sched::TaskPlacement>& tasks = placed_[job];
      if (tasks.empty()) {
        started.push_back(job);
      } else {
        note(started, job);
      }
      tasks.insert(tasks.end(), start->tasks.begin(), start->tasks.end());
    }
  }
  for (const std::uint32_t job : started) {
    const std::vector<sched::TaskPlacement>& tasks = placed_[job];
    if (tasks.empty()) continue;  // stopped before the decision was over
    Start start{job, {}};
    for (const sched::TaskPlacement& task : tasks) {
      add_hold(start.holds, node_position_[task.node.index()], task);
    }
    outcome.starts.push_back(std::move(start));
  }
  return outcome;
}

}  // namespace fairlead::sim
