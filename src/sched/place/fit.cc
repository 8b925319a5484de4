#include "sched/place/fit.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "sched/place/device_choice.h"

namespace fairlead::sched {
namespace {

bool tolerates(const Toleration& t, const Taint& taint) {
  return (t.key.empty() || t.key == taint.key) && (!t.value || *t.value == taint.value) &&
         (!t.effect || *t.effect == taint.effect);
}

bool tainted(const TaskClass& task, const NodeSpec& node) {
  return std::any_of(node.taints.begin(), node.taints.end(), [&](const Taint& taint) {
    if (taint.effect == TaintEffect::kPreferNoSchedule) return false;
    return std::none_of(task.constraints.tolerations.begin(), task.constraints.tolerations.end(),
                        [&](const Toleration& t) { return tolerates(t, taint); });
  });
}

std::optional<std::int64_t> to_integer(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool matches(const MatchTerm& term, const Labels& labels) {
  const auto label = labels.find(term.key);
  const bool present = label != labels.end();
  const auto among = [&] {
    return std::find(term.values.begin(), term.values.end(), label->second) != term.values.end();
  };
  switch (term.op) {
    case MatchOperator::kIn:
      return present && among();
    case MatchOperator::kNotIn:
      return !present || !among();
    case MatchOperator::kExists:
      return present;
    case MatchOperator::kDoesNotExist:
      return !present;
    case MatchOperator::kGreater:
    case MatchOperator::kLess: {
      if (!present || term.values.empty()) return false;
      const auto have = to_integer(label->second);
      const auto bound = to_integer(term.values.front());
      if (!have || !bound) return false;
      return term.op == MatchOperator::kGreater ? *have > *bound : *have < *bound;
    }
  }
  return false;
}

// The device's mode is the one that the request needs.
bool mode_fits(const TaskClass& task, const DeviceState& d) {
  return d.mig == (task.gpu_kind == GpuRequestKind::kMig);
}

std::int32_t capped(std::int64_t n) {
  return static_cast<std::int32_t>(std::min<std::int64_t>(n, kMaxSlots));
}

// MIG instances of the class's profile that still fit on the device. Intervals of one length on
// fixed starts: taking the earliest end first gives the most.
std::int64_t mig_instances(const TaskClass& task, const DeviceState& d) {
  std::int64_t n = 0;
  DeviceState copy = d;
  while (const auto claim = mig_claim(task, copy)) {
    copy.mig_free_slices &=
        ~(((std::uint32_t{1} << claim->mig_memory_slices) - 1) << claim->mig_start);
    copy.mig_free_compute -= claim->mig_compute_slices;
    copy.free_mib -= claim->memory.value;
    ++n;
  }
  return n;
}

// Tasks of the class whose share fits on one device, one beside the other.
std::int64_t device_tasks(const TaskClass& task, const DeviceState& d) {
  if (!device_eligible(task, d)) return 0;
  const OnDevice& on = task.on_device[d.device_class.index()];
  switch (task.gpu_kind) {
    case GpuRequestKind::kNone:
      return 0;
    case GpuRequestKind::kDevices:
      return d.untouched() ? 1 : 0;
    case GpuRequestKind::kPortion: {
      const std::int64_t by_milli = d.free_milli / task.milli;
      return on.mib > 0 ? std::min(by_milli, d.free_mib / on.mib) : by_milli;
    }
    case GpuRequestKind::kMemory:
      return d.free_mib / on.mib;
    case GpuRequestKind::kMig:
      return mig_instances(task, d);
  }
  return 0;
}

std::int64_t gpu_slots(const TaskClass& task, const NodeRoom& room) {
  if (task.gpu_count == 1 || task.gpu_kind == GpuRequestKind::kMig ||
      task.gpu_kind == GpuRequestKind::kDevices) {
    std::int64_t sum = 0;
    for (const DeviceState& d : room.devices) sum += device_tasks(task, d);
    return sum / task.gpu_count;
  }
  ShareCounts caps;
  for (const DeviceState& d : room.devices) caps.push_back(device_tasks(task, d));
  return tasks_on_distinct(caps, task.gpu_count);
}

// Classes with cores near their device: place on a copy until no more fit.
std::int64_t numa_slots(const TaskClass& task, NodeRoom room, std::int64_t at_most) {
  std::int64_t n = 0;
  while (n < at_most) {
    const auto placement = choose(task, room, DeviceChoice::kBestFit);
    if (!placement) break;
    room.take(*placement, task.host_claim(), task.extended);
    ++n;
  }
  return n;
}

}  // namespace

std::string_view filter_name(Filter filter) {
  switch (filter) {
    case Filter::kFits:
      return "fits";
    case Filter::kNotReady:
      return "not ready";
    case Filter::kCordoned:
      return "cordoned";
    case Filter::kTaint:
      return "taint";
    case Filter::kNodeType:
      return "node type";
    case Filter::kSelector:
      return "node selector";
    case Filter::kAffinity:
      return "affinity";
    case Filter::kDeviceClass:
      return "device class";
    case Filter::kMigMode:
      return "MIG mode";
    case Filter::kGpu:
      return "gpu";
    case Filter::kCpu:
      return "cpu";
    case Filter::kMemory:
      return "memory";
    case Filter::kExtended:
      return "extended resource";
    case Filter::kNuma:
      return "cores near the GPU";
  }
  return "?";
}

bool reads_labels(const TaskClass& task) {
  return !task.constraints.node_selector.empty() || !task.constraints.affinity.empty();
}

Filter static_filter(const TaskClass& task, const NodeState& node) {
  const Constraints& c = task.constraints;
  if (!node.spec.taints.empty() && tainted(task, node.spec)) return Filter::kTaint;
  if (!c.node_types.empty() && std::find(c.node_types.begin(), c.node_types.end(),
                                         node.spec.node_type) == c.node_types.end()) {
    return Filter::kNodeType;
  }
  for (const auto& [key, value] : c.node_selector) {
    const auto label = node.spec.labels.find(key);
    if (label == node.spec.labels.end() || label->second != value) return Filter::kSelector;
  }
  for (const MatchTerm& term : c.affinity) {
    if (!matches(term, node.spec.labels)) return Filter::kAffinity;
  }
  if (!task.needs_gpu()) {
    // Naming device classes on a CPU-only task asks for a node that has them.
    if (c.device_classes.empty()) return Filter::kFits;
    const bool has =
        std::any_of(node.empty.devices.begin(), node.empty.devices.end(),
                    [&](const auto& d) { return task.on_device[d.device_class.index()].allowed; });
    return has ? Filter::kFits : Filter::kDeviceClass;
  }
  Filter worst = Filter::kDeviceClass;
  for (const DeviceState& d : node.empty.devices) {
    if (!task.on_device[d.device_class.index()].allowed) continue;
    if (mode_fits(task, d)) return Filter::kFits;
    worst = Filter::kMigMode;
  }
  return worst;
}

Fit room_fit(const TaskClass& task, const NodeRoom& room) {
  std::int64_t slots = kMaxSlots;
  if (task.needs_gpu()) {
    slots = std::min(slots, gpu_slots(task, room));
    if (slots <= 0) return {0, Filter::kGpu};
  }
  if (task.cpu > 0) {
    slots = std::min(slots, room.cpu / task.cpu);
    if (slots <= 0) return {0, Filter::kCpu};
  }
  if (task.memory > 0) {
    slots = std::min(slots, room.memory / task.memory);
    if (slots <= 0) return {0, Filter::kMemory};
  }
  for (const auto& [resource, amount] : task.extended) {
    slots = std::min(slots, room.extended_free(resource) / amount);
    if (slots <= 0) return {0, Filter::kExtended};
  }
  if (task.numa_required) {
    slots = numa_slots(task, room, slots);
    if (slots <= 0) return {0, Filter::kNuma};
  }
  return {capped(slots), Filter::kFits};
}

bool counts_exactly(const TaskClass& task) {
  return !task.numa_required || task.gpu_count == 1;
}

Fit fit(const TaskClass& task, const NodeState& node) {
  if (!node.spec.ready) return {0, Filter::kNotReady};
  if (!node.spec.schedulable) return {0, Filter::kCordoned};
  const Filter filter = static_filter(task, node);
  if (filter != Filter::kFits) return {0, filter};
  return room_fit(task, node.free);
}

Fit empty_fit(const TaskClass& task, const NodeState& node) {
  const Filter filter = static_filter(task, node);
  if (filter != Filter::kFits) return {0, filter};
  return room_fit(task, node.empty);
}

}  // namespace fairlead::sched
