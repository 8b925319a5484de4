#include "sim/replay/ledger.h"

#include <algorithm>
#include <tuple>

#include "base/wide.h"

namespace fairlead::sim {
namespace {

constexpr double kCovered = 0.95;

std::int64_t class_memory(const ClusterSpec& cluster, const std::vector<std::string>& allowed) {
  for (const DeviceClass& c : cluster.device_classes) {
    const bool in = allowed.empty() || std::count(allowed.begin(), allowed.end(), c.name) > 0;
    if (in && c.memory.value > 0) return c.memory.value;
  }
  return 0;
}

std::int64_t milli_of(const GpuRequest& gpu, std::int64_t device_memory) {
  switch (gpu.kind) {
    case GpuRequestKind::kNone:
      return 0;
    case GpuRequestKind::kDevices:
      return kMilli;
    case GpuRequestKind::kPortion:
      return gpu.portion.value;
    case GpuRequestKind::kMemory:
      return device_memory > 0 ? mul_div_ceil(gpu.memory.value, kMilli, device_memory) : kMilli;
    case GpuRequestKind::kMig:
      return kMilli;
  }
  return 0;
}

std::size_t class_number(const ClusterSpec& cluster, const std::string& name) {
  for (std::size_t i = 0; i < cluster.device_classes.size(); ++i) {
    if (cluster.device_classes[i].name == name) return i;
  }
  return cluster.device_classes.size();
}

}  // namespace

std::vector<MixClass> mix_of_jobs(const ClusterSpec& cluster, const std::vector<TraceJob>& jobs) {
  using Key = std::tuple<std::int64_t, std::int64_t, std::int32_t, std::vector<std::string>>;
  std::map<Key, std::int64_t> counts;
  double total = 0;
  for (const TraceJob& job : jobs) {
    const std::int64_t milli = milli_of(job.request.gpu, class_memory(cluster, job.device_classes));
    counts[Key(job.request.cpu.value, milli, job.request.gpu.count, job.device_classes)] +=
        job.tasks;
    total += job.tasks;
  }
  std::vector<std::pair<std::int64_t, Key>> sorted;
  for (const auto& [key, count] : counts) sorted.emplace_back(count, key);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<MixClass> mix;
  double covered = 0;
  for (const auto& [count, key] : sorted) {
    MixClass m;
    m.cpu_milli = std::get<0>(key);
    m.gpu_milli = std::get<1>(key);
    m.gpus = std::get<2>(key);
    m.weight = static_cast<double>(count);
    if (!std::get<3>(key).empty()) {
      m.classes.resize(cluster.device_classes.size() + 1);
      for (const std::string& name : std::get<3>(key)) {
        m.classes[class_number(cluster, name)] = true;
      }
    }
    mix.push_back(std::move(m));
    covered += static_cast<double>(count);
    if (covered >= kCovered * total) break;
  }
  return mix;
}

Ledger::Ledger(const ClusterSpec& cluster, const std::vector<TraceJob>& jobs)
    : meter_(mix_of_jobs(cluster, jobs)) {
  for (const NodeSpec& node : cluster.nodes) {
    const std::string& device_class =
        node.devices.empty() ? node.name : node.devices.front().device_class;
    meter_.add_node(node.cpu.value, node.devices.size(), class_number(cluster, device_class));
    node_faults_.push_back(node.ready ? 0 : 1);
    device_faults_.emplace_back();
    for (const DeviceSpec& device : node.devices) {
      device_faults_.back().push_back(device.health == DeviceHealth::kHealthy ? 0 : 1);
    }
    if (node.ready) state_.capacity += healthy_devices(node_faults_.size() - 1) * kMilli;
  }
  for (const TraceJob& job : jobs) project_numbers_.emplace(job.project, 0);
  for (auto& [name, number] : project_numbers_) {
    number = static_cast<std::uint32_t>(projects_.size());
    ProjectRecord record;
    record.name = name;
    for (const QueueSpec& queue : cluster.queues) {
      if (queue.name != name) continue;
      for (const auto& [pool, entitlements] : queue.pools) {
        const auto gpu = entitlements.find("gpu");
        if (gpu == entitlements.end() || record.quota == kUnlimited) continue;
        record.quota =
            gpu->second.quota == kUnlimited ? kUnlimited : record.quota + gpu->second.quota;
      }
    }
    projects_.push_back(std::move(record));
  }
  accounts_.resize(projects_.size());
}

void Ledger::take(std::uint32_t project, std::int64_t milli, const std::vector<Hold>& holds) {
  for (const Hold& hold : holds) {
    meter_.take(hold.node, hold.cpu_milli, hold.devices);
    for (const DeviceShare& share : hold.devices) state_.allocated += share.milli;
  }
  accounts_[project].held += milli;
  ++state_.running_jobs;
}

void Ledger::give(std::uint32_t project, std::int64_t milli, const std::vector<Hold>& holds) {
  for (const Hold& hold : holds) {
    meter_.give(hold.node, hold.cpu_milli, hold.devices);
    for (const DeviceShare& share : hold.devices) state_.allocated -= share.milli;
  }
  accounts_[project].held -= milli;
  --state_.running_jobs;
}

void Ledger::wait_begins(std::uint32_t project, std::int64_t milli) {
  accounts_[project].waiting += milli;
  state_.waiting += milli;
  ++state_.waiting_jobs;
}

void Ledger::wait_ends(std::uint32_t project, std::int64_t milli) {
  accounts_[project].waiting -= milli;
  state_.waiting -= milli;
  --state_.waiting_jobs;
}

std::int64_t Ledger::healthy_devices(std::size_t node) const {
  return std::count(device_faults_[node].begin(), device_faults_[node].end(), 0);
}

bool Ledger::node_down(std::size_t node) {
  if (node_faults_[node]++ > 0) return false;
  state_.capacity -= healthy_devices(node) * kMilli;
  return true;
}

bool Ledger::node_up(std::size_t node) {
  if (--node_faults_[node] > 0) return false;
  state_.capacity += healthy_devices(node) * kMilli;
  return true;
}

bool Ledger::device_down(std::size_t node, std::size_t device) {
  if (device_faults_[node][device]++ > 0) return false;
  if (node_faults_[node] == 0) state_.capacity -= kMilli;
  return true;
}

bool Ledger::device_up(std::size_t node, std::size_t device) {
  if (--device_faults_[node][device] > 0) return false;
  if (node_faults_[node] == 0) state_.capacity += kMilli;
  return true;
}

void Ledger::advance(Instant now) {
  const auto passed = static_cast<double>((now - counted_).ms);
  counted_ = now;
  if (passed <= 0) return;
  const auto gpu_ms = [&](std::int64_t milli) {
    return passed * static_cast<double>(milli) / kMilli;
  };
  std::int64_t missing = 0;
  std::int64_t above = 0;
  for (const Account& account : accounts_) {
    missing += std::max<std::int64_t>(0, account.due() - account.held);
    above += std::max<std::int64_t>(0, account.held - account.due());
  }
  for (std::size_t i = 0; i < accounts_.size(); ++i) {
    const Account& account = accounts_[i];
    ProjectRecord& project = projects_[i];
    project.received_gpu_ms += gpu_ms(account.held);
    project.waiting_gpu_ms += gpu_ms(account.waiting);
    project.entitled_gpu_ms += gpu_ms(account.due());
    const std::int64_t mine = std::max<std::int64_t>(0, account.due() - account.held);
    if (mine == 0) continue;
    project.missing_gpu_ms += gpu_ms(mine);
    // Its part of what the others hold above theirs.
    project.lent_gpu_ms +=
        gpu_ms(mine) * static_cast<double>(std::min(above, missing)) / static_cast<double>(missing);
  }
}

void Ledger::sample(Instant now) {
  state_.at = now;
  state_.fragmented = meter_.total();
  samples_.push_back(state_);
}

void Ledger::entitle(std::uint32_t project, std::int64_t milli) {
  accounts_[project].entitled = milli;
}

}  // namespace fairlead::sim
