#include "specs.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace fairlead::property {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

GpuRequest gpu_of(Choices& c, const Setting& setting) {
  GpuRequest gpu;
  gpu.kind = c.of({GpuRequestKind::kDevices, GpuRequestKind::kDevices, GpuRequestKind::kDevices,
                   GpuRequestKind::kNone, GpuRequestKind::kNone, GpuRequestKind::kPortion,
                   GpuRequestKind::kPortion, GpuRequestKind::kMemory, GpuRequestKind::kMemory,
                   GpuRequestKind::kMig});
  const std::int32_t devices = c.of({1, 1, 1, 2, 2, 3, 4});
  const std::int64_t portion = c.of<std::int64_t>({500, 250, 300, 600, 334, 700, 1, 999});
  const std::int64_t memory =
      c.of<std::int64_t>({8'000, 2'000, 15'360, 5'000, 23'028, 7'680, 40'000, 16'160});
  const bool several = c.chance(150);
  const std::size_t profile = c.below(1000);
  const bool limited = c.chance(80);
  gpu.count = several ? 2 : 1;
  switch (gpu.kind) {
    case GpuRequestKind::kNone:
      gpu.count = 0;
      break;
    case GpuRequestKind::kDevices:
      gpu.count = devices;
      break;
    case GpuRequestKind::kPortion:
      gpu.portion = MilliGpu(portion);
      if (limited) gpu.compute_limit = MilliGpu(1000);
      break;
    case GpuRequestKind::kMemory:
      gpu.memory = MiB(memory);
      break;
    case GpuRequestKind::kMig: {
      const auto with_mig = std::find_if(setting.classes.begin(), setting.classes.end(),
                                         [](const auto& d) { return !d.mig_profiles.empty(); });
      if (with_mig == setting.classes.end()) {
        gpu = {};
        break;
      }
      gpu.mig_profile = with_mig->mig_profiles[profile % with_mig->mig_profiles.size()].name;
      break;
    }
  }
  return gpu;
}

TopologyGoal goal_of(Choices& c, const Setting& setting, std::int64_t permille) {
  const bool within = c.chance(permille);
  const std::size_t within_level = c.below(setting.levels.size() + 1);
  const bool prefer = c.chance(permille / 2);
  const std::size_t prefer_level = c.below(setting.levels.size() + 1);
  TopologyGoal goal;
  goal.fewest_hosts = c.chance(permille / 2);
  const auto name = [&](std::size_t level) {
    return level < setting.levels.size() ? setting.levels[level] : std::string("host");
  };
  if (within) goal.within = name(within_level);
  if (prefer && (!within || prefer_level >= within_level)) goal.prefer = name(prefer_level);
  return goal;
}

RoleSpec role_of(Choices& c, const Setting& setting, std::string name) {
  RoleSpec role;
  role.name = std::move(name);
  role.request.gpu = gpu_of(c, setting);
  role.request.cpu = MilliCpu(c.of<std::int64_t>({1'000, 0, 500, 2'000, 4'000, 8'000}));
  role.request.memory = Bytes(c.of<std::int64_t>({0, 1, 4, 16, 30}) * kGiB);
  if (c.chance(60)) role.request.extended["rdma"] = 1;
  if (c.chance(100)) role.request.numa = NumaPolicy::kRequired;
  if (c.chance(40)) role.constraints.node_types = {"big"};
  const std::size_t device_class = c.below(setting.classes.size());
  if (c.chance(70)) role.constraints.device_classes = {setting.classes[device_class].name};
  if (c.chance(60)) role.constraints.node_selector = {{"zone", "a"}};
  const MatchOperator op = c.of({MatchOperator::kIn, MatchOperator::kNotIn, MatchOperator::kExists,
                                 MatchOperator::kDoesNotExist});
  if (c.chance(40)) {
    MatchTerm term{"zone", op, {}};
    if (op == MatchOperator::kIn || op == MatchOperator::kNotIn) term.values = {"b"};
    role.constraints.affinity = {term};
  }
  if (c.chance(200)) role.constraints.tolerations = {Toleration{"kept", {}, {}}};
  role.count = c.of({1, 1, 1, 2, 2, 3, 4, 6});
  const bool elastic = c.chance(300);
  const std::size_t fewer = c.below(static_cast<std::size_t>(role.count));
  role.min = role.count - (elastic ? 1 + static_cast<std::int32_t>(fewer) : 0);
  role.topology = goal_of(c, setting, 120);
  const bool segments = c.chance(80);
  const std::int32_t segment_size = c.of({2, 1, 3});
  const TopologyGoal segment_goal = goal_of(c, setting, 600);
  if (segments) {
    role.segment_size = segment_size;
    role.segment_topology = segment_goal;
    role.segment_topology.fewest_hosts = false;
  }
  return role;
}

Entitlement gpu_entitlement(Choices& c) {
  Entitlement e;
  e.quota = c.of<std::int64_t>({-1, 1'000, 2'000, 0, 4'000, 500, 3'000});
  e.limit = c.of<std::int64_t>({-1, -1, -1, -1, 4'000, 2'000, 1'000, 3'500, 8'000, 0});
  e.over_quota_weight = c.of<std::int64_t>({1'000, 1'000, 0, 2'000, 500});
  return e;
}

Entitlements entitlements_of(Choices& c) {
  Entitlements out;
  out["gpu"] = gpu_entitlement(c);
  const std::int64_t cpu_quota = c.of<std::int64_t>({4'000, 0, 8'000});
  const std::int64_t cpu_limit = c.of<std::int64_t>({6'000, 2'000, 12'000});
  if (c.chance(150)) out["cpu"].quota = cpu_quota;
  if (c.chance(100)) {
    if (!out.contains("cpu")) out["cpu"] = default_entitlement("cpu");
    out["cpu"].limit = cpu_limit;
  }
  return out;
}

}  // namespace

Setting setting_of(const Genes& genes) {
  Choices c(genes);
  Setting out;
  const std::size_t levels = c.below(3);
  if (levels > 0) out.levels.emplace_back("rack");
  if (levels > 1) out.levels.emplace_back("switch");
  const auto* first = c.of({"V100-16GB", "H100-80GB", "A100-40GB", "T4"});
  const auto* second = c.of({"H100-80GB", "A100-40GB", "V100-16GB", "L40S"});
  out.classes.push_back(*known_device_class(first));
  if (c.chance(500) && std::string(first) != second) {
    out.classes.push_back(*known_device_class(second));
  }
  const bool rated = c.chance(250);
  const std::int64_t rate = c.of<std::int64_t>({2'000, 500, 1'500, 333});
  const bool spare = c.chance(350);
  const bool spread = c.chance(200);
  const bool history = c.chance(100);
  const bool aging = c.chance(100);
  for (const char* name : {"default", "spare"}) {
    PoolSpec pool;
    pool.name = name;
    if (rated) pool.exchange_rates[out.classes.back().name] = rate;
    if (spread) pool.gpu_strategy = pool.cpu_strategy = Strategy::kSpread;
    if (history) pool.k_value_milli = 1'000;
    if (aging) {
      pool.aging_interval = minutes(10);
      pool.aging_max = 60;
    }
    out.pools.push_back(std::move(pool));
    if (!spare) break;
  }
  return out;
}

NodeSpec node_of(const Genes& genes, const Setting& setting, std::size_t n) {
  Choices c(genes);
  NodeSpec node;
  node.name = fmt::format("n{}", n);
  node.pool = setting.pools[c.below(setting.pools.size())].name;
  node.cpu = MilliCpu(c.of<std::int64_t>({8'000, 4'000, 16'000, 2'000, 1'000, 32'000}));
  node.memory = Bytes(c.of<std::int64_t>({32, 64, 16, 8}) * kGiB);
  const std::size_t devices = c.of<std::size_t>({2, 1, 4, 0, 3, 4, 8});
  const std::size_t device_class = c.below(setting.classes.size());
  const bool mixed = c.chance(100);
  const bool cells = c.chance(200);
  const bool islands = c.chance(250);
  const std::size_t island = c.of<std::size_t>({2, 4, 3});
  const bool mig = c.chance(200);
  const bool all_mig = c.chance(500);
  const bool sick = c.chance(80);
  if (cells) {
    node.numa = {{MilliCpu(node.cpu.value / 2)}, {MilliCpu(node.cpu.value - node.cpu.value / 2)}};
  }
  for (std::size_t d = 0; d < devices; ++d) {
    DeviceSpec device;
    device.id = fmt::format("gpu-{}", d);
    const DeviceClass& type =
        setting.classes[mixed && d == 0 ? setting.classes.size() - 1 : device_class];
    device.device_class = type.name;
    if (cells) device.numa = d < devices / 2 ? 0 : 1;
    if (islands) device.nvlink_island = static_cast<std::int32_t>(d / island);
    if (islands) device.pcie_switch = static_cast<std::int32_t>(d / 2);
    device.mig_enabled = mig && !type.mig_profiles.empty() && (all_mig || d == 0);
    if (sick && d == 0) device.health = DeviceHealth::kUnhealthy;
    node.devices.push_back(std::move(device));
  }
  if (c.chance(200)) node.extended["rdma"] = 2;
  if (c.chance(120)) node.taints.push_back(Taint{"kept", "yes", TaintEffect::kNoSchedule});
  const auto* zone = c.of({"a", "b"});
  if (c.chance(400)) node.labels["zone"] = zone;
  if (c.chance(300)) node.node_type = "big";
  const auto* rack = c.of({"r1", "r2", "r1", "r2", "r3", ""});
  const auto* group = c.of({"s1", "s2", "s1", "s2", "s3", ""});
  if (!setting.levels.empty()) node.topology.emplace_back(rack);
  if (setting.levels.size() > 1) node.topology.emplace_back(group);
  if (c.chance(60)) node.schedulable = false;
  if (c.chance(40)) node.ready = false;
  return node;
}

QueueSpec queue_of(const Genes& genes, const Setting& setting, std::size_t n,
                   const std::vector<Placed>& before) {
  Choices c(genes);
  QueueSpec queue;
  queue.name = fmt::format("q{}", n);
  const std::size_t parent = c.below(before.size() + 2);
  if (parent >= 2 && before[parent - 2].depth < 2) queue.parent = before[parent - 2].name;
  return queue_changed(genes, 2, setting, std::move(queue));
}

QueueSpec queue_changed(const Genes& genes, std::size_t from, const Setting& setting,
                        QueueSpec queue) {
  Choices c(genes);
  c.skip_to(from);
  queue.rank = c.of({100, 100, 50, 200});
  queue.windows.clear();
  const std::int32_t opens = c.of({480, 0, 1'440});
  if (c.chance(60)) queue.windows.push_back(TimeWindow{opens, opens + 600});
  for (const PoolSpec& pool : setting.pools) queue.pools[pool.name] = entitlements_of(c);
  const Duration kept = c.of({minutes(1), minutes(5), hours(1), Duration{0}});
  queue.reclaim_min_runtime.reset();
  queue.preempt_min_runtime.reset();
  if (c.chance(150)) queue.reclaim_min_runtime = kept;
  if (c.chance(150)) queue.preempt_min_runtime = kept;
  return queue;
}

WorkloadSpec workload_of(const Genes& genes, std::size_t from, const Setting& setting,
                         std::string name, std::string queue) {
  Choices c(genes);
  c.skip_to(from);
  WorkloadSpec spec;
  spec.name = std::move(name);
  spec.queue = std::move(queue);
  spec.priority = c.of({50, 50, 25, 75, 100});
  spec.preemptibility = c.of({Preemptibility::kPreemptible, Preemptibility::kPreemptible,
                              Preemptibility::kNonPreemptible, Preemptibility::kSemiPreemptible});
  const std::size_t pools = c.below(4);
  if (setting.pools.size() > 1) {
    if (pools == 1) spec.pools = {"default", "spare"};
    if (pools == 2) spec.pools = {"spare"};
    if (pools == 3) spec.pools = {"spare", "default"};
  }
  const std::size_t roles = c.of<std::size_t>({1, 1, 1, 1, 2});
  const bool independent = c.chance(130);
  const std::int32_t completions = c.of({1, 2, 3, 6});
  const std::int32_t parallelism = c.of({1, 2, 3});
  spec.backoff_limit = c.of({6, 0, 1, 2});
  spec.topology = goal_of(c, setting, 120);
  const std::size_t first = from + 14;
  for (std::size_t r = 0; r < roles; ++r) {
    c.skip_to(first + r * 34);
    spec.roles.push_back(role_of(c, setting, r == 0 ? "worker" : "ps"));
  }
  if (independent) {
    spec.roles.resize(1);
    spec.completions = completions;
    spec.parallelism = parallelism;
    spec.roles[0].count = spec.roles[0].min = parallelism;
    spec.roles[0].segment_size = 0;
    spec.roles[0].segment_topology = {};
  }
  return spec;
}

}  // namespace fairlead::property
