// Tasks that a document states as running: their node and devices exist, are of a fitting kind, and
// no device is over-committed (2.6).
#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/wide.h"
#include "model/readers.h"

namespace fairlead {
namespace {

struct Held {
  std::int64_t milli = 0;
  std::int64_t mib = 0;
};

class RunningChecks {
 public:
  RunningChecks(const ClusterDraft& draft, Findings& findings)
      : draft_(draft), findings_(findings) {
    for (std::size_t i = 0; i < draft.cluster.nodes.size(); ++i) {
      nodes_.emplace(draft.cluster.nodes[i].name, i);
    }
    for (const DeviceClass& c : draft.cluster.device_classes) memory_[c.name] = c.memory.value;
  }

  void check(const WorkloadEntry& entry, const Value& place) {
    const Value& running = field_of(place, {"running"});
    std::string pool;
    for (std::size_t i = 0; i < entry.running.size(); ++i) {
      const RunningTask& task = entry.running[i];
      const Value& at = i < running.items().size() ? running.items()[i] : running;
      const auto found = nodes_.find(task.node);
      if (found == nodes_.end()) {
        if (task.node.empty()) continue;  // reported where it was read
        report_unknown(field_of(at, {"node"}), findings_, "node", task.node, node_names());
        continue;
      }
      const NodeSpec& node = draft_.cluster.nodes[found->second];
      if (pool.empty()) pool = node.pool;
      check_pool(entry.spec, node, pool, at);
      const auto role = std::find_if(entry.spec.roles.begin(), entry.spec.roles.end(),
                                     [&](const RoleSpec& r) { return r.name == task.role; });
      if (role == entry.spec.roles.end() || task.devices.empty()) continue;
      check_devices(role->request.gpu, task, found->second, at);
    }
  }

 private:
  std::vector<std::string> node_names() const {
    std::vector<std::string> names;
    for (const NodeSpec& node : draft_.cluster.nodes) {
      if (names.size() < 5000) names.push_back(node.name);
    }
    return names;
  }

  void check_pool(const WorkloadSpec& spec, const NodeSpec& node, const std::string& pool,
                  const Value& at) {
    if (std::find(spec.pools.begin(), spec.pools.end(), node.pool) == spec.pools.end()) {
      findings_.error(field_of(at, {"node"}), ErrorCode::kInvalidArgument,
                      "node \"" + node.name + "\" is in pool \"" + node.pool +
                          "\", which the workload does not name",
                      "add it to the workload's \"pools\"");
    } else if (node.pool != pool) {
      findings_.error(field_of(at, {"node"}), ErrorCode::kInvalidArgument,
                      "the workload runs in the pools \"" + pool + "\" and \"" + node.pool + "\"",
                      "a workload runs in one pool; move the task");
    }
  }

  void check_devices(const GpuRequest& gpu, const RunningTask& task, std::size_t node_index,
                     const Value& at) {
    const NodeSpec& node = draft_.cluster.nodes[node_index];
    const Value& place = field_of(at, {"devices"});
    if (static_cast<std::size_t>(gpu.count) != task.devices.size()) {
      findings_.error(place, ErrorCode::kInvalidArgument,
                      "the task asks for " + std::to_string(gpu.count) + " devices, here are " +
                          std::to_string(task.devices.size()),
                      "name each device once, or leave the field out");
      return;
    }
    for (std::size_t i = 0; i < task.devices.size(); ++i) {
      const auto device =
          std::find_if(node.devices.begin(), node.devices.end(),
                       [&](const DeviceSpec& d) { return d.id == task.devices[i]; });
      if (device == node.devices.end()) {
        std::vector<std::string> ids;
        for (const DeviceSpec& d : node.devices) ids.push_back(d.id);
        report_unknown(place, findings_, "device", task.devices[i], ids);
        continue;
      }
      if (device->mig_enabled != (gpu.kind == GpuRequestKind::kMig)) {
        findings_.error(place, ErrorCode::kInvalidArgument,
                        "device \"" + device->id + "\" is " +
                            (device->mig_enabled ? "in MIG mode and holds instances only"
                                                 : "not in MIG mode and holds no instances"),
                        "name another device, or change its \"mig\"");
        continue;
      }
      charge(gpu, *device, node_index, place);
    }
  }

  void charge(const GpuRequest& gpu, const DeviceSpec& device, std::size_t node,
              const Value& place) {
    const auto known = memory_.find(device.device_class);
    const std::int64_t memory = known == memory_.end() ? 0 : known->second;
    if (memory == 0) return;  // reported with the class
    Held add;
    switch (gpu.kind) {
      case GpuRequestKind::kNone:
      case GpuRequestKind::kMig:
        return;  // instances are placed by the core, slice by slice
      case GpuRequestKind::kDevices:
        add = {kMilli, memory};
        break;
      case GpuRequestKind::kPortion:
        add = {gpu.portion.value, mul_div_floor(gpu.portion.value, memory, kMilli)};
        break;
      case GpuRequestKind::kMemory:
        add = {0, gpu.memory.value};
        break;
    }
    Held& held = held_[{node, device.id}];
    held.milli += add.milli;
    held.mib += add.mib;
    if (held.mib <= memory && held.milli <= kMilli) return;
    findings_.error(place, ErrorCode::kOutOfRange,
                    "device \"" + device.id + "\" of node \"" + draft_.cluster.nodes[node].name +
                        "\" would hold " + std::to_string(held.milli) + " of 1000 milli-GPU and " +
                        std::to_string(held.mib) + " of " + std::to_string(memory) + " MiB",
                    "move a task to another device");
  }

  const ClusterDraft& draft_;
  Findings& findings_;
  std::unordered_map<std::string, std::size_t> nodes_;
  std::map<std::string, std::int64_t> memory_;
  std::map<std::pair<std::size_t, std::string>, Held> held_;
};

}  // namespace

void check_running(const ClusterDraft& draft, Findings& findings) {
  RunningChecks checks(draft, findings);
  for (std::size_t i = 0; i < draft.cluster.workloads.size(); ++i) {
    checks.check(draft.cluster.workloads[i], *draft.places.workloads[i]);
  }
}

}  // namespace fairlead
