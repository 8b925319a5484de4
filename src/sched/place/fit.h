// Fit: how many tasks of a class a node takes, which filter turns it away, and which devices and
// cores a task gets there (rules 6.1, 6.3, 2.1 to 2.6).
//
// fit() and choose() agree: choose() succeeds exactly when fit() counts at least one, and placing
// fit().slots tasks one after the other with choose() succeeds every time.
// Cost: O(devices) for most classes; classes that need cores near their device try placements on a
// copy. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sched/decision.h"
#include "sched/state/node_state.h"
#include "sched/state/task_class.h"

namespace fairlead::sched {

// In the order in which they are applied. Those up to kMigMode do not depend on what is free.
enum class Filter : std::uint8_t {
  kFits,
  kNotReady,
  kCordoned,
  kTaint,
  kNodeType,
  kSelector,
  kAffinity,
  kDeviceClass,  // no device of an allowed class with enough memory
  kMigMode,      // devices of the class are not in the mode that is asked
  kGpu,
  kCpu,
  kMemory,
  kExtended,
  kNuma,  // GPUs and cores are there, but not near each other
};
inline constexpr std::size_t kFilterCount = 14;

std::string_view filter_name(Filter filter);  // "not ready", "gpu", …

struct Fit {
  std::int32_t slots = 0;
  Filter rejected_by = Filter::kFits;  // kFits when slots > 0
};

// Whether labels of a node matter to the class.
bool reads_labels(const TaskClass& task);

// Filters that depend on labels, taints and hardware alone, without ready and cordoned.
Filter static_filter(const TaskClass& task, const NodeState& node);

// Tasks of the class that fit into `room` one beside the other, labels and taints apart.
// At most `kMaxSlots`.
Fit room_fit(const TaskClass& task, const NodeRoom& room);
inline constexpr std::int32_t kMaxSlots = 60'000;

// Whether the slots are the most that fit. Of tasks of several devices that need cores near them
// they are what placing one after the other finds.
bool counts_exactly(const TaskClass& task);

Fit fit(const TaskClass& task, const NodeState& node);

// As many as would fit if the node were ready and empty.
Fit empty_fit(const TaskClass& task, const NodeState& node);

// How devices for fractions are chosen among those that fit.
enum class DeviceChoice : std::uint8_t {
  kBestFit,   // the one with least compute free, then least memory free
  kWorstFit,  // the one with most free ("spread")
};

// Devices and cores for one task; role, index and node of the result are left to the caller.
// `preferred_device` (>= 0) is taken for a one-device fraction if it fits.
std::optional<TaskPlacement> choose(const TaskClass& task, const NodeRoom& room,
                                    DeviceChoice choice, std::int32_t preferred_device = -1);

}  // namespace fairlead::sched
