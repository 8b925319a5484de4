#include "claims.h"

#include <algorithm>

#include <fmt/format.h>

namespace fairlead::property {
namespace {

using Resources = std::set<std::string>;

// The smallest tasks that may go together (7.4).
struct Unit {
  std::string workload;
  std::string queue;
  std::vector<HeldTask> tasks;
  bool whole = false;
  Resources lacking;  // 7.1.a, on its nodes and behind limits
};

constexpr std::int64_t kEnds = -1'000;
constexpr std::int64_t kPlenty = 1'000'000;  // tasks that ask nothing

std::int64_t of(const Amounts& amounts, const std::string& resource) {
  const auto it = amounts.find(resource);
  return it == amounts.end() ? 0 : it->second;
}

TaskKey key_of(const HeldTask& task) {
  return {task.workload, task.role, task.index};
}

class Brute {
 public:
  Brute(const Claimant& claimant, ClaimRule rule, const Scene& scene)
      : claimant_(claimant),
        rule_(rule),
        scene_(scene),
        spec_(scene.symbols.workloads.at(claimant.workload)),
        path_(upward(spec_.queue, scene.symbols)) {}

  // False if the charge depends on where it lands, or the tasks on cores near devices.
  bool clear() {
    std::set<std::string> types;
    for (const auto& [name, node] : scene_.symbols.nodes) {
      if (node.pool != claimant_.pool) continue;
      for (const DeviceSpec& d : node.devices) types.insert(d.device_class);
    }
    for (const PlacedTask& task : claimant_.tasks) {
      const RoleSpec& role = spec_.roles[task.role];
      if (role.request.numa == NumaPolicy::kRequired) return false;
      const auto n = static_cast<std::size_t>(role.request.gpu.count);
      std::optional<Amounts> charge;
      if (n == 0) charge = charge_of(role, {}, claimant_.pool, scene_.symbols);
      for (const std::string& type : types) {
        if (n == 0) break;
        const Amounts here =
            charge_of(role, std::vector<std::string>(n, type), claimant_.pool, scene_.symbols);
        if (charge && *charge != here) return false;
        charge = here;
      }
      if (!charge) return false;
      for (const auto& [name, amount] : *charge) asked_[name] += amount;
    }
    return true;
  }

  // False once units() met what is not told apart here.
  bool still_clear() const { return clear_; }

  // 7.1: levels, from the claimant's queue up, at which it stays within its share.
  std::size_t reach() const {
    for (std::size_t i = 0; i < path_.size(); ++i) {
      const Amounts held = allocated(scene_.holdings, path_[i], claimant_.pool, scene_.symbols);
      for (const auto& [resource, amount] : asked_) {
        const Entitlement e = entitlement_of(path_[i], claimant_.pool, resource, scene_.symbols);
        if (amount == 0 || e.quota == kUnlimited) continue;
        if (of(held, resource) + amount > share(path_[i], resource)) return i;
      }
    }
    return path_.size();
  }

  // 5.2: whether it passes the quotas whatever of semi-preemptible roles counts.
  bool within_quota() const {
    if (!claimant_.non_preemptible) return true;
    return std::all_of(path_.begin(), path_.end(), [&](const std::string& q) {
      const Amounts held =
          non_preemptible(scene_.holdings, q, claimant_.pool, scene_.symbols).greatest;
      return std::all_of(asked_.begin(), asked_.end(), [&](const auto& ask) {
        const Entitlement e = entitlement_of(q, claimant_.pool, ask.first, scene_.symbols);
        return ask.second == 0 || e.quota == kUnlimited ||
               of(held, ask.first) + ask.second <= e.quota;
      });
    });
  }

  // The victim's queues from its own to that just below the lowest common ancestor.
  std::vector<std::string> compared(const std::string& victim) const {
    std::vector<std::string> out;
    for (const std::string& q : upward(victim, scene_.symbols)) {
      if (std::find(path_.begin(), path_.end(), q) != path_.end()) break;
      out.push_back(q);
    }
    return out;
  }

  // Position on the claimant's path of its queue just below the lowest common ancestor.
  std::size_t meeting(const std::string& victim) const {
    const std::string top = scene_.symbols.queues.at(compared(victim).back()).parent;
    const auto it = std::find(path_.begin(), path_.end(), top);
    return static_cast<std::size_t>(it - path_.begin()) - 1;
  }

  // 7.4.a
  Duration kept(const std::string& victim) const {
    const bool reclaim = rule_ == ClaimRule::kReclaim;
    const std::string from = reclaim ? compared(victim).back() : victim;
    for (const std::string& q : upward(from, scene_.symbols)) {
      const QueueSpec& spec = scene_.symbols.queues.at(q);
      const auto& own = reclaim ? spec.reclaim_min_runtime : spec.preempt_min_runtime;
      if (own) return *own;
    }
    return Duration{0};
  }

  bool reachable(const std::string& workload) const {
    const WorkloadSpec& spec = scene_.symbols.workloads.at(workload);
    if (workload == claimant_.workload) return false;
    if (spec.preemptibility == Preemptibility::kNonPreemptible) return false;
    if (rule_ == ClaimRule::kReclaim) return spec.queue != spec_.queue;
    return spec.queue == spec_.queue &&
           std::max<std::int64_t>(spec.priority, scene_.past.run_priority.at(workload)) <
               spec_.priority;
  }

  // How many tasks of a role run beyond its minimum; kEnds if there are some that would not be
  // wanted again (8.1.a), so that the workload keeps them.
  std::int64_t beyond(const std::string& workload, std::size_t role) const {
    const WorkloadSpec& spec = scene_.symbols.workloads.at(workload);
    std::int64_t n = 0;
    for (const HeldTask& t : scene_.holdings) n += t.workload == workload && t.role == role ? 1 : 0;
    if (spec.independent_tasks()) return n;
    std::vector<std::int64_t> of_role(spec.roles.size(), 0);
    if (const auto it = scene_.past.succeeded.find(workload); it != scene_.past.succeeded.end()) {
      for (const auto& task : it->second) ++of_role[task.first];
    }
    bool over = std::any_of(of_role.begin(), of_role.end(), [](auto k) { return k > 0; });
    for (std::size_t r = 0; r < spec.roles.size(); ++r)
      over = over && of_role[r] >= spec.roles[r].min;
    if (over) return kEnds;
    const std::int64_t done = of_role[role];
    const std::int64_t extras = n - std::max<std::int64_t>(0, spec.roles[role].min - done);
    return done > 0 && extras > 0 ? kEnds : extras;
  }

  std::vector<Unit> units() {
    std::map<std::string, std::vector<HeldTask>> running;
    for (const HeldTask& task : scene_.holdings) {
      if (task.pool == claimant_.pool && reachable(task.workload)) {
        running[task.workload].push_back(task);
      }
    }
    std::vector<Unit> out;
    for (const auto& [name, tasks] : running) {
      const WorkloadSpec& spec = scene_.symbols.workloads.at(name);
      const Duration protects = kept(spec.queue);
      Unit whole{name, spec.queue, tasks, true, {}};
      Instant first = kNever;
      bool taken = false;
      for (const HeldTask& task : tasks) {
        taken = taken || beyond(name, task.role) == kEnds;
        first = std::min(first, scene_.past.started.at(key_of(task)));
        taken = taken || scene_.past.taken.contains(key_of(task));
        if (beyond(name, task.role) <= 0) continue;
        if (spec.preemptibility == Preemptibility::kSemiPreemptible &&
            of(task.charge, "gpu") != of(tasks.front().charge, "gpu"))
          clear_ = false;  // 5.3: which of them is the minimum matters
        if (spec.roles[task.role].segment_size > 0) clear_ = false;  // 8.1: they go as one
        if (scene_.past.started.at(key_of(task)) + protects > scene_.now) continue;
        if (scene_.past.taken.contains(key_of(task))) continue;
        out.push_back({name, spec.queue, {task}, false, {}});
      }
      if (!taken && !spec.independent_tasks() && first + protects <= scene_.now &&
          spec.preemptibility == Preemptibility::kPreemptible) {
        out.push_back(std::move(whole));
      }
    }
    for (Unit& unit : out) {
      for (const HeldTask& task : unit.tasks) unit.lacking.merge(lacking_on(task.node));
      unit.lacking.merge(behind_limits(unit.queue));
    }
    std::erase_if(out, [&](const Unit& unit) { return !useful(unit); });
    return out;
  }

  // 7.1.a
  Resources lacking_on(const std::string& name) {
    const auto known = lacking_.find(name);
    if (known != lacking_.end()) return known->second;
    Resources out;
    const NodeSpec& node = scene_.symbols.nodes.at(name);
    if (node.pool == claimant_.pool && node.ready && node.schedulable) {
      std::set<std::size_t> roles;
      for (const PlacedTask& task : claimant_.tasks) roles.insert(task.role);
      for (const std::size_t role : roles) out.merge(lacking_for(spec_.roles[role], node));
    }
    lacking_.emplace(name, out);
    return out;
  }

  // What a limit keeps out may be taken back below it (7.1.c).
  Resources behind_limits(const std::string& victim) const {
    Resources out;
    for (const std::string& q : upward(victim, scene_.symbols)) {
      if (std::find(path_.begin(), path_.end(), q) == path_.end()) continue;
      const Amounts held = allocated(scene_.holdings, q, claimant_.pool, scene_.symbols);
      for (const auto& [resource, amount] : asked_) {
        const Entitlement e = entitlement_of(q, claimant_.pool, resource, scene_.symbols);
        if (amount > 0 && e.limit != kUnlimited && of(held, resource) + amount > e.limit) {
          out.insert(resource);
        }
      }
    }
    return out;
  }

  // Whether the set may go as a whole; `why` says why not.
  bool legal(const std::vector<const Unit*>& set, std::string* why = nullptr) const {
    const auto no = [&](std::string text) {
      if (why) *why = std::move(text);
      return false;
    };
    std::map<std::pair<std::string, std::size_t>, std::int64_t> extras;
    std::set<std::string> whole;
    for (const Unit* unit : set) {
      if (unit->whole) whole.insert(unit->workload);
    }
    for (const Unit* unit : set) {
      if (unit->whole) continue;
      if (whole.contains(unit->workload)) return no("twice");
      auto& n = extras[{unit->workload, unit->tasks.front().role}];
      n += std::ssize(unit->tasks);
      if (n > beyond(unit->workload, unit->tasks.front().role)) return no("7.4: below its minimum");
    }
    if (rule_ == ClaimRule::kPreempt) return true;
    Resources contested;
    Holdings gone;
    for (const Unit* unit : set) {
      contested.insert(unit->lacking.begin(), unit->lacking.end());
      gone.insert(gone.end(), unit->tasks.begin(), unit->tasks.end());
    }
    const std::size_t reached = reach();
    for (const Unit* unit : set) {
      if (meeting(unit->queue) >= reached) {
        return no(fmt::format("7.1: {} would be above its share", spec_.queue));
      }
      for (const std::string& q : compared(unit->queue)) {
        const Amounts held = allocated(scene_.holdings, q, claimant_.pool, scene_.symbols);
        const Amounts lost = allocated(gone, q, claimant_.pool, scene_.symbols);
        bool through_one = false;
        for (const std::string& resource : contested) {
          const Entitlement e = entitlement_of(q, claimant_.pool, resource, scene_.symbols);
          if (of(lost, resource) == 0 || e.quota == kUnlimited) continue;
          if (of(held, resource) - of(lost, resource) < share(q, resource)) {
            return no(fmt::format("7.1: {} keeps {} of {} and its share is {}", q,
                                  of(held, resource) - of(lost, resource), resource,
                                  share(q, resource)));
          }
          through_one = through_one || (unit->lacking.contains(resource) && gives(*unit, resource));
        }
        if (!through_one) {
          return no(fmt::format("7.1: {} is not above its share of what lacks", q));
        }
      }
    }
    return true;
  }

  Answer fits(const std::vector<const Unit*>& set) const {
    std::set<TaskKey> gone;
    for (const Unit* unit : set) {
      for (const HeldTask& task : unit->tasks) gone.insert(key_of(task));
    }
    Holdings left;
    for (const HeldTask& task : scene_.holdings) {
      if (!gone.contains(key_of(task))) left.push_back(task);
    }
    Question question{&spec_, claimant_.pool, claimant_.running, claimant_.tasks, {}};
    question.gates = [&](const Amounts& asked) {
      return std::all_of(path_.begin(), path_.end(), [&](const std::string& q) {
        const Amounts held = allocated(left, q, claimant_.pool, scene_.symbols);
        return std::all_of(asked.begin(), asked.end(), [&](const auto& ask) {
          const Entitlement e = entitlement_of(q, claimant_.pool, ask.first, scene_.symbols);
          return ask.second == 0 || e.limit == kUnlimited ||
                 of(held, ask.first) + ask.second <= e.limit;
        });
      });
    };
    return solve(question, rooms_of(left, scene_.scheduler, scene_.symbols), scene_.symbols).answer;
  }

 private:
  std::int64_t share(const std::string& queue, const std::string& resource) const {
    return of(scene_.scheduler.queue(queue, claimant_.pool)->fair_share, resource);
  }

  bool gives(const Unit& unit, const std::string& resource) const {
    return std::any_of(unit.tasks.begin(), unit.tasks.end(),
                       [&](const HeldTask& t) { return of(t.charge, resource) > 0; });
  }

  bool useful(const Unit& unit) const {
    return std::any_of(unit.lacking.begin(), unit.lacking.end(),
                       [&](const std::string& resource) { return gives(unit, resource); });
  }

  // How many tasks of the role fit on the node.
  std::int64_t fit_on(const RoleSpec& role, const NodeRoom& room) const {
    const std::int64_t host = by_host(role.request, room);
    if (role.request.gpu.none()) return host;
    if (role.request.gpu.kind != GpuRequestKind::kMig)
      return std::min(host, by_devices(role, room));
    return std::min(host, instances(role, room));
  }

  static std::int64_t by_host(const TaskRequest& request, const NodeRoom& room) {
    std::int64_t n = kPlenty;
    const auto bound = [&](std::int64_t there, std::int64_t asked) {
      if (asked > 0) n = std::min(n, std::max<std::int64_t>(0, there) / asked);
    };
    bound(room.cpu, request.cpu.value);
    bound(room.memory, request.memory.value);
    for (const auto& [name, amount] : request.extended) {
      const auto it = room.extended.find(name);
      bound(it == room.extended.end() ? 0 : it->second, amount);
    }
    return n;
  }

  // Parts of k devices each: n tasks fit if the devices hold n × k parts, of no device more than n.
  static std::int64_t by_devices(const RoleSpec& role, const NodeRoom& room) {
    std::vector<std::int64_t> parts;
    for (const DeviceRoom& device : room.devices) {
      if (!device_allowed(role, device)) continue;
      switch (role.request.gpu.kind) {
        case GpuRequestKind::kPortion: {
          const std::int64_t milli = role.request.gpu.portion.value;
          const std::int64_t mib = milli * device.type->memory.value / 1000;
          parts.push_back(std::min(device.milli / milli, mib > 0 ? device.mib / mib : kPlenty));
          break;
        }
        case GpuRequestKind::kMemory:
          parts.push_back(device.mib / role.request.gpu.memory.value);
          break;
        default:
          parts.push_back(device.untouched() ? 1 : 0);
      }
    }
    std::int64_t n = 0;
    for (std::int64_t sum = 0;; ++n) {
      sum = 0;
      for (const std::int64_t p : parts) sum += std::min(p, n + 1);
      if (sum < (n + 1) * role.request.gpu.count) return n;
    }
  }

  // By trying: no node of these clusters holds as many.
  std::int64_t instances(const RoleSpec& role, const NodeRoom& room) const {
    constexpr std::int64_t kMost = 64;
    WorkloadSpec alone = spec_;
    alone.topology = {};
    alone.roles = {role};
    alone.roles[0].topology = {};
    alone.roles[0].segment_size = 0;
    for (std::int64_t n = 1; n <= kMost; ++n) {
      Question question{&alone, claimant_.pool, {}, {}, [](const Amounts&) { return true; }};
      for (std::int64_t i = 0; i < n; ++i) {
        question.tasks.push_back({0, static_cast<std::int32_t>(i), {}});
      }
      if (solve(question, {room}, scene_.symbols).answer != Answer::kFits) return n - 1;
    }
    return kMost;
  }

  Resources lacking_for(const RoleSpec& role, const NodeSpec& node) const {
    Resources out;
    if (!node_allowed(role, node)) return out;
    NodeRoom room = empty_room(node, scene_.symbols);
    room.cells = {room.cpu};
    if (fit_on(role, room) == 0) return out;  // nor would it if nobody were there
    for (const HeldTask& task : scene_.holdings) {
      if (task.node != node.name) continue;
      take(room, task, scene_.symbols.workloads.at(task.workload).roles[task.role].request);
    }
    room.cells = {room.cpu};
    const std::int64_t n = fit_on(role, room);
    const TaskRequest& request = role.request;
    if (!request.gpu.none()) {
      RoleSpec devices = role;
      devices.request = TaskRequest{};
      devices.request.gpu = request.gpu;
      if (fit_on(devices, room) <= n) out.insert("gpu");
    }
    if (room.cpu < (n + 1) * request.cpu.value) out.insert("cpu");
    if (room.memory < (n + 1) * request.memory.value) out.insert("memory");
    for (const auto& [name, amount] : request.extended) {
      const auto it = room.extended.find(name);
      if ((it == room.extended.end() ? 0 : it->second) < (n + 1) * amount) out.insert(name);
    }
    return out;
  }

  const Claimant& claimant_;
  ClaimRule rule_;
  const Scene& scene_;
  const WorkloadSpec& spec_;
  std::vector<std::string> path_;  // the claimant's queue and its ancestors
  Amounts asked_;
  bool clear_ = true;
  std::map<std::string, Resources> lacking_;
};

Int128 cost_of(const std::vector<const Unit*>& set, const Scene& scene) {
  std::map<TaskKey, Int128> tasks;
  for (const Unit* unit : set) {
    for (const HeldTask& task : unit->tasks) tasks[key_of(task)] = disruption_of(task, scene);
  }
  Int128 sum = 0;
  for (const auto& [key, cost] : tasks) sum += cost;
  return sum;
}

std::string text_of(const std::vector<const Unit*>& set) {
  std::string text;
  for (const Unit* unit : set) {
    text += (text.empty() ? "" : ", ") + unit->workload;
    if (unit->whole) continue;
    text += fmt::format("/{}-{}", unit->tasks.front().role, unit->tasks.front().index);
  }
  return text;
}

}  // namespace

Int128 disruption_of(const HeldTask& task, const Scene& scene) {
  Instant since = scene.past.started.at(key_of(task));
  if (const auto saved = scene.past.saved.find(key_of(task)); saved != scene.past.saved.end())
    since = std::max(since, saved->second);
  const Duration lost = scene.now - since;
  const std::int64_t priority = scene.symbols.workloads.at(task.workload).priority;
  const std::int64_t size = of(task.charge, "gpu") + of(task.charge, "cpu") / 64 + 1;
  return Int128{lost.ms + minutes(1).ms} * size * (1 + std::max<std::int64_t>(0, priority));
}

std::string wrong_with(const std::vector<HeldTask>& victims, const Claimant& claimant,
                       ClaimRule rule, const Scene& scene, Known known) {
  Brute brute(claimant, rule, scene);
  std::map<std::string, std::vector<HeldTask>> by_workload;
  for (const HeldTask& victim : victims) by_workload[victim.workload].push_back(victim);
  for (const auto& [name, tasks] : by_workload) {
    const WorkloadSpec& spec = scene.symbols.workloads.at(name);
    if (!brute.reachable(name)) {
      return fmt::format("{} may not be stopped for {} by this rule", name, claimant.workload);
    }
    std::map<std::size_t, std::int64_t> stopped;
    for (const HeldTask& task : tasks) ++stopped[task.role];
    const bool within = std::all_of(stopped.begin(), stopped.end(), [&](const auto& role) {
      return role.second <= brute.beyond(name, role.first);
    });
    std::size_t runs = 0;
    Instant first = kNever;
    for (const HeldTask& task : scene.holdings) {
      if (task.workload != name) continue;
      ++runs;
      first = std::min(first, scene.past.started.at(key_of(task)));
    }
    if (known == Known::kLittle) continue;
    if (!within && runs != tasks.size()) {
      return fmt::format("7.4: {} loses a part of its minimum", name);
    }
    if (!within && spec.preemptibility == Preemptibility::kSemiPreemptible) {
      return fmt::format("5.3: {} loses its minimum", name);
    }
    for (const HeldTask& task : tasks) {
      if (scene.past.taken.contains(key_of(task))) {
        return fmt::format("7.7: {}/{}-{} is stopped a second time", name, task.role, task.index);
      }
      const Instant started = within ? scene.past.started.at(key_of(task)) : first;
      if (started + brute.kept(spec.queue) > scene.now) {
        return fmt::format("7.4: {}/{}-{} is within its minimum run time", name, task.role,
                           task.index);
      }
    }
  }
  if (known != Known::kAll || rule != ClaimRule::kReclaim || !brute.clear()) return {};
  std::vector<Unit> units;
  for (const auto& [name, tasks] : by_workload) {
    Unit unit{name, tasks.front().queue, tasks, true, {}};
    for (const HeldTask& task : tasks) unit.lacking.merge(brute.lacking_on(task.node));
    unit.lacking.merge(brute.behind_limits(unit.queue));
    units.push_back(std::move(unit));
  }
  std::vector<const Unit*> set;
  for (const Unit& unit : units) set.push_back(&unit);
  std::string why;
  return brute.legal(set, &why) ? std::string() : why;
}

std::optional<Cheapest> cheapest_victims(const Claimant& claimant, ClaimRule rule,
                                         const Scene& scene, std::optional<Int128> below) {
  Brute brute(claimant, rule, scene);
  if (!brute.clear() || !brute.within_quota()) return {};
  if (rule == ClaimRule::kReclaim && brute.reach() == 0) return {};
  const std::vector<Unit> units = brute.units();
  if (!brute.still_clear() || units.empty() || units.size() > kMostUnits) return {};
  std::vector<std::pair<Int128, std::vector<const Unit*>>> sets;
  for (std::uint32_t bits = 1; bits < std::uint32_t{1} << units.size(); ++bits) {
    std::vector<const Unit*> set;
    for (std::size_t i = 0; i < units.size(); ++i) {
      if ((bits >> i & 1) != 0) set.push_back(&units[i]);
    }
    const Int128 cost = cost_of(set, scene);
    if (below && cost >= *below) continue;
    sets.emplace_back(cost, std::move(set));
  }
  std::erase_if(sets, [&](const auto& set) { return !brute.legal(set.second); });
  // What a larger set does not do, no part of it does: the largest first say whether there is any.
  const auto part_of = [](const auto& a, const auto& b) {
    return std::includes(b.second.begin(), b.second.end(), a.second.begin(), a.second.end());
  };
  bool any = false;
  for (const auto& set : sets) {
    const bool largest = std::none_of(sets.begin(), sets.end(), [&](const auto& other) {
      return other.second.size() > set.second.size() && part_of(set, other);
    });
    if (!largest) continue;
    const Answer answer = brute.fits(set.second);
    if (answer == Answer::kUnknown) return {};
    any = any || answer == Answer::kFits;
  }
  if (!any) return {};
  const auto workloads = [](const std::vector<const Unit*>& set) {
    std::set<std::string> names;
    for (const Unit* unit : set) names.insert(unit->workload);
    return names.size();
  };
  std::sort(sets.begin(), sets.end(), [&](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : workloads(a.second) < workloads(b.second);
  });
  for (const auto& [cost, set] : sets) {
    if (brute.fits(set) == Answer::kFits) return Cheapest{cost, workloads(set), text_of(set)};
  }
  return {};
}

}  // namespace fairlead::property
