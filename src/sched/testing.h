// Builders for the unit tests of this room: requests, nodes, and a pool without the core around it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "sched/place/placement_pool.h"
#include "sched/place/scorer.h"
#include "sched/state/node_state.h"
#include "sched/state/task_class.h"

namespace fairlead::sched::testing {

inline constexpr std::int64_t kGiB = std::int64_t{1} << 30;

// Requests of one task.
inline TaskRequest cpus(std::int64_t milli, std::int64_t bytes = 0) {
  TaskRequest r;
  r.cpu = MilliCpu(milli);
  r.memory = Bytes(bytes);
  return r;
}
inline TaskRequest gpus(std::int32_t n, std::int64_t cpu = 0) {
  TaskRequest r = cpus(cpu);
  r.gpu.kind = GpuRequestKind::kDevices;
  r.gpu.count = n;
  return r;
}
inline TaskRequest portion(std::int64_t milli, std::int32_t devices = 1, std::int64_t cpu = 0) {
  TaskRequest r = gpus(devices, cpu);
  r.gpu.kind = GpuRequestKind::kPortion;
  r.gpu.portion = MilliGpu(milli);
  return r;
}
inline TaskRequest device_memory(std::int64_t mib, std::int32_t devices = 1, std::int64_t cpu = 0) {
  TaskRequest r = gpus(devices, cpu);
  r.gpu.kind = GpuRequestKind::kMemory;
  r.gpu.memory = MiB(mib);
  return r;
}
inline TaskRequest mig(std::string profile, std::int32_t instances = 1, std::int64_t cpu = 0) {
  TaskRequest r = gpus(instances, cpu);
  r.gpu.kind = GpuRequestKind::kMig;
  r.gpu.mig_profile = std::move(profile);
  return r;
}
inline TaskRequest near_cores(TaskRequest r) {
  r.numa = NumaPolicy::kRequired;
  return r;
}

// The names that the parts of the core share.
struct Names {
  ResourceNames resources;
  DeviceClasses devices;
  TaskClasses classes{resources, devices};

  Names() {
    for (const char* name : {"gpu", "cpu", "memory"}) resources.intern(name);
  }
  ClassId define(const DeviceClass& device_class) {
    const ClassId id = devices.define(device_class);
    classes.refresh();
    return id;
  }
  ClassId define(const std::string& known) {
    const DeviceClass* device_class = known_device_class(known);
    FAIRLEAD_CHECK(device_class, "a well-known device class");
    return define(*device_class);
  }
  ClassId define(const std::string& name, std::int64_t mib) {
    return define(DeviceClass{name, MiB(mib), 0, 0, {}});
  }
  const TaskClass& task(const TaskRequest& request, const Constraints& constraints = {}) {
    return classes.get(classes.intern(request, constraints));
  }
};

// A node, ready and empty: NodeOf(names, "n1").cells({8'000, 8'000}).gpus(4, h100).at({"z", "r"}).
class NodeOf {
 public:
  NodeOf(Names& names, std::string name) : names_(&names) {
    node_.alive = true;
    node_.spec.name = std::move(name);
    cells({64'000}).memory(512 * kGiB);
  }
  NodeOf& cells(const std::vector<std::int64_t>& milli) {
    node_.empty.cells.clear();
    node_.empty.cpu = 0;
    for (const std::int64_t m : milli) {
      node_.empty.cells.push_back({m, m});
      node_.empty.cpu += m;
    }
    return *this;
  }
  NodeOf& memory(std::int64_t bytes) {
    node_.empty.memory = bytes;
    return *this;
  }
  NodeOf& extended(const std::string& name, std::int64_t amount) {
    const std::size_t position = names_->resources.intern(name).index() - kFirstExtended;
    if (node_.empty.extended.size() <= position) node_.empty.extended.resize(position + 1, 0);
    node_.empty.extended[position] = amount;
    return *this;
  }
  // One device; numbers of what it is near to, −1 unknown.
  NodeOf& gpu(ClassId device_class, std::int32_t numa = 0, std::int32_t pcie = -1,
              std::int32_t nvlink = -1) {
    const DeviceClass& c = names_->devices.get(device_class);
    DeviceState d;
    d.device_class = device_class;
    d.numa = numa;
    d.pcie_switch = pcie;
    d.nvlink_island = nvlink;
    d.total_mib = d.free_mib = c.memory.value;
    node_.empty.devices.push_back(d);
    return *this;
  }
  NodeOf& gpus(int n, ClassId device_class) {
    for (int i = 0; i < n; ++i) gpu(device_class);
    return *this;
  }
  NodeOf& mig_gpu(ClassId device_class, std::int32_t numa = 0) {
    gpu(device_class, numa);
    const DeviceClass& c = names_->devices.get(device_class);
    DeviceState& d = node_.empty.devices.back();
    d.mig = true;
    d.mig_all_slices = d.mig_free_slices = (std::uint32_t{1} << c.mig_memory_slices) - 1;
    d.mig_total_compute = d.mig_free_compute = c.mig_compute_slices;
    return *this;
  }
  NodeOf& at(std::vector<std::string> topology) {
    node_.spec.topology = std::move(topology);
    return *this;
  }
  NodeSpec& spec() { return node_.spec; }
  NodeState make() const {
    NodeState node = node_;
    node.free = node.empty;
    node.free_milli = node.free.free_gpu_milli();
    return node;
  }
  operator NodeState() const { return make(); }
  operator NodeRoom() const { return node_.empty; }

 private:
  Names* names_;
  NodeState node_;
};

// A pool of nodes and what places into it, without queues.
class TestPool {
 public:
  explicit TestPool(Names& names, const std::string& policy = "default", const PoolSpec& spec = {},
                    std::uint64_t seed = 1)
      : names_(names),
        placement_(PoolId(0), spec, nodes_, names.classes, *make_scorer(policy, spec), seed) {}

  NodeId add(NodeState node) {
    const NodeId id(nodes_.size());
    node.pool = PoolId(0);
    nodes_.push_back(std::move(node));
    members_.push_back(id);
    return id;
  }
  void order(std::size_t levels = 0) {
    state().reorder(members_, levels);
    refresh();
  }
  void refresh() { placement_.scorer->refresh(state()); }

  Names& names() { return names_; }
  PlacementPool& placement() { return placement_; }
  PoolState& state() { return placement_.state; }
  NodeState& node(NodeId id) { return nodes_[id.index()]; }
  std::vector<NodeState>& nodes() { return nodes_; }

  // Places one task on the node, as choose() says. Requires: it fits.
  TaskPlacement put(NodeId id, const TaskClass& task) {
    auto placement = choose(task, node(id).free, DeviceChoice::kBestFit);
    FAIRLEAD_CHECK(placement, "a test puts what fits");
    placement->node = id;
    state().take(id, *placement, task);
    return *placement;
  }

 private:
  Names& names_;
  std::vector<NodeState> nodes_;
  std::vector<NodeId> members_;
  PlacementPool placement_;
};

}  // namespace fairlead::sched::testing
