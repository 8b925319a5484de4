#include "model/cluster_generator_testing.h"

#include <algorithm>

#include "base/decimal.h"

namespace fairlead {
namespace {

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : rng_(seed) {}

  ClusterSpec make(std::int64_t size) {
    ClusterSpec c;
    for (std::int64_t i = 0, n = rng_.between(0, 3); i < n; ++i) {
      c.topology_levels.push_back("level" + std::to_string(i));
    }
    c.device_classes.push_back(*known_device_class("A100-40GB"));
    c.device_classes.push_back(custom_class());
    if (chance(2)) c.pools.push_back(pool("default"));
    c.pools.push_back(pool("second"));
    for (std::int64_t i = 0, n = rng_.between(1, size); i < n; ++i) c.nodes.push_back(node(c, i));
    queues(c, rng_.between(1, size));
    for (std::int64_t i = 0, n = rng_.between(0, size); i < n; ++i) {
      c.workloads.push_back(workload(c, i));
    }
    reservations(c);
    return c;
  }

 private:
  bool chance(std::uint64_t one_in) { return rng_.below(one_in) == 0; }

  template <class T>
  const T& any(const std::vector<T>& items) {
    return items[static_cast<std::size_t>(rng_.below(items.size()))];
  }

  // Text that needs care in YAML.
  std::string text() {
    return any<std::string>(
        {"a",     "",    "16",   "1.5",  "true",      "null", "~",           "a b",
         "a: b",  "- x", "#no",  "x #y", "\"q\"",     "'s'",  "back\\slash", "line\nbreak",
         "tab\t", "ü→x", "{0}",  "[1]",  "*a",        "&b",   "!t",          "%d",
         "@x",    "`",   "0x1f", "1e3",  "<<",        "yes",  " lead",       "trail ",
         "?",     ":",   "-",    "\x7f", "2026-01-01"});
  }

  std::string name() {
    return any<std::string>({"a",    "16",  "1.5", "true", "null",        "~",
                             "a:b",  "-x",  "#no", "x#y",  "back\\slash", "ü→x",
                             "[1]",  "*a",  "&b",  "!t",   "%d",          "@x",
                             "0x1f", "<<",  "?",   ":",    "-",           "licence/matlab",
                             "x,y",  "a=b", "|",   ">"});
  }

  std::int64_t amount() {
    return any<std::int64_t>({0, 1, 500, 999, 1000, 1001, 48'000, 123'456, kMaxAmount});
  }

  Duration duration() {
    return any<Duration>(
        {{0}, {1}, seconds(90), minutes(90), hours(25), hours(24 * 7), {86'399'999}});
  }

  std::optional<Duration> maybe_duration() {
    return chance(2) ? std::optional(duration()) : std::nullopt;
  }

  Labels labels() {
    Labels out;
    for (std::uint64_t i = rng_.below(3); i > 0; --i) out[text()] = text();
    return out;
  }

  ExtendedResources extended() {
    ExtendedResources out;
    for (std::uint64_t i = rng_.below(3); i > 0; --i) out[name()] = rng_.between(0, 1000);
    return out;
  }

  DeviceClass custom_class() {
    DeviceClass c{"own", MiB(rng_.between(1000, 100'000)), 0, 0, {}};
    if (chance(2)) return c;
    c.mig_compute_slices = 7;
    c.mig_memory_slices = 8;
    c.mig_profiles = {MigProfile{"1g", 1, 1, MiB(100), {0, 1, 6}},
                      MigProfile{"7g", 7, 8, MiB(900), {0}}};
    return c;
  }

  PoolSpec pool(std::string pool_name) {
    PoolSpec p;
    p.name = std::move(pool_name);
    p.consolidate = !chance(3);
    if (chance(2)) p.reservations = static_cast<std::int32_t>(rng_.between(0, 1000));
    p.gpu_strategy = chance(2) ? Strategy::kSpread : Strategy::kBinpack;
    p.cpu_strategy = chance(2) ? Strategy::kSpread : Strategy::kBinpack;
    if (chance(2)) p.exchange_rates["own"] = rng_.between(1, 5000);
    if (chance(2)) p.prices["T4"] = rng_.between(0, 1'000'000'000);
    if (chance(2)) p.k_value_milli = rng_.between(0, 3000);
    if (chance(2)) p.usage_half_life = hours(rng_.between(1, 500));
    if (chance(2)) p.usage_window = UsageWindow::kTumbling;
    if (chance(2)) p.usage_window_length = minutes(rng_.between(1, 5000));
    if (chance(2)) {
      p.aging_interval = minutes(rng_.between(1, 5000));
      p.aging_max = static_cast<std::int32_t>(rng_.between(1, 100));
    }
    return p;
  }

  NodeSpec node(const ClusterSpec& c, std::int64_t i) {
    NodeSpec n;
    n.name = "node-" + std::to_string(i);
    if (chance(3)) n.pool = "second";
    if (chance(3)) n.node_type = name();
    n.labels = labels();
    for (std::uint64_t k = rng_.below(3); k > 0; --k) {
      n.taints.push_back({name(), text(), static_cast<TaintEffect>(rng_.below(3))});
    }
    n.memory = Bytes(any<std::int64_t>({0, 1, 1024, std::int64_t{3} << 30, 1'500'000, kMaxBytes}));
    n.extended = extended();
    for (std::uint64_t k = rng_.below(3); k > 0; --k) {
      n.numa.push_back(NumaCell{MilliCpu(rng_.between(0, 100'000))});
      n.cpu += n.numa.back().cpu;
    }
    if (n.numa.empty()) n.cpu = MilliCpu(rng_.between(0, 200'000));
    const bool plain = chance(2);
    for (std::uint64_t k = 0, count = rng_.below(5); k < count; ++k)
      n.devices.push_back(device(n, k, plain));
    for (std::size_t level = 0; level < c.topology_levels.size(); ++level) {
      n.topology.push_back(chance(3) ? "" : "d" + std::to_string(rng_.below(3)));
    }
    n.ready = !chance(4);
    n.schedulable = !chance(4);
    return n;
  }

  DeviceSpec device(const NodeSpec& n, std::uint64_t k, bool plain) {
    DeviceSpec d;
    d.id = "gpu-" + std::to_string(k);
    d.device_class = plain ? "own" : any<std::string>({"own", "A100-40GB"});
    if (plain) return d;
    if (chance(2)) d.id = "GPU-" + std::to_string(k);
    d.numa = static_cast<std::int32_t>(
        rng_.between(-1, std::max<std::int64_t>(0, std::ssize(n.numa) - 1)));
    d.pcie_switch = static_cast<std::int32_t>(rng_.between(-1, 3));
    d.nvlink_island = static_cast<std::int32_t>(rng_.between(-1, 1));
    d.mig_enabled = d.device_class == "A100-40GB" && chance(3);
    if (chance(4)) d.health = DeviceHealth::kUnhealthy;
    return d;
  }

  Entitlements entitlements() {
    Entitlements out;
    for (const char* resource : {"gpu", "cpu", "memory", "rdma"}) {
      if (chance(2)) continue;
      Entitlement& e = out[resource];
      e.quota = chance(4) ? kUnlimited : amount();
      e.limit = chance(2) ? kUnlimited : amount();
      if (chance(2)) e.over_quota_weight = amount();
    }
    return out;
  }

  void queues(ClusterSpec& c, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      QueueSpec q;
      q.name = "q" + std::to_string(i);
      if (i > 0 && chance(2))
        q.parent = "q" + std::to_string(rng_.below(static_cast<std::uint64_t>(i)));
      if (chance(2)) q.rank = static_cast<std::int32_t>(rng_.between(-5, 500));
      for (const char* pool_name : {"default", "second"}) {
        if (chance(2)) q.pools[pool_name] = entitlements();
      }
      q.reclaim_min_runtime = maybe_duration();
      q.preempt_min_runtime = maybe_duration();
      if (chance(3)) {
        Budget b;
        b.period = static_cast<BudgetPeriod>(rng_.below(4));
        b.gpu_milli_hours = amount();
        if (chance(2)) b.cost_milli = amount();
        q.budget = b;
      }
      for (std::uint64_t k = rng_.below(3); k > 0; --k) {
        q.windows.push_back({static_cast<std::int32_t>(rng_.below(7 * 1440)),
                             static_cast<std::int32_t>(rng_.below(7 * 1440))});
        if (chance(2)) q.windows.back().to_minute = q.windows.back().to_minute / 1440 * 1440;
      }
      q.default_expected_runtime = maybe_duration();
      c.queues.push_back(std::move(q));
    }
  }

  void reservations(ClusterSpec& c) {
    for (std::uint64_t i = 0, n = rng_.below(3); i < n; ++i) {
      ReservationSpec r;
      r.name = "kept-" + std::to_string(i);
      const std::string& of_pool = any(c.nodes).pool;
      for (const NodeSpec& node : c.nodes) {
        if (node.pool == of_pool && (r.nodes.empty() || chance(3))) r.nodes.push_back(node.name);
      }
      r.from = Instant{rng_.between(0, 10'000'000)};
      if (chance(2)) r.from = r.from + hours(24 * 365 * 56);
      r.until = r.from + minutes(rng_.between(1, 5000));
      if (chance(2)) r.queues.push_back(any(c.queues).name);
      c.reservations.push_back(std::move(r));
    }
  }

  GpuRequest gpu() {
    GpuRequest g;
    g.kind = static_cast<GpuRequestKind>(rng_.below(5));
    if (g.kind == GpuRequestKind::kNone) return g;
    g.count = static_cast<std::int32_t>(rng_.between(1, 8));
    if (g.kind == GpuRequestKind::kPortion) g.portion = MilliGpu(rng_.between(1, 999));
    if (g.kind == GpuRequestKind::kMemory) g.memory = MiB(rng_.between(1, 80'000));
    if (g.kind == GpuRequestKind::kMig) g.mig_profile = "1g.5gb";
    if (g.kind == GpuRequestKind::kPortion || g.kind == GpuRequestKind::kMemory) {
      if (chance(2))
        g.compute_limit = MilliGpu(rng_.between(std::max<std::int64_t>(1, g.portion.value), 1000));
      if (chance(2))
        g.memory_limit = MiB(rng_.between(std::max<std::int64_t>(1, g.memory.value), 100'000));
    }
    return g;
  }

  TopologyGoal goal(const ClusterSpec& c) {
    std::vector<std::string> levels = c.topology_levels;
    levels.push_back("host");
    TopologyGoal g;
    const std::size_t within = static_cast<std::size_t>(rng_.below(levels.size()));
    if (chance(2)) g.within = levels[within];
    if (chance(2))
      g.prefer = levels[within + static_cast<std::size_t>(rng_.below(levels.size() - within))];
    g.fewest_hosts = chance(2);
    return g;
  }

  Constraints constraints() {
    Constraints k;
    if (chance(3)) k.node_types = {name(), "x"};
    if (chance(3)) k.device_classes = {"own", "T4"};
    k.node_selector = labels();
    if (chance(3)) k.affinity.push_back({name(), MatchOperator::kIn, {text(), text()}});
    if (chance(3)) k.affinity.push_back({name(), MatchOperator::kDoesNotExist, {}});
    if (chance(3)) k.affinity.push_back({name(), MatchOperator::kGreater, {"-16"}});
    if (chance(3))
      k.tolerations.push_back({chance(2) ? "" : name(), std::nullopt, TaintEffect::kNoExecute});
    if (chance(3)) k.tolerations.push_back({name(), text(), std::nullopt});
    return k;
  }

  RoleSpec role(const ClusterSpec& c, std::size_t i) {
    RoleSpec r;
    if (i > 0 || chance(3)) r.name = "role" + std::to_string(i);
    r.count = static_cast<std::int32_t>(rng_.between(1, 20));
    r.min = chance(2) ? r.count : static_cast<std::int32_t>(rng_.between(0, r.count));
    r.request.gpu = gpu();
    r.request.cpu = MilliCpu(rng_.between(0, 9000));
    r.request.memory = Bytes(amount());
    r.request.extended = extended();
    if (chance(3)) r.request.numa = NumaPolicy::kRequired;
    r.constraints = constraints();
    if (chance(3)) r.topology = goal(c);
    if (chance(3)) {
      r.segment_size = static_cast<std::int32_t>(rng_.between(1, r.count));
      r.segment_topology = goal(c);
      if (r.segment_topology.empty()) r.segment_topology.within = "host";
    }
    return r;
  }

  WorkloadEntry workload(const ClusterSpec& c, std::int64_t i) {
    WorkloadEntry entry;
    WorkloadSpec& w = entry.spec;
    w.name = "w" + std::to_string(i);
    std::vector<std::string> leaves;
    for (const QueueSpec& q : c.queues) {
      const bool parent = std::any_of(c.queues.begin(), c.queues.end(),
                                      [&](const QueueSpec& o) { return o.parent == q.name; });
      if (!parent) leaves.push_back(q.name);
    }
    w.queue = any(leaves);
    w.kind = static_cast<WorkloadKind>(rng_.below(5));
    w.priority =
        chance(2) ? default_priority(w.kind) : static_cast<std::int32_t>(rng_.between(-10, 200));
    w.preemptibility = static_cast<Preemptibility>(rng_.below(3));
    if (chance(2)) w.pools = {"second", "default"};
    for (std::size_t k = 0, n = static_cast<std::size_t>(rng_.between(1, 3)); k < n; ++k) {
      w.roles.push_back(role(c, k));
    }
    if (w.roles.size() == 1 && w.roles.front().segment_size == 0 && chance(2)) {
      w.completions = static_cast<std::int32_t>(rng_.between(1, 1000));
      w.parallelism = static_cast<std::int32_t>(rng_.between(1, 50));
      w.roles.front().count = w.parallelism;
      w.roles.front().min = 1;
    }
    if (chance(3)) w.backoff_limit = static_cast<std::int32_t>(rng_.below(10));
    if (chance(3)) w.topology = goal(c);
    if (chance(2)) w.expected_runtime = duration();
    if (chance(2)) w.max_runtime = duration() + hours(200);
    if (chance(3)) w.grace_period = duration();
    if (chance(3)) w.staleness_grace_period = chance(2) ? kNeverStale : duration();
    if (chance(3)) w.order_key = rng_.between(-100, 100);
    if (chance(3)) w.user = name();
    if (chance(3)) w.template_name = name();
    entry.submitted = chance(2) ? Instant{rng_.between(0, 10'000'000)}
                                : Instant{1'769'846'400'000 + rng_.between(0, 1'000'000)};
    if (chance(3)) {
      entry.started = entry.submitted + seconds(rng_.between(0, 100));
      const auto in_pool = std::find_if(c.nodes.begin(), c.nodes.end(), [&](const NodeSpec& n) {
        return n.pool == w.pools.front();
      });
      if (in_pool != c.nodes.end())
        entry.running.push_back({w.roles.front().name, 0, in_pool->name, {}});
      if (!entry.running.empty() && chance(2))
        entry.running.front().started = entry.submitted + seconds(rng_.between(0, 1000));
    }
    const std::int32_t tasks = w.completions > 0 ? w.completions : w.roles.front().count;
    if (tasks > 1 && chance(3)) entry.succeeded.push_back({w.roles.front().name, tasks - 1});
    if (chance(4)) entry.failures = static_cast<std::int32_t>(rng_.between(1, 9));
    return entry;
  }

  Rng rng_;
};

}  // namespace

ClusterSpec random_cluster(std::uint64_t seed, std::int64_t size) {
  return Generator(seed).make(size);
}

}  // namespace fairlead
