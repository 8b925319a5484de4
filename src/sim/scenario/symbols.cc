#include "sim/scenario/symbols.h"

#include <type_traits>

namespace fairlead::sim {
namespace {

struct Noter {
  Symbols& symbols;

  void operator()(const sched::TopologyDefined& e) const {
    symbols.levels = e.levels;
    symbols.levels_defined = true;
  }
  void operator()(const sched::DeviceClassDefined& e) const {
    symbols.classes[e.device_class.name] = e.device_class;
  }
  void operator()(const sched::PoolDefined& e) const { symbols.pools[e.pool.name] = e.pool; }
  void operator()(const sched::NodeUpserted& e) const { symbols.nodes[e.node.name] = e.node; }
  void operator()(const sched::NodeConditionChanged& e) const {
    const auto it = symbols.nodes.find(e.node);
    if (it == symbols.nodes.end()) return;
    it->second.ready = e.ready;
    it->second.schedulable = e.schedulable;
  }
  void operator()(const sched::DeviceHealthChanged& e) const {
    const auto it = symbols.nodes.find(e.node);
    if (it == symbols.nodes.end()) return;
    for (DeviceSpec& device : it->second.devices) {
      if (device.id == e.device) device.health = e.health;
    }
  }
  void operator()(const sched::QueueUpserted& e) const { symbols.queues[e.queue.name] = e.queue; }
  void operator()(const sched::WorkloadSubmitted& e) const {
    symbols.workloads[e.workload.name] = e.workload;
  }
  void operator()(const sched::WorkloadAdopted& e) const {
    symbols.workloads[e.entry.spec.name] = e.entry.spec;
  }
  void operator()(const sched::WorkloadChanged& e) const {
    const auto it = symbols.workloads.find(e.workload);
    if (it == symbols.workloads.end()) return;
    WorkloadSpec& spec = it->second;
    if (e.priority) spec.priority = *e.priority;
    if (e.order_key) spec.order_key = *e.order_key;
    for (const sched::RoleChange& change : e.roles) {
      for (RoleSpec& role : spec.roles) {
        if (role.name != change.role) continue;
        if (change.count) role.count = *change.count;
        if (change.min) role.min = *change.min;
      }
    }
    if (spec.independent_tasks()) spec.parallelism = spec.roles.front().count;
  }
  // What was removed stays known by name: expectations may speak of it, and only the core knows
  // whether it was removed indeed.
  template <class Other>
  void operator()(const Other&) const {}
};

}  // namespace

void Symbols::note(const sched::Event& event) {
  std::visit(Noter{*this}, event);
}

}  // namespace fairlead::sim
