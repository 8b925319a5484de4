#include "sim/scenario/spec_printer.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/decimal.h"
#include "sim/scenario/cursor.h"
#include "sim/scenario/lexer.h"
#include "sim/scenario/role_settings.h"
#include "sim/scenario/time_text.h"
#include "sim/scenario/units_text.h"

namespace fairlead::sim {
namespace {

std::string setting(std::string_view key, std::string_view value) {
  const std::string word = word_text(value);
  return fmt::format(" {}={}", key, value.empty() ? "" : word);
}

std::string list(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ",") + item;
  return text;
}

std::string device_attributes(const DeviceSpec& device) {
  std::string text = setting("class", device.device_class);
  if (device.numa != -1) text += fmt::format(" numa={}", device.numa);
  if (device.pcie_switch != -1) text += fmt::format(" pcie={}", device.pcie_switch);
  if (device.nvlink_island != -1) text += fmt::format(" nvlink={}", device.nvlink_island);
  if (device.mig_enabled) text += " mig";
  if (device.health == DeviceHealth::kUnhealthy) text += " unhealthy";
  return text;
}

std::string devices_text(const std::vector<DeviceSpec>& devices) {
  if (devices.empty()) return {};
  bool plain = true;  // gpu-0, gpu-1, …, all alike, nothing known of where they sit
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const DeviceSpec& d = devices[i];
    plain = plain && d.id == fmt::format("gpu-{}", i) && d.numa == -1 && d.pcie_switch == -1 &&
            d.nvlink_island == -1 && d.health == DeviceHealth::kHealthy &&
            d.device_class == devices.front().device_class &&
            d.mig_enabled == devices.front().mig_enabled;
  }
  if (plain) {
    return fmt::format(" gpu={}{}{}", devices.size(),
                       setting("class", devices.front().device_class),
                       devices.front().mig_enabled ? " mig" : "");
  }
  std::string text;
  for (std::size_t i = 0; i < devices.size();) {
    std::size_t end = i + 1;
    const bool counted = devices[i].id == fmt::format("gpu-{}", i);
    while (counted && end < devices.size() && devices[end].id == fmt::format("gpu-{}", end) &&
           device_attributes(devices[end]) == device_attributes(devices[i])) {
      ++end;
    }
    const std::string id =
        end == i + 1 ? word_text(devices[i].id) : fmt::format("gpu-{}..gpu-{}", i, end - 1);
    text += fmt::format("\n  device {}{}", id, device_attributes(devices[i]));
    i = end;
  }
  return text;
}

std::string entitlement_text(const std::string& resource, const Entitlement& e) {
  const Entitlement usual = default_entitlement(resource);
  const std::string prefix = resource == "gpu" ? "" : resource + ".";
  const auto amount = [&](std::int64_t value, const char* unlimited) {
    return value == kUnlimited ? std::string(unlimited) : amount_text(resource, value);
  };
  std::string text = setting(prefix + "quota", amount(e.quota, "unlimited"));
  if (e.limit != usual.limit) text += setting(prefix + "limit", amount(e.limit, "none"));
  if (e.over_quota_weight != usual.over_quota_weight) {
    text += setting(prefix + "weight", decimal_text(e.over_quota_weight, 3));
  }
  return text;
}

std::string goal_text(const TopologyGoal& goal, const std::string& prefix) {
  std::string text;
  if (!goal.within.empty()) text += setting(prefix + "within", goal.within);
  if (!goal.prefer.empty()) text += setting(prefix + "prefer", goal.prefer);
  if (goal.fewest_hosts) text += " " + prefix + "fewest-hosts";
  return text;
}

std::string role_text(const RoleSpec& role, bool counted) {
  std::string text;
  if (counted && role.min == role.count) text += fmt::format(" count={}", role.count);
  if (counted && role.min != role.count) text += fmt::format(" count={}..{}", role.min, role.count);
  text += request_text(role.request, role.constraints);
  text += goal_text(role.topology, "");
  if (role.segment_size > 0) text += fmt::format(" segment={}", role.segment_size);
  return text + goal_text(role.segment_topology, "segment-");
}

const char* kind_text(WorkloadKind kind) {
  switch (kind) {
    case WorkloadKind::kTraining:
      return "training";
    case WorkloadKind::kWorkspace:
      return "workspace";
    case WorkloadKind::kDistributed:
      return "distributed";
    case WorkloadKind::kInference:
      return "inference";
    case WorkloadKind::kExternal:
      return "external";
  }
  return "";
}

const char* preemptibility_text(Preemptibility p) {
  switch (p) {
    case Preemptibility::kPreemptible:
      return "preemptible";
    case Preemptibility::kNonPreemptible:
      return "non-preemptible";
    case Preemptibility::kSemiPreemptible:
      return "semi-preemptible";
  }
  return "";
}

// Where the tasks of a role run: "on n1:0+1 - n2 done n3@-2h".
std::string places_text(const WorkloadEntry& entry, const RoleSpec& role, Instant start) {
  std::map<std::int32_t, std::string> places;
  for (const RunningTask& task : entry.running) {
    if (task.role != role.name) continue;
    std::string place = task.node;
    for (std::size_t i = 0; i < task.devices.size(); ++i) {
      place += (i == 0 ? ":" : "+") + task.devices[i];
    }
    if (task.started) place += "@" + instant_text(*task.started, start);
    places.emplace(task.index, word_text(place));
  }
  for (const SucceededTask& task : entry.succeeded) {
    if (task.role == role.name) places.emplace(task.index, "done");
  }
  std::string text;
  std::int32_t next = 0;
  for (const auto& [index, place] : places) {
    for (; next < index; ++next) text += " -";
    ++next;
    text += " " + place;
  }
  return text.empty() ? text : " on" + text;
}

// `entry` is set for a workload that runs.
std::string whole_text(const WorkloadSpec& spec, const WorkloadEntry* entry, Instant start) {
  std::string text = setting("queue", spec.queue);
  if (spec.kind != WorkloadKind::kTraining) text += fmt::format(" kind={}", kind_text(spec.kind));
  if (spec.priority != default_priority(spec.kind))
    text += fmt::format(" priority={}", spec.priority);
  if (spec.preemptibility != default_preemptibility(spec.priority)) {
    text += fmt::format(" {}", preemptibility_text(spec.preemptibility));
  }
  if (spec.pools != std::vector<std::string>{"default"}) text += setting("pools", list(spec.pools));
  if (spec.completions > 0) {
    text += fmt::format(" completions={} parallelism={}", spec.completions, spec.parallelism);
  }
  if (spec.backoff_limit != 6) text += fmt::format(" backoff-limit={}", spec.backoff_limit);
  if (spec.expected_runtime) text += setting("expected-runtime", to_text(*spec.expected_runtime));
  if (spec.max_runtime) text += setting("max-runtime", to_text(*spec.max_runtime));
  const WorkloadSpec usual;
  if (spec.grace_period != usual.grace_period) text += setting("grace", to_text(spec.grace_period));
  if (spec.staleness_grace_period == kNeverStale) {
    text += setting("stale-grace", "never");
  } else if (spec.staleness_grace_period != usual.staleness_grace_period) {
    text += setting("stale-grace", to_text(spec.staleness_grace_period));
  }
  if (spec.order_key != 0) text += fmt::format(" order={}", spec.order_key);
  if (!spec.user.empty()) text += setting("user", spec.user);
  if (!spec.template_name.empty()) text += setting("template", spec.template_name);
  if (entry != nullptr) {
    text += setting("submitted", instant_text(entry->submitted, start));
    if (entry->started) text += setting("started", instant_text(*entry->started, start));
    if (entry->failures != 0) text += fmt::format(" failures={}", entry->failures);
  }
  text += goal_text(spec.topology, "");
  const bool inline_role = spec.roles.size() == 1 && spec.roles.front().name == "worker" &&
                           spec.roles.front().topology.empty();
  for (const RoleSpec& role : spec.roles) {
    if (!inline_role) text += "\n  role " + word_text(role.name);
    text += role_text(role, spec.completions == 0);
    if (entry != nullptr) text += places_text(*entry, role, start);
  }
  return text;
}

}  // namespace

std::string request_text(const TaskRequest& request, const Constraints& constraints) {
  std::string text;
  const std::string gpu = gpu_text(request.gpu);
  if (!gpu.empty()) text += " " + gpu;
  if (request.gpu.compute_limit) {
    text += setting("gpu-limit", decimal_text(request.gpu.compute_limit->value, 3));
  }
  if (request.gpu.memory_limit) {
    text += fmt::format(" gpu-memory-limit={}", request.gpu.memory_limit->value);
  }
  if (request.cpu.value != 0) text += setting("cpu", decimal_text(request.cpu.value, 3));
  if (request.memory.value != 0) text += setting("memory", memory_text(request.memory.value));
  for (const auto& [name, amount] : request.extended) {
    text += fmt::format(" extra.{}={}", name, amount);
  }
  if (request.numa == NumaPolicy::kRequired) text += " numa=required";
  if (!constraints.node_types.empty()) text += setting("type", list(constraints.node_types));
  if (!constraints.device_classes.empty())
    text += setting("class", list(constraints.device_classes));
  for (const auto& [key, value] : constraints.node_selector) {
    text += setting("selector." + key, value);
  }
  for (const MatchTerm& term : constraints.affinity) text += setting("affinity", term_text(term));
  for (const Toleration& t : constraints.tolerations)
    text += setting("tolerate", toleration_text(t));
  return text;
}

std::string node_text(const NodeSpec& node, const std::vector<std::string>& levels) {
  std::string text;
  if (node.pool != "default") text += setting("pool", node.pool);
  if (!node.node_type.empty()) text += setting("type", node.node_type);
  text += setting("cpu", decimal_text(node.cpu.value, 3));
  text += setting("memory", memory_text(node.memory.value));
  for (std::size_t i = 0; i < levels.size() && i < node.topology.size(); ++i) {
    if (!node.topology[i].empty()) text += setting(levels[i], node.topology[i]);
  }
  if (!node.numa.empty()) {
    std::vector<std::string> cells;
    for (const NumaCell& cell : node.numa) cells.push_back(decimal_text(cell.cpu.value, 3));
    text += setting("cells", list(cells));
  }
  for (const auto& [key, value] : node.labels) text += setting("label." + key, value);
  for (const Taint& taint : node.taints) {
    text += setting("taint", taint.key + (taint.value.empty() ? "" : "=" + taint.value) + ":" +
                                 std::string(effect_text(taint.effect)));
  }
  for (const auto& [name, amount] : node.extended)
    text += fmt::format(" extra.{}={}", name, amount);
  if (!node.ready) text += " down";
  if (!node.schedulable) text += " cordoned";
  return text + devices_text(node.devices);
}

std::string class_text(const DeviceClass& c) {
  std::string text = fmt::format(" memory={}", c.memory.value);
  if (c.mig_compute_slices != 0) text += fmt::format(" mig-compute={}", c.mig_compute_slices);
  if (c.mig_memory_slices != 0) text += fmt::format(" mig-memory={}", c.mig_memory_slices);
  for (const MigProfile& p : c.mig_profiles) {
    text += fmt::format("\n  profile {} compute={} slices={} memory={}", word_text(p.name),
                        p.compute_slices, p.memory_slices, p.memory.value);
    for (std::size_t i = 0; i < p.starts.size(); ++i) {
      text += fmt::format("{}{}", i == 0 ? " starts=" : ",", p.starts[i]);
    }
  }
  return text;
}

std::string pool_text(const PoolSpec& pool) {
  const PoolSpec usual;
  const auto strategy = [](Strategy s) { return s == Strategy::kSpread ? "spread" : "binpack"; };
  std::string text;
  if (pool.gpu_strategy != usual.gpu_strategy) text += setting("gpu", strategy(pool.gpu_strategy));
  if (pool.cpu_strategy != usual.cpu_strategy) text += setting("cpu", strategy(pool.cpu_strategy));
  for (const auto& [name, rate] : pool.exchange_rates) {
    text += setting("rate." + name, decimal_text(rate, 3));
  }
  for (const auto& [name, price] : pool.prices) {
    text += setting("price." + name, decimal_text(price, 3));
  }
  if (pool.k_value_milli != 0) text += setting("k", decimal_text(pool.k_value_milli, 3));
  if (pool.usage_half_life != usual.usage_half_life) {
    text += setting("half-life", to_text(pool.usage_half_life));
  }
  if (pool.usage_window != usual.usage_window) text += " window=tumbling";
  if (pool.usage_window_length != usual.usage_window_length) {
    text += setting("window-length", to_text(pool.usage_window_length));
  }
  if (pool.aging_interval != usual.aging_interval) {
    text += setting("aging", to_text(pool.aging_interval));
  }
  if (pool.aging_max != usual.aging_max) text += fmt::format(" aging-max={}", pool.aging_max);
  if (pool.reservations != usual.reservations)
    text += fmt::format(" reservations={}", pool.reservations);
  if (!pool.consolidate) text += " consolidate=no";
  return text;
}

std::string queue_text(const QueueSpec& queue) {
  std::string text;
  if (!queue.parent.empty()) text += setting("in", queue.parent);
  if (queue.rank != 100) text += fmt::format(" rank={}", queue.rank);
  if (queue.reclaim_min_runtime) {
    text += setting("reclaim-min-runtime", to_text(*queue.reclaim_min_runtime));
  }
  if (queue.preempt_min_runtime) {
    text += setting("preempt-min-runtime", to_text(*queue.preempt_min_runtime));
  }
  if (queue.budget) {
    const char* period = queue.budget->period == BudgetPeriod::kDay     ? "day"
                         : queue.budget->period == BudgetPeriod::kWeek  ? "week"
                         : queue.budget->period == BudgetPeriod::kMonth ? "month"
                                                                        : "total";
    if (queue.budget->gpu_milli_hours) {
      text += fmt::format(" budget={}/{}", decimal_text(*queue.budget->gpu_milli_hours, 3), period);
    }
    if (queue.budget->cost_milli) {
      text += fmt::format(" cost-budget={}/{}", decimal_text(*queue.budget->cost_milli, 3), period);
    }
  }
  if (!queue.windows.empty()) {
    std::vector<std::string> windows;
    for (const TimeWindow& window : queue.windows) windows.push_back(window_text(window));
    text += setting("open", list(windows));
  }
  if (queue.default_expected_runtime) {
    text += setting("default-runtime", to_text(*queue.default_expected_runtime));
  }
  bool first = true;
  for (const auto& [pool, entitlements] : queue.pools) {
    if (!first || pool != "default") text += setting("pool", pool);
    first = false;
    for (const auto& [resource, e] : entitlements) text += entitlement_text(resource, e);
  }
  return text;
}

std::string workload_text(const WorkloadSpec& spec, Instant start) {
  return whole_text(spec, nullptr, start);
}

std::string running_text(const WorkloadEntry& entry, Instant start) {
  return whole_text(entry.spec, &entry, start);
}

}  // namespace fairlead::sim
