// A node as the core sees it now: what is free of each device, NUMA cell and host resource.
//
// Invariant (I1): nothing free is ever negative, and capacity − free is the sum of the claims of
// the tasks placed here. take() and give() are the only ways to change what is free; take() checks.
// Cost: O(claims). Rule 2.6: exact integers per device, memory and compute apart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "model/node.h"
#include "sched/decision.h"
#include "sched/ids.h"

namespace fairlead::sched {

struct DeviceState {
  ClassId device_class;
  std::int32_t numa = -1;  // position in NodeState::cells; -1 unknown
  std::int32_t pcie_switch = -1;
  std::int32_t nvlink_island = -1;
  bool mig = false;
  bool healthy = true;
  std::int32_t free_milli = 1000;
  std::int64_t total_mib = 0;
  std::int64_t free_mib = 0;
  std::uint32_t mig_free_slices = 0;  // bit s set: memory slice s is free
  std::int32_t mig_free_compute = 0;  // compute slices
  std::int32_t mig_total_compute = 0;
  std::uint32_t mig_all_slices = 0;
  friend bool operator==(const DeviceState&, const DeviceState&) = default;

  // Nobody holds any part of it.
  bool untouched() const {
    return free_milli == 1000 && free_mib == total_mib && mig_free_slices == mig_all_slices;
  }
};

struct CellState {
  std::int64_t total_cpu = 0;
  std::int64_t free_cpu = 0;
  friend bool operator==(const CellState&, const CellState&) = default;
};

// A task on a node, named by its workload and place in it.
struct TaskRef {
  WorkloadId workload;
  std::int32_t role = 0;
  std::int32_t index = 0;
  friend auto operator<=>(const TaskRef&, const TaskRef&) = default;
};

// Amounts of an extended resource, by resource index (ResourceVector).
using ExtendedAmounts = std::vector<std::pair<std::size_t, std::int64_t>>;

// What a task takes from the host beside devices and CPU cells.
struct HostClaim {
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
};

// What is free of one node, apart from what the node is: small enough to copy for a trial.
struct NodeRoom {
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
  boost::container::small_vector<CellState, 2> cells;  // at least one
  boost::container::small_vector<DeviceState, 8> devices;
  boost::container::small_vector<std::int64_t, 1> extended;  // by resource index − kFirstExtended
  friend bool operator==(const NodeRoom&, const NodeRoom&) = default;

  std::int64_t free_gpu_milli() const;   // Σ free compute of healthy devices
  std::int64_t total_gpu_milli() const;  // healthy devices
  std::int64_t extended_free(std::size_t resource) const;

  // Whether the claims fit.
  bool holds(const TaskPlacement& placement, const HostClaim& host,
             const ExtendedAmounts& claims) const;

  // Requires: the claims fit (checked).
  void take(const TaskPlacement& placement, const HostClaim& host, const ExtendedAmounts& claims);
  void give(const TaskPlacement& placement, const HostClaim& host, const ExtendedAmounts& claims);
};

struct NodeState {
  bool alive = false;
  NodeSpec spec;
  PoolId pool;
  std::uint32_t slot = 0;           // position in the pool's node order
  std::uint32_t shape_version = 0;  // raised when anything but what is free changes
  std::uint32_t version = 0;        // raised whenever anything changes
  std::int64_t free_milli = 0;      // free.free_gpu_milli(), kept
  std::int64_t counted_milli = 0;   // what the pool's domains count of this node
  std::int64_t counted_cpu = 0;
  NodeRoom free;   // now
  NodeRoom empty;  // if nobody were here and every device healthy
  std::vector<TaskRef> tasks;

  bool usable() const { return spec.ready && spec.schedulable; }
};

}  // namespace fairlead::sched
