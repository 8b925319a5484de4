// Who holds what, computed from the views and the specifications alone: the second book in which
// the properties look up what is charged, what is free, and what a gate may still admit.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sched/scheduler.h"
#include "sim/scenario/symbols.h"

namespace fairlead::property {

using sched::Amounts;

struct HeldDevice {
  std::string id;
  std::int64_t milli = 0;
  std::int64_t mib = 0;
  std::int32_t mig_start = -1;
};

struct HeldTask {
  std::string workload;
  std::size_t role = 0;
  std::int32_t index = 0;
  std::string queue;
  std::string pool;
  std::string node;
  std::vector<HeldDevice> devices;
  Amounts charge;  // what the queue is charged for it
};

using Holdings = std::vector<HeldTask>;

Holdings holdings_of(const sched::Scheduler& scheduler, const sim::Symbols& symbols);

// A task as a decision places it.
HeldTask held_of(const sched::Started& started, const sched::TaskPlacement& placement,
                 const sched::Scheduler& scheduler, const sim::Symbols& symbols);

// What a task of the role is charged on these devices of the node (2.3, 2.7).
Amounts charge_of(const RoleSpec& role, const std::vector<std::string>& device_classes,
                  const std::string& pool, const sim::Symbols& symbols);

// The queue and its ancestors, from the queue up.
std::vector<std::string> upward(const std::string& queue, const sim::Symbols& symbols);

// Sums over the queue's whole subtree in one pool.
Amounts allocated(const Holdings& holdings, const std::string& queue, const std::string& pool,
                  const sim::Symbols& symbols);

// 5.2, 5.3: least and greatest sum of what counts as non-preemptible. They differ only where a
// semi-preemptible role has tasks of different charge, any of which may be its minimum.
struct NonPreemptible {
  Amounts least;
  Amounts greatest;
};
NonPreemptible non_preemptible(const Holdings& holdings, const std::string& queue,
                               const std::string& pool, const sim::Symbols& symbols);

Entitlement entitlement_of(const std::string& queue, const std::string& pool,
                           const std::string& resource, const sim::Symbols& symbols);

// What of a device is free, with MIG slices (2.5) as a bit set.
struct DeviceRoom {
  const DeviceSpec* spec = nullptr;
  const DeviceClass* type = nullptr;
  std::int64_t milli = 0;
  std::int64_t mib = 0;
  std::uint32_t slices = 0;
  std::int32_t compute = 0;

  bool untouched() const;
};

struct NodeRoom {
  const NodeSpec* spec = nullptr;
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
  ExtendedResources extended;
  std::vector<std::int64_t> cells;  // free cores by NUMA node; empty: not known
  std::vector<DeviceRoom> devices;
};

NodeRoom empty_room(const NodeSpec& node, const sim::Symbols& symbols);

// Takes a task from the room, and not the cells.
void take(NodeRoom& room, const HeldTask& task, const TaskRequest& request);

// By the order of node_names().
std::vector<NodeRoom> rooms_of(const Holdings& holdings, const sched::Scheduler& scheduler,
                               const sim::Symbols& symbols);

}  // namespace fairlead::property
