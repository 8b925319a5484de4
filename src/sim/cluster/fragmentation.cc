#include "sim/cluster/fragmentation.h"

#include "base/check.h"

namespace fairlead::sim {

FragmentationMeter::FragmentationMeter(std::vector<MixClass> mix) : mix_(std::move(mix)) {
  double sum = 0;
  for (const MixClass& m : mix_) sum += m.weight;
  for (MixClass& m : mix_) m.weight = sum > 0 ? m.weight / sum : 0;
}

std::size_t FragmentationMeter::add_node(std::int64_t cpu_milli, std::size_t devices,
                                         std::size_t device_class) {
  nodes_.push_back(
      Node{cpu_milli, device_class, std::vector<std::int64_t>(devices, 1000), 0, true});
  stale_.push_back(nodes_.size() - 1);
  return nodes_.size() - 1;
}

void FragmentationMeter::take(std::size_t node, std::int64_t cpu_milli,
                              std::span<const DeviceShare> devices) {
  change(node, -1, cpu_milli, devices);
}

void FragmentationMeter::give(std::size_t node, std::int64_t cpu_milli,
                              std::span<const DeviceShare> devices) {
  change(node, 1, cpu_milli, devices);
}

void FragmentationMeter::change(std::size_t node, std::int64_t sign, std::int64_t cpu_milli,
                                std::span<const DeviceShare> devices) {
  Node& n = nodes_[node];
  n.cpu += sign * cpu_milli;
  for (const DeviceShare& share : devices) {
    std::int64_t& free = n.free[share.device];
    free += sign * share.milli;
    FAIRLEAD_CHECK(free >= 0 && free <= 1000, "I1: a device gives what it has and no more");
  }
  if (!n.stale) {
    n.stale = true;
    stale_.push_back(node);
  }
}

double FragmentationMeter::measure(const Node& node) const {
  std::int64_t idle = 0;
  for (const std::int64_t g : node.free) idle += g;
  if (idle == 0) return 0;
  double sum = 0;
  for (const MixClass& m : mix_) {
    const bool allowed =
        m.classes.empty() || (node.device_class < m.classes.size() && m.classes[node.device_class]);
    if (m.gpu_milli == 0 || !allowed || node.cpu < m.cpu_milli) {
      sum += m.weight * static_cast<double>(idle);
      continue;
    }
    std::int32_t enough = 0;
    std::int64_t small = 0;
    for (const std::int64_t g : node.free) {
      if (g >= m.gpu_milli) {
        ++enough;
      } else {
        small += g;
      }
    }
    sum += m.weight * static_cast<double>(enough < m.gpus ? idle : small);
  }
  return sum;
}

double FragmentationMeter::total() {
  for (const std::size_t at : stale_) {
    nodes_[at].measure = measure(nodes_[at]);
    nodes_[at].stale = false;
  }
  stale_.clear();
  // Summed anew: running sums of floats would depend on the order of changes.
  double sum = 0;
  for (const Node& node : nodes_) sum += node.measure;
  return sum;
}

}  // namespace fairlead::sim
