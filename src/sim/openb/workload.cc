#include "sim/openb/workload.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include <fmt/core.h>

#include "base/rng.h"

namespace fairlead::sim {
namespace {

// Any multiple of 1000: a request of so many milli of compute takes exactly as many of memory.
constexpr std::int64_t kDeviceMiB = 16'000;

}  // namespace

std::int64_t total_gpu_milli(const std::vector<OpenbNode>& nodes) {
  return std::accumulate(
      nodes.begin(), nodes.end(), std::int64_t{0},
      [](std::int64_t sum, const OpenbNode& n) { return sum + kMilli * n.gpus; });
}

OpenbFill make_fill(const OpenbInput& input, std::uint64_t seed) {
  OpenbFill fill;
  fill.pods = input.pods;
  std::stable_sort(fill.pods.begin(), fill.pods.end(),
                   [](const OpenbPod& a, const OpenbPod& b) { return a.name < b.name; });
  Rng rng(seed);
  rng.shuffle(fill.pods);
  const std::int64_t volume = total_gpu_milli(input.nodes) * 13 / 10;
  std::int64_t total = 0;
  for (const OpenbPod& pod : fill.pods) total += pod.milli();
  const std::size_t listed = fill.pods.size();
  const bool any_gpu = std::any_of(fill.pods.begin(), fill.pods.end(),
                                   [](const OpenbPod& p) { return p.milli() > 0; });
  if (total < volume) {
    while (any_gpu) {
      const OpenbPod drawn = fill.pods[rng.below(listed)];
      if (total + drawn.gpu_milli > volume) break;
      total += drawn.milli();
      fill.pods.push_back(drawn);
    }
  } else {
    while (total > volume) {
      const std::size_t at = rng.below(fill.pods.size());
      total -= fill.pods[at].milli();
      fill.pods.erase(fill.pods.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < fill.pods.size(); ++i) {
    if (!seen.insert(fill.pods[i].name).second) {
      fill.pods[i].name = fmt::format("{}#{}", fill.pods[i].name, i);
    }
  }
  fill.nodes = input.nodes;
  rng.shuffle(fill.nodes);
  return fill;
}

OpenbMix mix_of(const std::vector<OpenbPod>& pods, double covered) {
  using Key = std::tuple<std::int64_t, std::int64_t, std::int32_t, std::vector<std::string>>;
  std::map<Key, OpenbMix::Entry> classes;
  for (const OpenbPod& pod : pods) {
    std::vector<std::string> models = pod.models;
    std::sort(models.begin(), models.end());
    OpenbMix::Entry& entry = classes[Key(pod.cpu_milli, pod.gpu_milli, pod.gpus, models)];
    if (entry.count++ == 0) {
      entry.pod = pod;
      entry.pod.memory_mib = 0;
    }
  }
  std::vector<OpenbMix::Entry> sorted;
  for (auto& [key, entry] : classes) sorted.push_back(std::move(entry));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.count > b.count; });
  OpenbMix mix;
  std::int64_t counted = 0;
  for (OpenbMix::Entry& entry : sorted) {
    counted += entry.count;
    mix.entries.push_back(std::move(entry));
    if (static_cast<double>(counted) >= covered * static_cast<double>(pods.size())) break;
  }
  return mix;
}

std::size_t model_number(std::vector<std::string>& models, const std::string& model) {
  const auto it = std::find(models.begin(), models.end(), model);
  if (it != models.end()) return static_cast<std::size_t>(it - models.begin());
  models.push_back(model);
  return models.size() - 1;
}

std::vector<MixClass> meter_classes(const OpenbMix& mix, std::vector<std::string>& models) {
  std::vector<MixClass> classes;
  for (const OpenbMix::Entry& entry : mix.entries) {
    MixClass m;
    m.cpu_milli = entry.pod.cpu_milli;
    m.gpu_milli = entry.pod.gpu_milli;
    m.gpus = entry.pod.gpus;
    m.weight = static_cast<double>(entry.count);
    for (const std::string& model : entry.pod.models) {
      const std::size_t number = model_number(models, model);
      if (m.classes.size() <= number) m.classes.resize(number + 1);
      m.classes[number] = true;
    }
    classes.push_back(std::move(m));
  }
  return classes;
}

sched::MixStated stated(const OpenbMix& mix) {
  sched::MixStated event;
  for (const OpenbMix::Entry& entry : mix.entries) {
    sched::MixStated::Entry out;
    out.request = request_of(entry.pod);
    out.constraints.device_classes = entry.pod.models;
    out.count = entry.count;
    event.entries.push_back(std::move(out));
  }
  return event;
}

TaskRequest request_of(const OpenbPod& pod) {
  TaskRequest request;
  request.cpu = MilliCpu(pod.cpu_milli);
  request.memory = Bytes(pod.memory_mib << 20);
  if (pod.gpus > 0) {
    request.gpu.count = pod.gpus;
    request.gpu.kind = pod.gpu_milli < kMilli ? GpuRequestKind::kPortion : GpuRequestKind::kDevices;
    if (pod.gpu_milli < kMilli) request.gpu.portion = MilliGpu(pod.gpu_milli);
  }
  return request;
}

WorkloadSpec workload_of(const OpenbPod& pod, const std::string& queue) {
  WorkloadSpec spec;
  spec.name = pod.name;
  spec.queue = queue;
  RoleSpec role;
  role.request = request_of(pod);
  role.constraints.device_classes = pod.models;
  spec.roles.push_back(std::move(role));
  return spec;
}

NodeSpec node_of(const OpenbNode& node) {
  NodeSpec spec;
  spec.name = node.name;
  spec.cpu = MilliCpu(node.cpu_milli);
  spec.memory = Bytes(node.memory_mib << 20);
  for (std::int32_t i = 0; i < node.gpus; ++i) {
    DeviceSpec device;
    device.id = fmt::format("gpu-{}", i);
    device.device_class = node.model;
    spec.devices.push_back(std::move(device));
  }
  return spec;
}

std::vector<sched::Event> openb_cluster_events(const std::vector<OpenbNode>& nodes,
                                               const std::vector<OpenbPod>& pods,
                                               const OpenbMix& mix, const std::string& queue) {
  std::vector<sched::Event> events;
  std::set<std::string> models;
  for (const OpenbNode& node : nodes) {
    if (node.gpus > 0) models.insert(node.model);
  }
  for (const OpenbPod& pod : pods) models.insert(pod.models.begin(), pod.models.end());
  for (const std::string& model : models) {
    DeviceClass device_class;
    device_class.name = model;
    device_class.memory = MiB(kDeviceMiB);
    events.emplace_back(sched::DeviceClassDefined{std::move(device_class)});
  }
  for (const OpenbNode& node : nodes) events.emplace_back(sched::NodeUpserted{node_of(node)});
  QueueSpec spec;
  spec.name = queue;
  spec.pools["default"]["gpu"].quota = kUnlimited;
  events.emplace_back(sched::QueueUpserted{std::move(spec)});
  events.emplace_back(stated(mix));
  return events;
}

}  // namespace fairlead::sim
