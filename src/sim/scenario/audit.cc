#include "sim/scenario/audit.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "model/units.h"

namespace fairlead::sim {
namespace {

using Complaints = std::vector<std::string>;

bool tolerated(const Constraints& constraints, const Taint& taint) {
  if (taint.effect == TaintEffect::kPreferNoSchedule) return true;
  return std::any_of(
      constraints.tolerations.begin(), constraints.tolerations.end(), [&](const Toleration& t) {
        return (t.key.empty() || t.key == taint.key) && (!t.value || *t.value == taint.value) &&
               (!t.effect || *t.effect == taint.effect);
      });
}

// Why a node may not take a task of the role; empty if it may. Affinity terms are left to the core.
std::string forbidden(const RoleSpec& role, const NodeSpec& node) {
  const Constraints& c = role.constraints;
  if (!node.ready) return "is down";
  if (!node.schedulable) return "is cordoned";
  if (!c.node_types.empty() &&
      std::find(c.node_types.begin(), c.node_types.end(), node.node_type) == c.node_types.end()) {
    return "is of another type";
  }
  for (const auto& [key, value] : c.node_selector) {
    const auto label = node.labels.find(key);
    if (label == node.labels.end() || label->second != value) return "lacks the label " + key;
  }
  for (const Taint& taint : node.taints) {
    if (!tolerated(c, taint)) return "has the taint " + taint.key;
  }
  return {};
}

std::string forbidden(const RoleSpec& role, const DeviceSpec& device) {
  const Constraints& c = role.constraints;
  if (device.health != DeviceHealth::kHealthy) return "is unhealthy";
  if (!c.device_classes.empty() && std::find(c.device_classes.begin(), c.device_classes.end(),
                                             device.device_class) == c.device_classes.end()) {
    return "is of class " + device.device_class;
  }
  if (device.mig_enabled != (role.request.gpu.kind == GpuRequestKind::kMig)) {
    return device.mig_enabled ? "is in MIG mode" : "is not in MIG mode";
  }
  return {};
}

// The domain of a node at a level by its whole path; the node itself for "host".
std::string domain_of(const NodeSpec& node, const std::string& level, const Symbols& symbols) {
  if (level == "host") return node.name;
  std::string path;
  for (std::size_t i = 0; i < symbols.levels.size(); ++i) {
    path += "/" + (i < node.topology.size() ? node.topology[i] : std::string());
    if (symbols.levels[i] == level) return path;
  }
  return {};
}

struct StartAudit {
  const sched::Started& started;
  const sched::Scheduler& core;
  const Symbols& symbols;
  const WorkloadSpec& spec;
  Complaints complaints;

  void run() {
    for (const sched::TaskPlacement& task : started.tasks) place(task);
    if (!started.growth && spec.completions == 0) whole();
    level(spec.topology.within, "the workload", [](const sched::TaskView&) { return true; });
    for (const RoleSpec& role : spec.roles) {
      level(role.topology.within, "role " + role.name,
            [&](const sched::TaskView& task) { return task.role == role.name; });
      if (role.segment_size == 0) continue;
      for (std::int32_t from = 0; from < role.count; from += role.segment_size) {
        level(role.segment_topology.within, fmt::format("tasks {} and on", from),
              [&](const sched::TaskView& task) {
                return task.role == role.name && task.index >= from &&
                       task.index < from + role.segment_size;
              });
      }
    }
  }

  void place(const sched::TaskPlacement& task) {
    const RoleSpec& role = spec.roles[static_cast<std::size_t>(task.role)];
    const auto node = symbols.nodes.find(core.node_name(task.node));
    if (node == symbols.nodes.end()) return complain(task, "a node that is not known");
    if (const std::string why = forbidden(role, node->second); !why.empty()) {
      complain(task, fmt::format("{}, which {}", node->first, why));
    }
    const bool counted = role.request.gpu.kind != GpuRequestKind::kMig;
    if (counted && static_cast<std::int32_t>(task.devices.size()) != role.request.gpu.count) {
      complain(task,
               fmt::format("{} devices, asking {}", task.devices.size(), role.request.gpu.count));
    }
    for (const sched::DeviceClaim& claim : task.devices) {
      if (claim.device >= node->second.devices.size()) {
        complain(task, "a device that is not known");
        continue;
      }
      const DeviceSpec& device = node->second.devices[claim.device];
      if (const std::string why = forbidden(role, device); !why.empty()) {
        complain(task, fmt::format("{}:{}, which {}", node->first, device.id, why));
      }
    }
  }

  // I2: after a start that is no growth, every role has its minimum.
  void whole() {
    const auto view = core.workload(spec.name);
    if (!view) return;
    for (const RoleSpec& role : spec.roles) {
      const auto there =
          std::count_if(view->tasks.begin(), view->tasks.end(),
                        [&](const auto& task) { return task.running && task.role == role.name; });
      if (there + view->succeeded < role.min) {
        complaints.push_back(fmt::format("{} started with {} tasks of role {}, whose minimum is {}",
                                         spec.name, there, role.name, role.min));
      }
    }
  }

  // 6.4: all running tasks that `member` picks are in one domain of the level.
  template <class Member>
  void level(const std::string& name, const std::string& whose, const Member& member) {
    if (name.empty()) return;
    const auto view = core.workload(spec.name);
    if (!view) return;
    std::set<std::string> domains;
    for (const sched::TaskView& task : view->tasks) {
      const auto node = symbols.nodes.find(task.node);
      if (!task.running || !member(task) || node == symbols.nodes.end()) continue;
      domains.insert(domain_of(node->second, name, symbols));
    }
    if (domains.size() > 1) {
      complaints.push_back(
          fmt::format("{}: {} is in {} domains of {}", spec.name, whose, domains.size(), name));
    }
  }

  void complain(const sched::TaskPlacement& task, const std::string& what) {
    complaints.push_back(fmt::format("{} started task {} of role {} on {}", spec.name, task.index,
                                     spec.roles[static_cast<std::size_t>(task.role)].name, what));
  }
};

// What all running tasks hold of the devices and of the host, against what there is.
void audit_nodes(const sched::Scheduler& core, const Symbols& symbols, Complaints& complaints) {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> devices;  // NODE:ID: milli, MiB
  for (const std::string& name : core.workload_names()) {
    const auto view = core.workload(name);
    if (!view) continue;
    for (const sched::TaskView& task : view->tasks) {
      for (std::size_t i = 0; task.running && i < task.devices.size(); ++i) {
        auto& held = devices[task.node + ":" + task.devices[i]];
        held.first += task.milli[i];
        held.second += task.mib[i];
      }
    }
  }
  for (const std::string& name : core.node_names()) {
    const auto node = core.node(name);
    if (!node) continue;
    for (const sched::DeviceView& device : node->devices) {
      const auto type = symbols.classes.find(device.device_class);
      const auto it = devices.find(name + ":" + device.id);
      const auto [milli, mib] =
          it == devices.end() ? std::pair<std::int64_t, std::int64_t>() : it->second;
      if (type == symbols.classes.end()) continue;
      if (milli > kMilli || mib > type->second.memory.value) {
        complaints.push_back(fmt::format("{}:{} holds {} milli and {} MiB of {}", name, device.id,
                                         milli, mib, type->second.memory.value));
      }
      if (device.free_mib != type->second.memory.value - mib) {
        complaints.push_back(fmt::format("{}:{} has {} MiB free, its tasks hold {} of {}", name,
                                         device.id, device.free_mib, mib,
                                         type->second.memory.value));
      }
    }
  }
}

}  // namespace

std::vector<std::string> audit_start(const sched::Started& started, const sched::Scheduler& core,
                                     const Symbols& symbols) {
  const auto spec = symbols.workloads.find(core.workload_name(started.workload));
  if (spec == symbols.workloads.end()) return {"a workload started that was never submitted"};
  StartAudit audit{started, core, symbols, spec->second, {}};
  audit.run();
  return std::move(audit.complaints);
}

std::vector<std::string> audit_state(const sched::Scheduler& core, const Symbols& symbols) {
  Complaints complaints;
  audit_nodes(core, symbols, complaints);
  return complaints;
}

}  // namespace fairlead::sim
