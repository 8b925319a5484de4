// Which devices of a node a task gets, by identity (rule 6.3), and the claims that this makes.
//
// Whole devices: inside one NVLink island if one has enough free, in the island that is left with
// least; then the same by PCIe switch, then by NUMA node; lowest position among equals.
// Cost: O(devices²), devices <= 16 in practice. Pure functions.
#pragma once

#include <cstdint>
#include <optional>

#include <boost/container/small_vector.hpp>

#include "sched/decision.h"
#include "sched/state/node_state.h"
#include "sched/state/task_class.h"

namespace fairlead::sched {

using DeviceList = boost::container::small_vector<std::uint16_t, 8>;

// Healthy, of an allowed class, in the right mode.
bool device_eligible(const TaskClass& task, const DeviceState& device);

// The task's share fits on the device now.
bool device_has_room(const TaskClass& task, const DeviceState& device);

// Tasks of a class of portions or memory requests whose share fits on the device, one beside the
// other. Requires: device_eligible().
std::int64_t shares_on(const TaskClass& task, const DeviceState& device);

// How many tasks fit that each need `n` different devices, where device j takes caps[j] of them:
// the largest t with Σ min(t, caps[j]) >= t·n.
using ShareCounts = boost::container::small_vector<std::int64_t, 8>;
std::int64_t tasks_on_distinct(const ShareCounts& caps, std::int64_t n);

// `n` of `free`, as near each other as 6.3 says. Requires: free.size() >= n.
DeviceList nearest_devices(const NodeRoom& room, const DeviceList& free, std::size_t n);

// The claim of a MIG instance on this device, at the first legal start; nullopt if none fits.
std::optional<DeviceClaim> mig_claim(const TaskClass& task, const DeviceState& device);

// The claim of a whole device, a portion or a memory request on this device.
DeviceClaim device_claim(const TaskClass& task, const NodeRoom& room, std::uint16_t device);

}  // namespace fairlead::sched
