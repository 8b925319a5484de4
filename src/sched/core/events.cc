// Deltas that are not about nodes, workloads or their tasks: definitions, queues, mixes.
#include <algorithm>
#include <set>

#include "base/check.h"
#include "sched/core/checks.h"
#include "sched/core/pass.h"

namespace fairlead::sched {

Core::Core(SchedulerOptions options)
    : options_(std::move(options)),
      classes_(resources_, devices_),
      shapes_(classes_),
      queues_(resources_),
      pass_(std::make_unique<Pass>(*this)) {
  resources_.intern("gpu");
  resources_.intern("cpu");
  resources_.intern("memory");
}

Core::~Core() = default;

Result<void> Core::apply(Instant now, const Event& event) {
  FAIRLEAD_CHECK(now >= now_, "time does not go back");
  now_ = now;
  starts_known_ = false;
  Result<void> result = std::visit([this](const auto& e) { return on(e); }, event);
  // 7.7.a: that time passes, or work is saved, is no outside event.
  const bool outside =
      !std::holds_alternative<TimePassed>(event) && !std::holds_alternative<CheckpointSaved>(event);
  if (result && outside) ++outside_events_;
  retire_classes();
  return result;
}

void Core::drop_indices(TaskClassId task_class) {
  for (auto& pool : pools_) pool->placement->drop_index(task_class);
}

// Only between events: within one, classes that nothing holds yet may be in use.
void Core::retire_classes() {
  for (const TaskClassId c : classes_.retire()) drop_indices(c);
}

Result<void> Core::on(const TopologyDefined& e) {
  if (!node_by_name_.empty()) {
    return fail(ErrorCode::kConflict, "topology levels are defined before the first node");
  }
  std::set<std::string> seen;
  for (const std::string& level : e.levels) {
    if (level.empty() || level == "host" || !seen.insert(level).second) {
      return fail(ErrorCode::kInvalidArgument,
                  "topology level '" + level + "' is empty, named twice, or the implied 'host'");
    }
  }
  levels_ = e.levels;
  return {};
}

Result<void> Core::on(const DeviceClassDefined& e) {
  const DeviceClass& c = e.device_class;
  FAIRLEAD_TRY(check_device_class(c));
  if (const DeviceClass* known = devices_.find(c.name)) {
    if (*known == c) return {};
    return fail(ErrorCode::kConflict,
                "device class '" + c.name + "' is defined already, and differently",
                "give the other one a name of its own");
  }
  devices_.define(c);
  classes_.refresh();
  for (auto& pool : pools_) {
    set_rates(*pool);
    if (pool->state().spec.exchange_rates.contains(c.name)) recharge(pool->state().id);
  }
  return {};
}

Result<void> Core::on(const PoolDefined& e) {
  const PoolSpec& spec = e.pool;
  FAIRLEAD_TRY(check_pool(spec));
  FAIRLEAD_ASSIGN(std::unique_ptr<Scorer> scorer, make_scorer(options_.placement, spec));
  PoolId id = find_pool(spec.name);
  if (!id.valid()) {
    id = PoolId(pools_.size());
    pools_.push_back(std::make_unique<PoolCore>(
        std::make_unique<PlacementPool>(id, spec, nodes_, classes_, std::move(scorer),
                                        options_.seed + id.index()),
        UsageHistory(UsageRule(spec)), workloads_, shapes_, classes_));
    pool_by_name_.emplace(spec.name, id);
    queues_.add_pool(id, spec.name);
    set_rates(*pools_.back());
    for (std::size_t i = 0; i < workloads_.slots(); ++i) {
      const WorkloadId w(i);
      if (!workloads_.get(w).alive) continue;
      withdraw_wants(w);  // it may have named the pool before it was there
      refresh_wants(w);
    }
    return {};
  }
  PoolCore& pool = *pools_[id.index()];
  const bool rates_changed = pool.state().spec.exchange_rates != spec.exchange_rates;
  const bool strategy_changed = pool.state().spec.gpu_strategy != spec.gpu_strategy ||
                                pool.state().spec.cpu_strategy != spec.cpu_strategy;
  pool.usage.set_rule(now_, UsageRule(spec));
  for (const NodeId n : pool.members) count_capacity(nodes_[n.index()], -1);
  pool.state().spec = spec;
  set_rates(pool);
  for (const NodeId n : pool.members) count_capacity(nodes_[n.index()], 1);
  if (strategy_changed) pool.placement->replace_scorer(std::move(scorer));
  if (rates_changed) recharge(id);
  pool.share_dirty = true;
  pool.full_pass = true;
  return {};
}

void Core::set_rates(PoolCore& pool) {
  pool.rates.assign(devices_.size(), kMilli);
  for (const auto& [name, rate] : pool.state().spec.exchange_rates) {
    const ClassId c = devices_.id(name);
    if (c.valid()) pool.rates[c.index()] = rate;
  }
}

// Exchange rates changed: what is held and asked counts anew.
void Core::recharge(PoolId pool_id) {
  PoolCore& pool = *pools_[pool_id.index()];
  ++pool.charge_version;
  for (std::size_t i = 0; i < workloads_.slots(); ++i) {
    const WorkloadId id(i);
    WorkloadRecord& w = workloads_.get(id);
    if (!w.alive) continue;
    if (w.pool == pool_id) {
      const Shape& shape = shapes_.get(w.shape);
      for (std::size_t r = 0; r < w.roles.size(); ++r) {
        const TaskClass& task = classes_.get(shape.classes[r]);
        for (TaskSlot& slot : w.roles[r].tasks) {
          if (slot.state != TaskState::kRunning) continue;
          queues_.charge(pool_id, w.queue, amounts(task, slot.charge_gpu), -1, slot.non_preemptible,
                         slot.cost_rate, now_);
          slot.charge_gpu = gpu_charge(pool, task, slot.placement);
          slot.cost_rate = cost_rate(pool, task, slot.placement);
          queues_.charge(pool_id, w.queue, amounts(task, slot.charge_gpu), 1, slot.non_preemptible,
                         slot.cost_rate, now_);
        }
      }
      count_smallest_unit(w);
    }
    if (w.demand_pool == pool_id) refresh_demand(id);
  }
}

Result<void> Core::on(const QueueUpserted& e) {
  const QueueSpec& spec = e.queue;
  FAIRLEAD_TRY(check_queue(spec));
  const QueueId present = queues_.find(spec.name);
  const QueueId old_parent = present.valid() ? queues_.get(present).parent : QueueId{};
  FAIRLEAD_TRY(queues_.upsert(spec, now_));
  if (present.valid() && queues_.get(present).parent != old_parent) {
    for (const auto& pool : pools_) {
      for (const QueueId moved : {old_parent, present}) note_held(pool->state().id, moved);
    }
  }
  for (const auto& [pool, entitlements] : spec.pools) {
    for (const auto& [resource, x] : entitlements) resources_.intern(resource);
    pool_named(pool);
  }
  queues_.refresh_entitlements();
  gates_follow_time_ = false;
  some_min_runtime_ = false;
  for (const QueueId q : queues_.parents_first()) {
    const QueueSpec& s = queues_.get(q).spec;
    gates_follow_time_ = gates_follow_time_ || s.budget || !s.windows.empty();
    some_min_runtime_ = some_min_runtime_ || s.reclaim_min_runtime || s.preempt_min_runtime;
  }
  for (auto& pool : pools_) {
    pool->share_dirty = true;
    pool->full_pass = true;
  }
  return {};
}

Result<void> Core::on(const QueueRemoved& e) {
  const QueueId id = queues_.find(e.queue);
  FAIRLEAD_TRY(queues_.remove(e.queue));
  forget_user(id);
  for (auto& pool : pools_) {
    pool->usage.remove_queue(id.index());
    pool->share_dirty = true;
  }
  return {};
}

Result<void> Core::on(const UsageRestored& e) {
  const PoolId id = find_pool(e.pool);
  if (!id.valid()) return fail(ErrorCode::kNotFound, "there is no pool '" + e.pool + "'");
  std::optional<std::size_t> queue;
  if (!e.queue.empty()) {
    const QueueId named = queues_.find(e.queue);
    if (!named.valid()) return fail(ErrorCode::kNotFound, "there is no queue '" + e.queue + "'");
    queue = named.index();
  }
  PoolCore& pool = *pools_[id.index()];
  FAIRLEAD_TRY(pool.usage.restore(now_, queue, resources_.intern(e.resource).index(), e.state));
  pool.share_dirty = true;
  return {};
}

Result<void> Core::on(const RuntimesRestored& e) {
  const auto bad = [&](const std::string& what) {
    return fail(ErrorCode::kInvalidArgument,
                "runtimes of user '" + e.user + "', template '" + e.template_name + "': " + what);
  };
  if (e.user.empty() && e.template_name.empty()) return bad("neither of them is stated");
  if (e.last.size() > RuntimeHistory::kKept) {
    return bad("there are " + std::to_string(e.last.size()) + "; allowed are " +
               std::to_string(RuntimeHistory::kKept));
  }
  for (const Duration ran : e.last) {
    if (ran.ms < 0 || ran.ms > kMaxInstant.ms) {
      return bad(std::to_string(ran.ms) + " ms is out of range; allowed are 0 to 2^53");
    }
  }
  history_.restore(e.user, e.template_name, e.last);
  return {};
}

std::vector<RuntimesRestored> Core::runtimes() const {
  std::vector<RuntimesRestored> out;
  for (auto& [key, last] : history_.all()) out.push_back({key.first, key.second, std::move(last)});
  return out;
}

std::vector<UsageRestored> Core::usage() const {
  std::vector<UsageRestored> out;
  for (const auto& pool : pools_) {
    const auto add = [&](const std::string& name, std::optional<std::size_t> queue) {
      for (std::size_t r = 0; r < resources_.size(); ++r) {
        std::string state = pool->usage.text(queue, r);
        if (state.empty()) continue;
        out.push_back({pool->state().spec.name, name, resources_.name(Id<struct ResourceTag>(r)),
                       std::move(state)});
      }
    };
    add("", std::nullopt);
    for (const QueueId q : queues_.parents_first()) add(queues_.get(q).spec.name, q.index());
  }
  return out;
}

Result<void> Core::on(const MixStated& e) {
  FAIRLEAD_TRY(check_mix(e));
  std::vector<std::pair<const TaskClass*, std::int64_t>> mix;
  for (const MixStated::Entry& entry : e.entries) {
    mix.emplace_back(&classes_.get(classes_.intern(entry.request, entry.constraints)), entry.count);
  }
  for (auto& pool : pools_) pool->placement->scorer->state_mix(mix);
  return {};
}

std::vector<std::pair<Instant, Event>> events_of(const ClusterSpec& cluster) {
  std::vector<std::pair<Instant, Event>> out;
  Instant start{0};
  for (const WorkloadEntry& w : cluster.workloads) start = std::min(start, w.submitted);
  const auto add = [&](Event e) { out.emplace_back(start, std::move(e)); };
  add(TopologyDefined{cluster.topology_levels});
  for (const DeviceClass& c : cluster.device_classes) add(DeviceClassDefined{c});
  for (const PoolSpec& p : cluster.pools) add(PoolDefined{p});
  for (const NodeSpec& n : cluster.nodes) add(NodeUpserted{n});
  for (const QueueSpec& q : cluster.queues) add(QueueUpserted{q});
  for (const ReservationSpec& r : cluster.reservations) add(ReservationUpserted{r});
  std::vector<const WorkloadEntry*> order;
  for (const WorkloadEntry& w : cluster.workloads) order.push_back(&w);
  std::stable_sort(order.begin(), order.end(), [](const WorkloadEntry* a, const WorkloadEntry* b) {
    return a->submitted < b->submitted;
  });
  for (const bool running : {true, false}) {
    Instant at = start;
    for (const WorkloadEntry* w : order) {
      if (w->running.empty() == running) continue;
      if (running) {
        out.emplace_back(start, WorkloadAdopted{*w});
      } else {
        at = std::max(at, w->submitted);
        out.emplace_back(at, WorkloadSubmitted{w->spec});
      }
    }
  }
  return out;
}

}  // namespace fairlead::sched
