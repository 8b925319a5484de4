// One decision: a pass over each pool in which something may have become possible.
#include <algorithm>

#include "base/check.h"
#include "sched/core/pass.h"

namespace fairlead::sched {
namespace {

// How often within one decision plans may change what can start. Each time a promise moves ahead or
// is made anew, so that it ends by itself; the bound keeps a decision short.
constexpr int kMostPlanRounds = 16;

}  // namespace

// Time moved: back-offs end, windows open, budgets renew, priorities age.
void Core::wake() {
  while (!backing_off_.empty() && backing_off_.top().first <= now_) {
    const WorkloadId id = backing_off_.top().second;
    backing_off_.pop();
    const WorkloadRecord& w = workloads_.get(id);
    if (!w.alive || w.retry_at > now_ || !w.entries.empty()) continue;
    refresh_wants(id);
  }
  if (now_ == last_decided_) return;
  for (auto& pool : pools_) {
    if (gates_follow_time_) pool->full_pass = true;
    if (pool->state().spec.k_value_milli > 0) pool->share_dirty = true;
    rekey_aged(pool->state().id);
  }
}

Stopped Core::stop_of(WorkloadId id, StopCause cause) const {
  const WorkloadRecord& w = workloads_.get(id);
  Stopped out;
  out.workload = id;
  out.cause = cause;
  out.grace = w.grace_period;
  out.submitted = w.submitted;
  return out;
}

// 8.3
void Core::note_staleness(WorkloadId id, bool below) {
  WorkloadRecord& w = workloads_.get(id);
  if (below == (w.stale_at != kNever) || (below && w.staleness_grace_period == kNeverStale)) return;
  if (w.stale_at != kNever) stale_.erase({w.stale_at, id});
  w.stale_at = below ? now_ + w.staleness_grace_period : kNever;
  if (below) stale_.emplace(w.stale_at, id);
}

// 8.3: gangs whose time below their minimum is over go whole, and wait again.
void Core::stop_stale() {
  while (!stale_.empty() && stale_.begin()->first <= now_) {
    const WorkloadId id = stale_.begin()->second;
    const WorkloadRecord& w = workloads_.get(id);
    const Shape& shape = shapes_.get(w.shape);
    Stopped stopped = stop_of(id, StopCause::kStale);
    stopped.text = "ran below its minimum for " + to_text(w.staleness_grace_period) + " (8.3)";
    for (std::size_t r = 0; r < w.roles.size(); ++r) {
      const RoleProgress& progress = w.roles[r];
      const std::int32_t minimum = shape.roles[r].min - progress.succeeded;
      if (progress.running < minimum) {
        stopped.text += "; of " + shape.roles[r].name + " " + std::to_string(progress.running) +
                        " of " + std::to_string(minimum) + " ran";
      }
      for (std::size_t i = 0; i < progress.tasks.size(); ++i) {
        if (progress.tasks[i].state != TaskState::kRunning) continue;
        stopped.tasks.emplace_back(static_cast<std::int32_t>(r), static_cast<std::int32_t>(i));
      }
    }
    note_staleness(id, false);
    withdraw_wants(id);
    stop_all(id);
    decisions_.push_back(std::move(stopped));
    after_change(id);
  }
}

void Core::divide(PoolCore& pool) {
  if (!pool.share_dirty) return;
  pool.share_dirty = false;
  std::vector<std::vector<std::int64_t>> usage;
  if (pool.state().spec.k_value_milli > 0) {
    usage.assign(resources_.size(), std::vector<std::int64_t>(queues_.size(), 0));
    for (std::size_t r = 0; r < usage.size(); ++r) {
      for (std::size_t q = 0; q < queues_.size(); ++q)
        usage[r][q] = pool.usage.usage_ppb(now_, q, r);
    }
  }
  const bool changed = queues_.divide(pool.state().id, pool.state().capacity,
                                      pool.state().spec.k_value_milli, usage);
  if (!changed) return;
  pool.rights_changed = true;
  ++pool.claims_version;
  pool.claims_due = true;
}

// Starts what fits into free room.
void Core::serve_all() {
  // Beyond some number of fresh buckets a pass over all costs less than one over them.
  constexpr std::size_t kMostFresh = 64;
  struct Turn {
    PoolId pool;
    Pass::Scope scope;
    std::vector<BucketId> fresh;
  };
  // 6.1.a: a pool comes after those that its workloads would rather have. Where these orders run in
  // a circle, what was held back by that is tried at the end.
  std::vector<Turn> again;
  done_.assign(pools_.size(), false);
  for (const PoolId id : pending_.pool_order(pools_.size())) {
    PoolCore& pool = *pools_[id.index()];
    Turn turn{id, Pass::Scope::kFresh, pending_.take_fresh(id)};
    if (pool.full_pass || turn.fresh.size() > kMostFresh) turn.scope = Pass::Scope::kAll;
    // Whatever opens a gate or gives room may help a claim that was in vain.
    if (pool.full_pass) ++pool.claims_version;
    pool.full_pass = false;
    if (turn.scope == Pass::Scope::kAll || !turn.fresh.empty()) {
      pool.claims_due = true;
      pool.fresh_claims.insert(pool.fresh_claims.end(), turn.fresh.begin(), turn.fresh.end());
      ensure_ordered(pool);
      if (pass_->run(pool, turn.scope, Pass::Claims::kNo, turn.fresh, done_))
        again.push_back(std::move(turn));
    }
    done_[id.index()] = true;
  }
  for (const Turn& turn : again)
    pass_->run(*pools_[turn.pool.index()], turn.scope, Pass::Claims::kNo, turn.fresh, done_);
}

std::vector<Decision> Core::decide(Instant now) {
  FAIRLEAD_CHECK(now >= now_, "time does not go back");
  now_ = now;
  starts_known_ = false;
  wake();
  stop_stale();
  deciding_ = true;
  // In all pools first: of a node that moved, what runs may be of another pool.
  for (auto& pool : pools_) extend_overruns(*pool);
  for (auto& pool : pools_) keep_plans(*pool);
  // What is taken back may leave room for others, and those it was taken from wait again. So may
  // what was reserved and is not any more.
  int plan_rounds = 0;
  for (bool again = true; again;) {
    pass_->begin();
    serve_all();
    again = claim_all();
    for (auto& pool : pools_) {
      const bool planned = !pool->timeline.reservations().empty();
      if (planned) divide(*pool);  // who may pass depends on shares
      const bool rights = std::exchange(pool->rights_changed, false) && planned;
      const bool plans = std::exchange(pool->plans_changed, false);
      if (!again && !rights && !plans && !pool->full_pass) continue;
      keep_plans(*pool);
      pool->full_pass = pool->full_pass || rights;
      again = again || rights || (pool->full_pass && plan_rounds++ < kMostPlanRounds);
    }
  }
  for (auto& pool : pools_) pool->timeline.show_all();
  deciding_ = false;
  last_decided_ = now_;
  retire_classes();
  return std::exchange(decisions_, {});
}

Instant Core::next_wakeup() {
  Instant next = backing_off_.empty() ? kNever : backing_off_.top().first;
  if (!stale_.empty()) next = std::min(next, stale_.begin()->first);
  for (const auto& pool : pools_)
    next = std::min({next, pool->unprotected_at, pool->put_off_until, next_plan(*pool)});
  if (gates_follow_time_) {
    for (const QueueId q : queues_.parents_first()) {
      if (queues_.leaf(q) && queues_.get(q).workloads > 0) {
        next = std::min(next, next_gate_change(queues_, q, now_));
      }
    }
  }
  return next;
}

// How many nodes may change before a start of it might find no room, judged by each class alone;
// −1 if there is none now, or there was none when last tried and nothing was released since.
// Cost: O(classes of the requirement) beside catching up.
std::int64_t Core::room_margin(PoolCore& pool, RequirementId id) {
  const Requirement& requirement = pending_.requirement(id);
  std::uint64_t& failed_at = pending_.requirement(id).in(pool.state().id).failed_at;
  if (failed_at == pool.state().release_version) return -1;
  std::int64_t margin = INT64_MAX / 2;
  for (const auto& [task_class, tasks] : requirement.needs) {
    const ClassIndex& index = pool.placement->index(task_class);
    if (index.total() < tasks) {
      failed_at = pool.state().release_version;
      return -1;
    }
    const std::int64_t most = std::max<std::int64_t>(1, index.most_on_a_node());
    margin = std::min(margin, (index.total() - tasks) / most);
  }
  return margin;
}

Goal Core::compile(const PoolCore& pool, const TopologyGoal& goal) const {
  const auto level = [&](const std::string& name) -> Level {
    if (name.empty()) return kWholePool;
    if (name == "host") return pool.state().host_level();
    return static_cast<Level>(std::find(levels_.begin(), levels_.end(), name) - levels_.begin());
  };
  return {level(goal.within), level(goal.prefer), goal.fewest_hosts};
}

namespace {

// The range that a goal confines further tasks to, given one that runs. The whole pool if it does
// not.
SlotRange pin(const PoolCore& pool, const Goal& goal, const NodeState& node) {
  if (goal.within == kWholePool || node.pool != pool.state().id) return pool.state().all();
  const SlotRange range = pool.state().domain_of(goal.within, node.slot);
  // In no domain of the level: nothing else can be in one with it.
  return range.size() > 0 ? range : SlotRange{node.slot, node.slot + 1};
}

}  // namespace

// Where the workload's next tasks may lie, best first: all of the pool, or near what runs already.
std::vector<SlotRange> Core::ranges_for(PoolCore& pool, const WorkloadRecord& w,
                                        const Shape& shape) const {
  const Goal goal = compile(pool, shape.topology);
  if (w.running == 0 || (goal.within == kWholePool && goal.prefer == kWholePool)) {
    return {pool.state().all()};
  }
  for (const RoleProgress& progress : w.roles) {
    for (const TaskSlot& slot : progress.tasks) {
      if (slot.state != TaskState::kRunning) continue;
      const NodeState& node = nodes_[slot.placement.node.index()];
      std::vector<SlotRange> out;
      Goal near = goal;
      near.within = std::max(goal.within, goal.prefer);
      out.push_back(pin(pool, near, node));
      const SlotRange wide = pin(pool, goal, node);
      if (wide != out.front()) out.push_back(wide);
      return out;
    }
  }
  return {pool.state().all()};
}

GangRequest Core::request_for(PoolCore& pool, const WorkloadRecord& w,
                              const Requirement& requirement) const {
  const Shape& shape = shapes_.get(w.shape);
  GangRequest request;
  request.range = pool.state().all();
  request.goal = compile(pool, shape.topology);
  for (std::size_t r = 0; r < shape.roles.size(); ++r) {
    if (requirement.role >= 0 && static_cast<std::size_t>(requirement.role) != r) continue;
    const RoleSpec& spec = shape.roles[r];
    const RoleProgress& progress = w.roles[r];
    const std::int32_t n = requirement.role >= 0 ? requirement.tasks
                                                 : spec.min - progress.running - progress.succeeded;
    if (n <= 0) continue;
    GangRole role;
    role.role = static_cast<std::int32_t>(r);
    role.task_class = shape.classes[r];
    role.indices = pending_indices(w, shape, r, n);
    role.goal = compile(pool, spec.topology);
    role.segment_size = spec.segment_size;
    role.segment_goal = compile(pool, spec.segment_topology);
    const bool pinned =
        progress.running > 0 && (role.goal.within != kWholePool ||
                                 (role.segment_size > 0 && role.segment_goal.within != kWholePool));
    for (std::size_t i = 0; pinned && i < progress.tasks.size(); ++i) {
      const TaskSlot& slot = progress.tasks[i];
      if (slot.state != TaskState::kRunning) continue;
      const NodeState& node = nodes_[slot.placement.node.index()];
      if (role.goal.within != kWholePool) role.pinned = pin(pool, role.goal, node);
      if (role.segment_size > 0 && role.segment_goal.within != kWholePool) {
        const auto number = static_cast<std::int32_t>(i) / role.segment_size;
        role.pinned_segments.emplace_back(number, pin(pool, role.segment_goal, node));
      }
    }
    request.roles.push_back(std::move(role));
  }
  return request;
}

GangOutcome Core::place(PoolCore& pool, const WorkloadRecord& w, GangRequest& request,
                        std::int64_t* steps) {
  GangOutcome outcome;
  for (const SlotRange range : ranges_for(pool, w, shapes_.get(w.shape))) {
    request.range = range;
    GangPlacer placer(*pool.placement, steps ? *steps : options_.search_steps);
    outcome = placer.place(request);
    if (steps) *steps = placer.steps_left();
    if (outcome.verdict == GangVerdict::kPlaced) break;
  }
  return outcome;
}

// 5.1, 5.2 with what the devices really cost (2.3, 2.7), where that depends on where tasks land.
bool Core::within_gates(PoolCore& pool, const WorkloadRecord& w, const Requirement& requirement,
                        const GangRequest& request, const std::vector<TaskPlacement>& tasks) {
  ResourceVector demand;
  for (const TaskPlacement& t : tasks) {
    const auto role = std::find_if(request.roles.begin(), request.roles.end(),
                                   [&](const GangRole& r) { return r.role == t.role; });
    const TaskClass& task = classes_.get(role->task_class);
    demand.add(amounts(task, gpu_charge(pool, task, t)));
  }
  const GateRequest gate{pool.state().id, w.queue, &demand, requirement.non_preemptible};
  return gates_open(queues_, resources_, gate, now_, nullptr);
}

Core::Attempt Core::attempt(PoolCore& pool, BucketId bucket_id, WorkloadId id) {
  ++attempts_;
  const Bucket& bucket = pending_.bucket(bucket_id);
  Requirement& requirement = pending_.requirement(bucket.requirement);
  const GateRequest gate{bucket.pool, bucket.queue, &demand_in(requirement, bucket.pool),
                         requirement.non_preemptible};
  if (!gates_open(queues_, resources_, gate, now_, nullptr)) return Attempt::kGateShut;
  const WorkloadRecord& w = workloads_.get(id);
  GangRequest request = request_for(pool, w, requirement);
  GangOutcome outcome = place(pool, w, request);
  if (outcome.verdict != GangVerdict::kPlaced) return Attempt::kNoRoom;
  const bool varies =
      std::any_of(requirement.needs.begin(), requirement.needs.end(),
                  [&](const auto& need) { return charge_varies(pool, need.first); });
  if (varies && !within_gates(pool, w, requirement, request, outcome.tasks)) {
    GangPlacer::release(*pool.placement, request, outcome.tasks);
    if (!place_cheaper(pool, w, requirement, request, outcome)) return Attempt::kGateShut;
  }
  Started started = commit(id, bucket.pool, start_kind(requirement, w), std::move(outcome.tasks));
  drop_reservation_of(id);
  refresh_wants(id);
  decisions_.push_back(std::move(started));
  return Attempt::kStarted;
}

Core::StartKind Core::start_kind(const Requirement& requirement, const WorkloadRecord& w) const {
  const bool growth =
      requirement.kind == EntryKind::kExtra || (requirement.role >= 0 && w.running > 0);
  return {requirement.non_preemptible, growth};
}

// Starts the tasks, whose room is taken. Afterwards the workload wants nothing, until its wants are
// refreshed.
Started Core::commit(WorkloadId id, PoolId pool, StartKind kind, std::vector<TaskPlacement> tasks) {
  withdraw_wants(id);
  Started started{id, pool, kind.growth, tasks};
  for (TaskPlacement& t : tasks) start_task(id, pool, std::move(t), kind.non_preemptible);
  return started;
}

// The dear device classes are ruled out one after the other until the gates admit the charge.
bool Core::place_cheaper(PoolCore& pool, const WorkloadRecord& w, const Requirement& requirement,
                         const GangRequest& request, GangOutcome& outcome) {
  std::vector<std::pair<std::int64_t, std::size_t>> by_rate;
  for (std::size_t c = 0; c < pool.devices.size(); ++c) {
    if (pool.devices[c] == 0) continue;
    std::int64_t dearest = 0;
    for (const GangRole& role : request.roles) {
      const TaskClass& task = classes_.get(role.task_class);
      if (!task.needs_gpu() || !task.on_device[c].allowed) continue;
      dearest = std::max(dearest, task.on_device[c].charge_milli *
                                      (c < pool.rates.size() ? pool.rates[c] : kMilli));
    }
    by_rate.emplace_back(dearest, c);
  }
  std::sort(by_rate.begin(), by_rate.end());
  while (by_rate.size() > 1) {
    const std::int64_t dearest = by_rate.back().first;
    while (!by_rate.empty() && by_rate.back().first == dearest) by_rate.pop_back();
    if (by_rate.empty()) return false;
    std::vector<std::string> names;
    for (const auto& [rate, c] : by_rate) names.push_back(devices_.get(ClassId(c)).name);
    std::sort(names.begin(), names.end());
    GangRequest confined = request;
    for (GangRole& role : confined.roles) {
      if (classes_.get(role.task_class).needs_gpu())
        role.task_class = classes_.confined(role.task_class, names);
    }
    outcome = place(pool, w, confined);
    if (outcome.verdict != GangVerdict::kPlaced) return false;
    if (within_gates(pool, w, requirement, confined, outcome.tasks)) return true;
    GangPlacer::release(*pool.placement, confined, outcome.tasks);
  }
  return false;
}

}  // namespace fairlead::sched
