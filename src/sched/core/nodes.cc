// Nodes and pools: coming, changing, failing, leaving.
#include <algorithm>

#include "base/check.h"
#include "base/wide.h"
#include "sched/core/checks.h"
#include "sched/core/core.h"

namespace fairlead::sched {
namespace {

std::vector<std::string> device_ids(const NodeSpec& spec) {
  std::vector<std::string> ids;
  for (const DeviceSpec& d : spec.devices) ids.push_back(d.id);
  return ids;
}

void add_hardware(ResourceVector& sum, const NodeRoom& room, std::int64_t sign) {
  sum.at(kCpuResource) += sign * room.cpu;
  sum.at(kMemoryResource) += sign * room.memory;
  for (std::size_t e = 0; e < room.extended.size(); ++e)
    sum.at(kFirstExtended + e) += sign * room.extended[e];
}

}  // namespace

PoolId Core::find_pool(const std::string& name) const {
  const auto it = pool_by_name_.find(name);
  return it == pool_by_name_.end() ? PoolId{} : it->second;
}

// The pool of this name, made with default settings if it is new.
PoolId Core::pool_named(const std::string& name) {
  const PoolId found = find_pool(name);
  if (found.valid()) return found;
  PoolSpec spec;
  spec.name = name;
  const auto defined = on(PoolDefined{spec});
  FAIRLEAD_CHECK(defined.has_value(), "a pool with default settings can be defined");
  return find_pool(name);
}

// The node's room when nobody is there and all is healthy. Error: kNotFound for an unknown device
// class.
Result<NodeRoom> Core::empty_room(const NodeSpec& spec) {
  NodeRoom room;
  room.cpu = spec.cpu.value;
  room.memory = spec.memory.value;
  if (spec.numa.empty()) {
    room.cells.push_back({spec.cpu.value, spec.cpu.value});
  } else {
    std::int64_t sum = 0;
    for (const NumaCell& cell : spec.numa) {
      room.cells.push_back({cell.cpu.value, cell.cpu.value});
      sum += cell.cpu.value;
    }
    if (sum != spec.cpu.value) {
      return fail(ErrorCode::kInvalidArgument, "node '" + spec.name +
                                                   "': the CPUs of its NUMA nodes add up to " +
                                                   std::to_string(sum) + " milli-CPU, not to its " +
                                                   std::to_string(spec.cpu.value));
    }
  }
  for (const DeviceSpec& d : spec.devices) {
    const ClassId device_class = devices_.id(d.device_class);
    if (!device_class.valid()) {
      return fail(ErrorCode::kNotFound,
                  "node '" + spec.name + "': device '" + d.id + "' is of class '" + d.device_class +
                      "', which is not defined",
                  "define the device class first");
    }
    const DeviceClass& c = devices_.get(device_class);
    DeviceState state;
    state.device_class = device_class;
    const bool one_cell = room.cells.size() == 1;
    const bool known = d.numa >= 0 && d.numa < static_cast<std::int32_t>(room.cells.size());
    state.numa = one_cell ? 0 : (known ? d.numa : -1);
    state.pcie_switch = d.pcie_switch;
    state.nvlink_island = d.nvlink_island;
    state.mig = d.mig_enabled;
    state.total_mib = c.memory.value;
    state.free_mib = c.memory.value;
    if (d.mig_enabled) {
      state.mig_all_slices = (std::uint32_t{1} << c.mig_memory_slices) - 1;
      state.mig_free_slices = state.mig_all_slices;
      state.mig_total_compute = c.mig_compute_slices;
      state.mig_free_compute = c.mig_compute_slices;
    }
    room.devices.push_back(state);
  }
  for (const auto& [name, amount] : spec.extended) {
    const std::size_t r = resources_.intern(name).index();
    if (room.extended.size() <= r - kFirstExtended) room.extended.resize(r - kFirstExtended + 1, 0);
    room.extended[r - kFirstExtended] = amount;
  }
  return room;
}

// What the node adds to its pool's capacity; sign −1 takes it away again.
void Core::count_capacity(const NodeState& node, std::int64_t sign) {
  PoolCore& pool = *pools_[node.pool.index()];
  if (!node.usable()) return;
  ResourceVector& capacity = pool.state().capacity;
  capacity.at(kCpuResource) += sign * node.empty.cpu;
  capacity.at(kMemoryResource) += sign * node.empty.memory;
  for (std::size_t e = 0; e < node.empty.extended.size(); ++e) {
    capacity.at(kFirstExtended + e) += sign * node.empty.extended[e];
  }
  for (const DeviceState& d : node.free.devices) {
    if (!d.healthy) continue;
    const std::size_t c = d.device_class.index();
    if (pool.devices.size() <= c) pool.devices.resize(c + 1, 0);
    const bool was_there = pool.devices[c] > 0;
    pool.devices[c] += sign;
    if (was_there != (pool.devices[c] > 0)) ++pool.charge_version;
    capacity.at(kGpuResource) += sign * (c < pool.rates.size() ? pool.rates[c] : kMilli);
  }
}

// After any change of a node but its allocations.
void Core::node_changed(NodeId id) {
  NodeState& node = nodes_[id.index()];
  ++node.shape_version;
  PoolCore& pool = *pools_[node.pool.index()];
  pool.state().touched(id);
  pool.full_pass = true;
  pool.share_dirty = true;
  for (std::size_t r = 0; r < resources_.size(); ++r) {
    pool.usage.set_capacity(now_, r, pool.state().capacity[r]);
  }
}

void Core::lose_all(NodeId id) {
  while (!nodes_[id.index()].tasks.empty()) {
    // By workload name, so that the order does not depend on ids.
    const auto& tasks = nodes_[id.index()].tasks;
    const auto first =
        std::min_element(tasks.begin(), tasks.end(), [&](const TaskRef& a, const TaskRef& b) {
          const auto& x = workloads_.get(a.workload);
          const auto& y = workloads_.get(b.workload);
          return std::tie(x.sequence, a.role, a.index) < std::tie(y.sequence, b.role, b.index);
        });
    const TaskRef task = *first;
    withdraw_wants(task.workload);
    stop_task(task.workload, task.role, task.index, TaskState::kPending);
    after_change(task.workload);
  }
}

// Puts the node's tasks back into its new room, oldest first; one that no longer fits is stopped.
void Core::resettle(NodeId id, const std::vector<std::string>& old_devices) {
  NodeState& node = nodes_[id.index()];
  std::vector<TaskRef> tasks = node.tasks;
  std::sort(tasks.begin(), tasks.end(), [&](const TaskRef& a, const TaskRef& b) {
    const auto& x = workloads_.get(a.workload);
    const auto& y = workloads_.get(b.workload);
    return std::tie(x.sequence, a.role, a.index) < std::tie(y.sequence, b.role, b.index);
  });
  const std::vector<std::string> new_devices = device_ids(node.spec);
  std::vector<TaskRef> lost;
  for (const TaskRef& ref : tasks) {
    WorkloadRecord& w = workloads_.get(ref.workload);
    const TaskClass& task =
        classes_.get(shapes_.get(w.shape).classes[static_cast<std::size_t>(ref.role)]);
    TaskPlacement& placement = task_slot(w, ref.role, ref.index).placement;
    bool stays = true;
    TaskPlacement moved = placement;
    for (DeviceClaim& claim : moved.devices) {
      const auto at = std::find(new_devices.begin(), new_devices.end(), old_devices[claim.device]);
      if (at == new_devices.end()) {
        stays = false;
        break;
      }
      claim.device = static_cast<std::uint16_t>(at - new_devices.begin());
    }
    if (stays && moved.cpus.size() == 1 && node.free.cells.size() == 1) moved.cpus.front().cell = 0;
    stays = stays && node.free.holds(moved, task.host_claim(), task.extended);
    if (!stays) {
      lost.push_back(ref);
      continue;
    }
    node.free.take(moved, task.host_claim(), task.extended);
    placement = std::move(moved);
  }
  for (const TaskRef& ref : lost) {
    // Its claims are not in the new room: take them out of the books without giving room back.
    WorkloadRecord& w = workloads_.get(ref.workload);
    TaskSlot& slot = task_slot(w, ref.role, ref.index);
    withdraw_wants(ref.workload);
    const NodeRoom room = node.free;
    slot.placement.devices.clear();
    slot.placement.cpus.clear();
    stop_task(ref.workload, ref.role, ref.index, TaskState::kPending);
    node.free = room;
    Stopped stopped = stop_of(ref.workload, StopCause::kNodeShrunk);
    stopped.tasks.emplace_back(ref.role, ref.index);
    decisions_.push_back(std::move(stopped));
    after_change(ref.workload);
  }
}

Result<void> Core::on(const NodeUpserted& e) {
  const NodeSpec& spec = e.node;
  FAIRLEAD_TRY(check_node(spec));
  if (spec.topology.size() > levels_.size()) {
    return fail(ErrorCode::kInvalidArgument,
                "node '" + spec.name + "' names " + std::to_string(spec.topology.size()) +
                    " topology levels; the cluster has " + std::to_string(levels_.size()));
  }
  const std::size_t resources_before = resources_.size();
  FAIRLEAD_ASSIGN(NodeRoom room, empty_room(spec));
  if (resources_.size() != resources_before) queues_.refresh_entitlements();
  const auto found = node_by_name_.find(spec.name);
  ResourceVector hardware = hardware_;
  if (found != node_by_name_.end()) add_hardware(hardware, nodes_[found->second.index()].empty, -1);
  add_hardware(hardware, room, 1);
  for (std::size_t r = 0; r < hardware.size(); ++r) {
    if (hardware[r] <= kMostInAll) continue;
    return fail(ErrorCode::kOutOfRange,
                "node '" + spec.name + "': with it all nodes would have more " +
                    resources_.name(Id<struct ResourceTag>(r)) + " than can be counted (2^61)");
  }
  hardware_ = std::move(hardware);
  const PoolId pool_id = pool_named(spec.pool);
  if (found == node_by_name_.end()) {
    NodeId id(nodes_.size());
    if (!free_nodes_.empty()) {
      id = free_nodes_.back();
      free_nodes_.pop_back();
    } else {
      nodes_.emplace_back();
    }
    NodeState& node = nodes_[id.index()];
    const std::uint32_t version = node.version;
    node = NodeState{};
    node.version = version + 1;
    node.alive = true;
    node.spec = spec;
    node.pool = pool_id;
    node.empty = room;
    node.free = room;
    for (std::size_t d = 0; d < spec.devices.size(); ++d) {
      node.free.devices[d].healthy = spec.devices[d].health == DeviceHealth::kHealthy;
    }
    node_by_name_.emplace(spec.name, id);
    PoolCore& pool = *pools_[pool_id.index()];
    pool.members.push_back(id);
    pool.state().mark_unordered();
    count_capacity(node, 1);
    node_changed(id);
    return {};
  }
  const NodeId id = found->second;
  NodeState& node = nodes_[id.index()];
  const bool down = node.spec.ready && !spec.ready;
  if (down) lose_all(id);
  count_capacity(node, -1);
  const PoolId old_pool = node.pool;
  const bool moved = node.pool != pool_id || node.spec.topology != spec.topology;
  const bool other_gpus =
      device_ids(node.spec) != device_ids(spec) ||
      !std::equal(node.empty.devices.begin(), node.empty.devices.end(), room.devices.begin(),
                  room.devices.end(), [](const DeviceState& a, const DeviceState& b) {
                    return a.device_class == b.device_class;
                  });
  const std::vector<std::string> old_devices = device_ids(node.spec);
  node.spec = spec;
  node.empty = room;
  node.free = room;
  for (std::size_t d = 0; d < spec.devices.size(); ++d) {
    node.free.devices[d].healthy = spec.devices[d].health == DeviceHealth::kHealthy;
  }
  if (moved || other_gpus) {
    auto& members = pools_[old_pool.index()]->members;
    if (node.pool != pool_id) {
      members.erase(std::find(members.begin(), members.end(), id));
      pools_[pool_id.index()]->members.push_back(id);
      pools_[old_pool.index()]->state().mark_unordered();
      pools_[old_pool.index()]->share_dirty = true;
      forget_reserved(id);
      node.pool = pool_id;
    }
    pools_[pool_id.index()]->state().mark_unordered();
  }
  resettle(id, old_devices);
  count_capacity(node, 1);
  node_changed(id);
  return {};
}

Result<void> Core::on(const NodeRemoved& e) {
  const auto found = node_by_name_.find(e.node);
  if (found == node_by_name_.end())
    return fail(ErrorCode::kNotFound, "no node is named '" + e.node + "'");
  const NodeId id = found->second;
  lose_all(id);
  forget_reserved(id);
  NodeState& node = nodes_[id.index()];
  count_capacity(node, -1);
  PoolCore& pool = *pools_[node.pool.index()];
  pool.members.erase(std::find(pool.members.begin(), pool.members.end(), id));
  pool.state().mark_unordered();
  node_changed(id);
  add_hardware(hardware_, node.empty, -1);
  const std::uint32_t version = node.version;
  node = NodeState{};
  node.version = version;
  free_nodes_.push_back(id);
  node_by_name_.erase(found);
  return {};
}

Result<void> Core::on(const NodeConditionChanged& e) {
  const auto found = node_by_name_.find(e.node);
  if (found == node_by_name_.end())
    return fail(ErrorCode::kNotFound, "no node is named '" + e.node + "'");
  const NodeId id = found->second;
  NodeState& node = nodes_[id.index()];
  if (node.spec.ready && !e.ready) lose_all(id);
  count_capacity(node, -1);
  node.spec.ready = e.ready;
  node.spec.schedulable = e.schedulable;
  count_capacity(node, 1);
  node_changed(id);
  return {};
}

Result<void> Core::on(const DeviceHealthChanged& e) {
  const auto found = node_by_name_.find(e.node);
  if (found == node_by_name_.end())
    return fail(ErrorCode::kNotFound, "no node is named '" + e.node + "'");
  NodeState& node = nodes_[found->second.index()];
  for (std::size_t d = 0; d < node.spec.devices.size(); ++d) {
    if (node.spec.devices[d].id != e.device) continue;
    count_capacity(node, -1);
    node.spec.devices[d].health = e.health;
    node.free.devices[d].healthy = e.health == DeviceHealth::kHealthy;
    count_capacity(node, 1);
    node_changed(found->second);
    return {};
  }
  return fail(ErrorCode::kNotFound, "node '" + e.node + "' has no device '" + e.device + "'");
}

void Core::ensure_ordered(PoolCore& pool) {
  if (!pool.state().ordered()) pool.state().reorder(pool.members, levels_.size());
  pool.placement->scorer->refresh(pool.state());
}

}  // namespace fairlead::sched
