#include "model/cluster_printer.h"

#include <algorithm>

#include "base/decimal.h"
#include "model/readers.h"
#include "model/words.h"

namespace fairlead {
namespace {

Tree device_class_tree(const DeviceClass& device_class) {
  const DeviceClass* known = known_device_class(device_class.name);
  if (known != nullptr && *known == device_class) return Tree::string(device_class.name);
  Tree out = Tree::map();
  out.add("name", Tree::string(device_class.name));
  out.add("memory", Tree::string(mib_text(device_class.memory.value)));
  if (device_class.mig_memory_slices == 0) return out;
  Tree& mig = out.add("mig", Tree::map());
  mig.add("computeSlices", Tree::number(device_class.mig_compute_slices));
  mig.add("memorySlices", Tree::number(device_class.mig_memory_slices));
  Tree& profiles = mig.add("profiles", Tree::list());
  for (const MigProfile& profile : device_class.mig_profiles) {
    Tree map = Tree::map();
    map.add("name", Tree::string(profile.name));
    map.add("computeSlices", Tree::number(profile.compute_slices));
    map.add("memorySlices", Tree::number(profile.memory_slices));
    map.add("memory", Tree::string(mib_text(profile.memory.value)));
    Tree& starts = map.add("starts", Tree::list());
    for (const std::int32_t start : profile.starts) starts.push(Tree::number(start));
    profiles.push(std::move(map));
  }
  return out;
}

void add_milli_map(const std::map<std::string, std::int64_t>& map, std::string key, Tree& out) {
  if (map.empty()) return;
  Tree& added = out.add(std::move(key), Tree::map());
  for (const auto& [name, milli] : map) added.add(name, Tree::number(decimal_text(milli, 3)));
}

}  // namespace

Tree pool_tree(const PoolSpec& pool) {
  const PoolSpec usual;
  Tree out = Tree::map();
  out.add("name", Tree::string(pool.name));
  if (pool.gpu_strategy != usual.gpu_strategy || pool.cpu_strategy != usual.cpu_strategy) {
    Tree& strategy = out.add("strategy", Tree::map());
    strategy.add("gpu", Tree::string(word_of<Strategy>(words::kStrategies, pool.gpu_strategy)));
    strategy.add("cpu", Tree::string(word_of<Strategy>(words::kStrategies, pool.cpu_strategy)));
  }
  add_milli_map(pool.exchange_rates, "exchangeRates", out);
  add_milli_map(pool.prices, "prices", out);
  Tree usage = Tree::map();
  if (pool.k_value_milli != 0) usage.add("k", Tree::number(decimal_text(pool.k_value_milli, 3)));
  if (pool.usage_half_life != usual.usage_half_life) {
    usage.add("halfLife", Tree::string(to_text(pool.usage_half_life)));
  }
  if (pool.usage_window != usual.usage_window) {
    usage.add("window",
              Tree::string(word_of<UsageWindow>(words::kUsageWindows, pool.usage_window)));
  }
  if (pool.usage_window_length != usual.usage_window_length) {
    usage.add("windowLength", Tree::string(to_text(pool.usage_window_length)));
  }
  if (!usage.empty()) out.add("usage", std::move(usage));
  if (pool.aging_interval != usual.aging_interval || pool.aging_max != usual.aging_max) {
    Tree& aging = out.add("aging", Tree::map());
    aging.add("interval", Tree::string(to_text(pool.aging_interval)));
    aging.add("max", Tree::number(pool.aging_max));
  }
  if (pool.reservations != usual.reservations)
    out.add("reservations", Tree::number(pool.reservations));
  if (!pool.consolidate) out.add("consolidate", Tree::boolean(false));
  return out;
}

namespace {

Tree device_tree(const DeviceSpec& device) {
  Tree out = Tree::map();
  out.add("id", Tree::string(device.id));
  out.add("class", Tree::string(device.device_class));
  if (device.numa >= 0) out.add("numa", Tree::number(device.numa));
  if (device.pcie_switch >= 0) out.add("pcieSwitch", Tree::number(device.pcie_switch));
  if (device.nvlink_island >= 0) out.add("nvlinkIsland", Tree::number(device.nvlink_island));
  if (device.mig_enabled) out.add("mig", Tree::boolean(true));
  if (device.health != DeviceHealth::kHealthy) {
    out.add("health", Tree::string(word_of<DeviceHealth>(words::kHealth, device.health)));
  }
  return out;
}

// "8 x T4" where the devices are alike and numbered as the reader would number them.
Tree devices_tree(const std::vector<DeviceSpec>& devices) {
  bool alike = true;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    DeviceSpec plain;
    plain.id = "gpu-" + std::to_string(i);
    plain.device_class = devices.front().device_class;
    alike = alike && devices[i] == plain;
  }
  if (alike && !devices.front().device_class.empty()) {
    return Tree::string(std::to_string(devices.size()) + " x " + devices.front().device_class);
  }
  Tree out = Tree::list();
  for (const DeviceSpec& device : devices) out.push(device_tree(device));
  return out;
}

Tree node_tree(const NodeSpec& node) {
  Tree out = Tree::map();
  out.add("name", Tree::string(node.name));
  if (node.pool != "default") out.add("pool", Tree::string(node.pool));
  if (!node.node_type.empty()) out.add("nodeType", Tree::string(node.node_type));
  if (!node.labels.empty()) {
    Tree& labels = out.add("labels", Tree::map());
    for (const auto& [key, value] : node.labels) labels.add(key, Tree::string(value));
  }
  if (!node.taints.empty()) {
    Tree& taints = out.add("taints", Tree::list());
    for (const Taint& taint : node.taints) {
      Tree map = Tree::map();
      map.add("key", Tree::string(taint.key));
      if (!taint.value.empty()) map.add("value", Tree::string(taint.value));
      map.add("effect", Tree::string(word_of<TaintEffect>(words::kTaintEffects, taint.effect)));
      taints.push(std::move(map));
    }
  }
  if (node.cpu.value != 0) out.add("cpu", Tree::number(cpu_text(node.cpu.value)));
  if (node.memory.value != 0) out.add("memory", Tree::string(bytes_text(node.memory.value)));
  if (!node.extended.empty()) {
    Tree& extended = out.add("resources", Tree::map());
    for (const auto& [name, amount] : node.extended) extended.add(name, Tree::number(amount));
  }
  if (!node.numa.empty()) {
    Tree& numa = out.add("numa", Tree::list());
    for (const NumaCell& cell : node.numa) numa.push(Tree::number(cpu_text(cell.cpu.value)));
  }
  if (!node.devices.empty()) out.add("gpus", devices_tree(node.devices));
  const bool placed = std::any_of(node.topology.begin(), node.topology.end(),
                                  [](const std::string& domain) { return !domain.empty(); });
  if (placed) out.add("topology", Tree::strings(node.topology));
  if (!node.ready) out.add("ready", Tree::boolean(false));
  if (!node.schedulable) out.add("schedulable", Tree::boolean(false));
  return out;
}

Tree amount_tree(std::int64_t amount, const std::string& resource) {
  if (amount == kUnlimited) return Tree::string("unlimited");
  if (resource == "gpu" || resource == "cpu") return Tree::number(decimal_text(amount, 3));
  if (resource == "memory") return Tree::string(bytes_text(amount));
  return Tree::number(amount);
}

void add_entitlements(const Entitlements& entitlements, Tree& out) {
  if (entitlements.empty()) return;
  Tree& quota = out.add("quota", Tree::map());
  Tree limit = Tree::map();
  Tree weight = Tree::map();
  for (const auto& [resource, entitlement] : entitlements) {
    quota.add(resource, amount_tree(entitlement.quota, resource));
    if (entitlement.limit != kUnlimited) {
      limit.add(resource, amount_tree(entitlement.limit, resource));
    }
    if (entitlement.over_quota_weight != kMilli) {
      weight.add(resource, Tree::number(decimal_text(entitlement.over_quota_weight, 3)));
    }
  }
  if (!limit.empty()) out.add("limit", std::move(limit));
  if (!weight.empty()) out.add("overQuotaWeight", std::move(weight));
}

void add_budget(const Budget& budget, Tree& out) {
  Tree& map = out.add("budget", Tree::map());
  map.add("period", Tree::string(word_of<BudgetPeriod>(words::kBudgetPeriods, budget.period)));
  if (budget.gpu_milli_hours) {
    map.add("gpuHours", Tree::number(decimal_text(*budget.gpu_milli_hours, 3)));
  }
  if (budget.cost_milli) map.add("cost", Tree::number(decimal_text(*budget.cost_milli, 3)));
}

}  // namespace

// Since the start of the trace, or a date.
Tree instant_tree(Instant t) {
  constexpr Duration kTenYears = hours(24 * 3650);
  if (t.ms >= 0 && t.ms < kTenYears.ms) return Tree::string(to_text(Duration{t.ms}));
  return Tree::string(to_rfc3339(t));
}

Tree reservation_tree(const ReservationSpec& reservation) {
  Tree out = Tree::map();
  out.add("name", Tree::string(reservation.name));
  out.add("nodes", Tree::strings(reservation.nodes));
  out.add("from", instant_tree(reservation.from));
  out.add("until", instant_tree(reservation.until));
  if (!reservation.queues.empty()) out.add("for", Tree::strings(reservation.queues));
  return out;
}

Tree queue_tree(const QueueSpec& queue) {
  Tree out = Tree::map();
  out.add("name", Tree::string(queue.name));
  if (!queue.parent.empty()) out.add("parent", Tree::string(queue.parent));
  if (queue.rank != 100) out.add("rank", Tree::number(queue.rank));
  Tree pools = Tree::map();
  for (const auto& [pool, entitlements] : queue.pools) {
    if (pool == "default" && !entitlements.empty()) {
      add_entitlements(entitlements, out);
    } else {
      add_entitlements(entitlements, pools.add(pool, Tree::map()));
    }
  }
  if (!pools.empty()) out.add("pools", std::move(pools));
  if (queue.reclaim_min_runtime) {
    out.add("reclaimMinRuntime", Tree::string(to_text(*queue.reclaim_min_runtime)));
  }
  if (queue.preempt_min_runtime) {
    out.add("preemptMinRuntime", Tree::string(to_text(*queue.preempt_min_runtime)));
  }
  if (queue.budget) add_budget(*queue.budget, out);
  if (!queue.windows.empty()) {
    Tree& windows = out.add("windows", Tree::list());
    for (const TimeWindow& window : queue.windows) windows.push(Tree::string(window_text(window)));
  }
  if (queue.default_expected_runtime) {
    out.add("defaultExpectedRuntime", Tree::string(to_text(*queue.default_expected_runtime)));
  }
  return out;
}

namespace {

template <class Items, class Print>
void add_list(const Items& items, std::string key, Print print, Tree& out) {
  if (items.empty()) return;
  Tree& list = out.add(std::move(key), Tree::list());
  for (const auto& item : items) list.push(print(item));
}

}  // namespace

void add_cluster_fields(const ClusterSpec& cluster, Tree& map) {
  if (!cluster.topology_levels.empty()) {
    map.add("topology", Tree::strings(cluster.topology_levels));
  }
  add_list(cluster.device_classes, "deviceClasses", device_class_tree, map);
  add_list(cluster.pools, "pools", pool_tree, map);
  add_list(cluster.nodes, "nodes", node_tree, map);
  add_list(cluster.queues, "queues", queue_tree, map);
  add_list(cluster.reservations, "reservations", reservation_tree, map);
  add_list(
      cluster.workloads, "workloads",
      [](const WorkloadEntry& entry) { return workload_tree(entry); }, map);
}

Tree cluster_tree(const ClusterSpec& cluster) {
  Tree out = Tree::map();
  out.add("apiVersion", Tree::string("fairlead/v1"));
  out.add("kind", Tree::string("Cluster"));
  add_cluster_fields(cluster, out);
  return out;
}

}  // namespace fairlead
