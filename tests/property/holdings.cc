#include "holdings.h"

#include <algorithm>
#include <cstddef>

namespace fairlead::property {
namespace {

std::int64_t divided_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

const MigProfile* profile_named(const DeviceClass& type, const std::string& name) {
  for (const MigProfile& p : type.mig_profiles) {
    if (p.name == name) return &p;
  }
  return nullptr;
}

std::uint32_t mask_of(std::int32_t start, std::int32_t slices) {
  return ((std::uint32_t{1} << slices) - 1) << start;
}

const DeviceSpec* device_named(const NodeSpec& node, const std::string& id) {
  for (const DeviceSpec& d : node.devices) {
    if (d.id == id) return &d;
  }
  return nullptr;
}

void add(Amounts& to, const Amounts& what) {
  for (const auto& [name, amount] : what) to[name] += amount;
}

bool below_or_at(const std::string& queue, const std::string& top, const sim::Symbols& symbols) {
  const auto up = upward(queue, symbols);
  return std::find(up.begin(), up.end(), top) != up.end();
}

std::vector<std::string> classes_of(const std::vector<HeldDevice>& devices, const NodeSpec& node) {
  std::vector<std::string> out;
  for (const HeldDevice& d : devices) {
    const DeviceSpec* spec = device_named(node, d.id);
    out.push_back(spec ? spec->device_class : "");
  }
  return out;
}

}  // namespace

Amounts charge_of(const RoleSpec& role, const std::vector<std::string>& device_classes,
                  const std::string& pool, const sim::Symbols& symbols) {
  Amounts out;
  const GpuRequest& gpu = role.request.gpu;
  for (const std::string& name : device_classes) {
    const DeviceClass& type = symbols.classes.at(name);
    std::int64_t milli = 0;
    switch (gpu.kind) {
      case GpuRequestKind::kNone:
        break;
      case GpuRequestKind::kDevices:
        milli = kMilli;
        break;
      case GpuRequestKind::kPortion:
        milli = gpu.portion.value;
        break;
      case GpuRequestKind::kMemory:
        milli = divided_up(kMilli * gpu.memory.value, type.memory.value);
        break;
      case GpuRequestKind::kMig: {
        const MigProfile* profile = profile_named(type, gpu.mig_profile);
        if (profile) milli = kMilli * profile->compute_slices / type.mig_compute_slices;
        break;
      }
    }
    const auto spec = symbols.pools.find(pool);
    std::int64_t rate = kMilli;
    if (spec != symbols.pools.end() && spec->second.exchange_rates.contains(name)) {
      rate = spec->second.exchange_rates.at(name);
    }
    out["gpu"] += divided_up(milli * rate, kMilli);
  }
  out.try_emplace("gpu", 0);
  out["cpu"] = role.request.cpu.value;
  out["memory"] = role.request.memory.value;
  for (const auto& [name, amount] : role.request.extended) out[name] = amount;
  return out;
}

Holdings holdings_of(const sched::Scheduler& scheduler, const sim::Symbols& symbols) {
  Holdings out;
  for (const std::string& name : scheduler.workload_names()) {
    const auto view = scheduler.workload(name);
    const WorkloadSpec& spec = symbols.workloads.at(name);
    for (const sched::TaskView& task : view->tasks) {
      HeldTask held;
      held.workload = name;
      held.index = task.index;
      held.queue = view->queue;
      held.pool = view->pool;
      held.node = task.node;
      while (held.role < spec.roles.size() && spec.roles[held.role].name != task.role) ++held.role;
      for (std::size_t i = 0; i < task.devices.size(); ++i) {
        held.devices.push_back({task.devices[i], task.milli[i], task.mib[i], task.mig_start[i]});
      }
      held.charge =
          charge_of(spec.roles.at(held.role), classes_of(held.devices, symbols.nodes.at(task.node)),
                    held.pool, symbols);
      out.push_back(std::move(held));
    }
  }
  return out;
}

HeldTask held_of(const sched::Started& started, const sched::TaskPlacement& placement,
                 const sched::Scheduler& scheduler, const sim::Symbols& symbols) {
  HeldTask held;
  held.workload = scheduler.workload_name(started.workload);
  held.role = static_cast<std::size_t>(placement.role);
  held.index = placement.index;
  held.node = scheduler.node_name(placement.node);
  held.pool = scheduler.pool_name(started.pool);
  const WorkloadSpec& spec = symbols.workloads.at(held.workload);
  const NodeSpec& node = symbols.nodes.at(held.node);
  held.queue = spec.queue;
  for (const sched::DeviceClaim& claim : placement.devices) {
    held.devices.push_back(
        {node.devices.at(claim.device).id, claim.milli.value, claim.memory.value, claim.mig_start});
  }
  held.charge =
      charge_of(spec.roles.at(held.role), classes_of(held.devices, node), held.pool, symbols);
  return held;
}

std::vector<std::string> upward(const std::string& queue, const sim::Symbols& symbols) {
  std::vector<std::string> out;
  for (std::string q = queue; !q.empty(); q = symbols.queues.at(q).parent) out.push_back(q);
  return out;
}

Amounts allocated(const Holdings& holdings, const std::string& queue, const std::string& pool,
                  const sim::Symbols& symbols) {
  Amounts out;
  for (const HeldTask& task : holdings) {
    if (task.pool == pool && below_or_at(task.queue, queue, symbols)) add(out, task.charge);
  }
  return out;
}

NonPreemptible non_preemptible(const Holdings& holdings, const std::string& queue,
                               const std::string& pool, const sim::Symbols& symbols) {
  NonPreemptible out;
  std::map<std::pair<std::string, std::size_t>, std::vector<const HeldTask*>> semi;
  for (const HeldTask& task : holdings) {
    if (task.pool != pool || !below_or_at(task.queue, queue, symbols)) continue;
    const WorkloadSpec& spec = symbols.workloads.at(task.workload);
    if (spec.preemptibility == Preemptibility::kNonPreemptible) {
      add(out.least, task.charge);
      add(out.greatest, task.charge);
    } else if (spec.preemptibility == Preemptibility::kSemiPreemptible &&
               !spec.independent_tasks()) {
      semi[{task.workload, task.role}].push_back(&task);
    }
  }
  for (auto& [key, tasks] : semi) {
    const RoleSpec& role = symbols.workloads.at(key.first).roles[key.second];
    std::sort(tasks.begin(), tasks.end(),
              [](const HeldTask* a, const HeldTask* b) { return a->charge < b->charge; });
    const std::size_t n = std::min(tasks.size(), static_cast<std::size_t>(role.min));
    for (std::size_t i = 0; i < n; ++i) {
      add(out.least, tasks[i]->charge);
      add(out.greatest, tasks[tasks.size() - 1 - i]->charge);
    }
  }
  return out;
}

Entitlement entitlement_of(const std::string& queue, const std::string& pool,
                           const std::string& resource, const sim::Symbols& symbols) {
  const QueueSpec& spec = symbols.queues.at(queue);
  const auto in_pool = spec.pools.find(pool);
  if (in_pool == spec.pools.end() || !in_pool->second.contains(resource)) {
    return default_entitlement(resource);
  }
  return in_pool->second.at(resource);
}

bool DeviceRoom::untouched() const {
  return milli == kMilli && mib == type->memory.value &&
         (!spec->mig_enabled || slices == mask_of(0, type->mig_memory_slices));
}

NodeRoom empty_room(const NodeSpec& node, const sim::Symbols& symbols) {
  NodeRoom room;
  room.spec = &node;
  room.cpu = node.cpu.value;
  room.memory = node.memory.value;
  room.extended = node.extended;
  for (const NumaCell& cell : node.numa) room.cells.push_back(cell.cpu.value);
  if (node.numa.empty()) room.cells.push_back(node.cpu.value);
  for (const DeviceSpec& spec : node.devices) {
    DeviceRoom device;
    device.spec = &spec;
    device.type = &symbols.classes.at(spec.device_class);
    device.milli = kMilli;
    device.mib = device.type->memory.value;
    if (spec.mig_enabled) {
      device.slices = mask_of(0, device.type->mig_memory_slices);
      device.compute = device.type->mig_compute_slices;
    }
    room.devices.push_back(device);
  }
  return room;
}

void take(NodeRoom& room, const HeldTask& task, const TaskRequest& request) {
  room.cpu -= request.cpu.value;
  room.memory -= request.memory.value;
  for (const auto& [name, amount] : request.extended) {
    if (amount > 0) room.extended[name] -= amount;
  }
  for (const HeldDevice& held : task.devices) {
    for (DeviceRoom& device : room.devices) {
      if (device.spec->id != held.id) continue;
      device.milli -= held.milli;
      device.mib -= held.mib;
      if (held.mig_start < 0) continue;
      const MigProfile* profile = profile_named(*device.type, request.gpu.mig_profile);
      device.slices &= ~mask_of(held.mig_start, profile->memory_slices);
      device.compute -= profile->compute_slices;
    }
  }
}

std::vector<NodeRoom> rooms_of(const Holdings& holdings, const sched::Scheduler& scheduler,
                               const sim::Symbols& symbols) {
  std::vector<NodeRoom> rooms;
  for (const std::string& name : scheduler.node_names()) {
    NodeRoom room = empty_room(symbols.nodes.at(name), symbols);
    bool cores_taken = false;
    for (const HeldTask& task : holdings) {
      if (task.node != name) continue;
      const TaskRequest& request = symbols.workloads.at(task.workload).roles[task.role].request;
      take(room, task, request);
      cores_taken = cores_taken || request.cpu.value > 0;
    }
    if (room.cells.size() == 1) {
      room.cells[0] = room.cpu;
    } else if (cores_taken) {
      room.cells.clear();
    }
    rooms.push_back(std::move(room));
  }
  return rooms;
}

}  // namespace fairlead::property
