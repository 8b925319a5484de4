// What an event must satisfy by itself, before the core looks at its state: every number within
// bounds, so that sums and products further on cannot overflow, and names that mean one thing.
//
// An error names the field, its value and what is allowed. Cost: O(the event).
#pragma once

#include <string>

#include "base/result.h"
#include "sched/event.h"

namespace fairlead::sched {

// Tasks of a workload, and of a role.
inline constexpr std::int32_t kMostTasks = 1'000'000;
// Sums of an amount over all nodes, or over what a queue holds and asks.
inline constexpr std::int64_t kMostInAll = std::int64_t{1} << 61;

// Times that are told, either way of the epoch: 285,000 years.
inline constexpr Instant kMaxInstant{std::int64_t{1} << 53};

Result<void> check_device_class(const DeviceClass& device_class);
Result<void> check_pool(const PoolSpec& pool);
Result<void> check_node(const NodeSpec& node);
Result<void> check_queue(const QueueSpec& queue);
// Numbers and roles of a workload; names that it refers to are left to the core.
Result<void> check_workload(const WorkloadSpec& spec);
// An order key needs no bounds: it is only compared.
Result<void> check_priority(const std::string& workload, std::int32_t priority);
Result<void> check_reservation(const ReservationSpec& reservation);
Result<void> check_mix(const MixStated& mix);

}  // namespace fairlead::sched
