#include "sched/state/node_state.h"

#include "base/check.h"
#include "sched/state/resource_vector.h"

namespace fairlead::sched {
namespace {

std::uint32_t slice_mask(const DeviceClaim& claim) {
  return ((std::uint32_t{1} << claim.mig_memory_slices) - 1) << claim.mig_start;
}

}  // namespace

std::int64_t NodeRoom::free_gpu_milli() const {
  std::int64_t sum = 0;
  for (const DeviceState& d : devices) {
    if (d.healthy) sum += d.free_milli;
  }
  return sum;
}

std::int64_t NodeRoom::total_gpu_milli() const {
  std::int64_t sum = 0;
  for (const DeviceState& d : devices) {
    if (d.healthy) sum += kMilli;
  }
  return sum;
}

std::int64_t NodeRoom::extended_free(std::size_t resource) const {
  const std::size_t position = resource - kFirstExtended;
  return position < extended.size() ? extended[position] : 0;
}

bool NodeRoom::holds(const TaskPlacement& placement, const HostClaim& host,
                     const ExtendedAmounts& claims) const {
  if (cpu < host.cpu || memory < host.memory) return false;
  for (const auto& [resource, amount] : claims) {
    if (extended_free(resource) < amount) return false;
  }
  for (const CpuClaim& claim : placement.cpus) {
    if (claim.cell >= cells.size() || cells[claim.cell].free_cpu < claim.cpu.value) return false;
  }
  for (const DeviceClaim& claim : placement.devices) {
    if (claim.device >= devices.size()) return false;
    const DeviceState& d = devices[claim.device];
    if (d.free_milli < claim.milli.value || d.free_mib < claim.memory.value) return false;
    if (claim.mig_start >= 0 &&
        (!d.mig || (d.mig_free_slices & slice_mask(claim)) != slice_mask(claim) ||
         d.mig_free_compute < claim.mig_compute_slices)) {
      return false;
    }
  }
  return true;
}

void NodeRoom::take(const TaskPlacement& placement, const HostClaim& host,
                    const ExtendedAmounts& claims) {
  for (const DeviceClaim& claim : placement.devices) {
    DeviceState& d = devices[claim.device];
    d.free_milli -= static_cast<std::int32_t>(claim.milli.value);
    d.free_mib -= claim.memory.value;
    if (claim.mig_start >= 0) {
      const std::uint32_t mask = slice_mask(claim);
      FAIRLEAD_CHECK((d.mig_free_slices & mask) == mask, "MIG slices are taken once");
      d.mig_free_slices &= ~mask;
      d.mig_free_compute -= claim.mig_compute_slices;
    }
    FAIRLEAD_CHECK(d.free_milli >= 0 && d.free_mib >= 0 && d.mig_free_compute >= 0,
                   "a device is never over-committed (I1)");
  }
  for (const CpuClaim& claim : placement.cpus) {
    cells[claim.cell].free_cpu -= claim.cpu.value;
    FAIRLEAD_CHECK(cells[claim.cell].free_cpu >= 0, "a NUMA cell is never over-committed (I1)");
  }
  cpu -= host.cpu;
  memory -= host.memory;
  FAIRLEAD_CHECK(cpu >= 0 && memory >= 0, "a node is never over-committed (I1)");
  for (const auto& [resource, amount] : claims) {
    FAIRLEAD_CHECK(extended_free(resource) >= amount,
                   "an extended resource is never over-committed");
    extended[resource - kFirstExtended] -= amount;
  }
}

void NodeRoom::give(const TaskPlacement& placement, const HostClaim& host,
                    const ExtendedAmounts& claims) {
  for (const DeviceClaim& claim : placement.devices) {
    DeviceState& d = devices[claim.device];
    d.free_milli += static_cast<std::int32_t>(claim.milli.value);
    d.free_mib += claim.memory.value;
    if (claim.mig_start >= 0) {
      d.mig_free_slices |= slice_mask(claim);
      d.mig_free_compute += claim.mig_compute_slices;
    }
  }
  for (const CpuClaim& claim : placement.cpus) cells[claim.cell].free_cpu += claim.cpu.value;
  cpu += host.cpu;
  memory += host.memory;
  for (const auto& [resource, amount] : claims) {
    // A node that has changed since may not have the resource any more.
    const std::size_t position = resource - kFirstExtended;
    if (position >= extended.size()) extended.resize(position + 1, 0);
    extended[position] += amount;
  }
}

}  // namespace fairlead::sched
