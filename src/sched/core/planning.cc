// Planning ahead (9): when what runs will end, reservations for what is blocked, and who need not
// mind them.
#include <algorithm>
#include <set>

#include "base/check.h"
#include "sched/core/core.h"

namespace fairlead::sched {
namespace {

constexpr std::int64_t kPlanSteps = 400'000;  // of a search for a start

// Plans that took many steps are not made anew at every event.
Duration pause_after(std::int64_t steps) {
  constexpr std::int64_t kFree = 2000;
  constexpr std::int64_t kPerMillisecond = 10;
  return milliseconds(std::max<std::int64_t>(0, steps - kFree) / kPerMillisecond);
}

}  // namespace

// 9.1
Runtime Core::runtime_of(const WorkloadRecord& w) const {
  Runtime out;
  const auto use = [&](Duration likely, Duration most, RuntimeSource source) {
    if (out.source == RuntimeSource::kUnknown) out = {likely, most, source};
  };
  const auto seen = history_.of(w.user, w.template_name);
  std::optional<Duration> of_project;
  for (QueueId q = w.queue; q.valid() && !of_project; q = queues_.get(q).parent)
    of_project = queues_.get(q).spec.default_expected_runtime;
  if (w.max_runtime) {
    Duration likely = *w.max_runtime;
    if (of_project) likely = std::min(likely, *of_project);
    if (seen) likely = std::min(*w.max_runtime, seen->likely);
    use(w.expected_runtime.value_or(likely), *w.max_runtime, RuntimeSource::kMaximum);
  }
  if (w.expected_runtime) use(*w.expected_runtime, *w.expected_runtime, RuntimeSource::kExpected);
  if (seen) use(seen->likely, seen->most, RuntimeSource::kHistory);
  if (of_project) use(*of_project, *of_project, RuntimeSource::kProject);
  return out;
}

// Requires: the task has just started, or is known to have.
void Core::expect_end(WorkloadId id, std::int32_t role, std::int32_t index) {
  WorkloadRecord& w = workloads_.get(id);
  TaskSlot& slot = task_slot(w, role, index);
  Timeline& timeline = pools_[w.pool.index()]->timeline;
  forget_end(id, role, index);
  const Runtime runtime = runtime_of(w);
  if (!runtime.known()) return;
  slot.ends = slot.started + std::max(runtime.most, seconds(1));
  timeline.task_starts({id, role, index}, slot.ends);
}

void Core::forget_end(WorkloadId id, std::int32_t role, std::int32_t index) {
  WorkloadRecord& w = workloads_.get(id);
  TaskSlot& slot = task_slot(w, role, index);
  if (slot.ends == kNever) return;
  pools_[w.pool.index()]->timeline.task_stops({id, role, index}, slot.ends);
  slot.ends = kNever;
}

// What the queue of a reservation, or one beside it, was charged more may let others pass it.
void Core::note_rights(PoolCore& pool, QueueId charged) {
  const auto top = [&](QueueId q) {
    while (queues_.get(q).parent.valid()) q = queues_.get(q).parent;
    return q;
  };
  for (const Reservation& r : pool.timeline.reservations()) {
    if (r.workload.valid() && top(r.queue) == top(charged)) pool.rights_changed = true;
  }
}

// What should have ended by now takes twice as long as was thought, as often as need be. At the
// very moment it may be told yet.
void Core::extend_overruns(PoolCore& pool) {
  while (!pool.timeline.ends().empty() && pool.timeline.ends().begin()->first <= now_) {
    const auto [end, task] = *pool.timeline.ends().begin();
    WorkloadRecord& w = workloads_.get(task.workload);
    TaskSlot& slot = task_slot(w, task.role, task.index);
    const Runtime runtime = runtime_of(w);
    Duration planned = runtime.known() ? runtime.most : end - slot.started;
    planned = std::max(planned, seconds(1));
    pool.timeline.task_stops(task, end);
    while (slot.started + planned <= now_) planned = planned * 2;
    slot.ends = end == now_ ? now_ + milliseconds(1) : slot.started + planned;
    pool.timeline.task_starts(task, slot.ends);
  }
}

// 9.3
Result<void> Core::on(const ReservationUpserted& e) {
  const ReservationSpec& spec = e.reservation;
  const std::string what = "reservation '" + spec.name + "'";
  if (spec.name.empty()) return fail(ErrorCode::kInvalidArgument, "a reservation needs a name");
  if (spec.from >= spec.until) {
    return fail(ErrorCode::kInvalidArgument, what + " ends at " + to_rfc3339(spec.until) +
                                                 ", which is not after its begin at " +
                                                 to_rfc3339(spec.from));
  }
  if (spec.until <= now_)
    return fail(ErrorCode::kInvalidArgument,
                what + " ended at " + to_rfc3339(spec.until) + "; it is " + to_rfc3339(now_));
  if (spec.until - now_ > kPlanHorizon)
    return fail(ErrorCode::kOutOfRange, what + " ends more than 100 years from now");
  if (spec.nodes.empty())
    return fail(ErrorCode::kInvalidArgument, what + " names no node; it keeps whole nodes");
  Reservation r;
  r.name = spec.name;
  r.start = r.promised = spec.from;
  r.end = spec.until;
  PoolId pool_id;
  for (const std::string& name : spec.nodes) {
    const auto node = node_by_name_.find(name);
    if (node == node_by_name_.end())
      return fail(ErrorCode::kNotFound, what + ": no node is named '" + name + "'");
    const PoolId of_node = nodes_[node->second.index()].pool;
    if (pool_id.valid() && pool_id != of_node) {
      return fail(ErrorCode::kInvalidArgument,
                  what + ": node '" + name + "' is of pool '" + pool_name(of_node) +
                      "', those before it are of pool '" + pool_name(pool_id) + "'",
                  "make one reservation for each pool");
    }
    pool_id = of_node;
    r.nodes.push_back(node->second);
  }
  std::sort(r.nodes.begin(), r.nodes.end());
  r.nodes.erase(std::unique(r.nodes.begin(), r.nodes.end()), r.nodes.end());
  for (const std::string& name : spec.queues) {
    const QueueId queue = queues_.find(name);
    if (!queue.valid())
      return fail(ErrorCode::kNotFound, what + ": no queue is named '" + name + "'");
    r.users.push_back(queue);
  }
  (void)on(ReservationRemoved{spec.name});
  PoolCore& pool = *pools_[pool_id.index()];
  pool.timeline.insert(0, std::move(r));  // what people keep comes before what was planned
  ++pool.state().release_version;
  pool.full_pass = true;
  return {};
}

Result<void> Core::on(const ReservationRemoved& e) {
  for (auto& pool : pools_) {
    const Reservation* r = pool->timeline.named(e.reservation);
    if (!r) continue;
    drop_reservation(*pool, static_cast<std::size_t>(r - pool->timeline.reservations().data()));
    return {};
  }
  return fail(ErrorCode::kNotFound, "no reservation is named '" + e.reservation + "'");
}

// The node is gone, or of another pool: nothing is kept there any more.
void Core::forget_reserved(NodeId node) {
  for (auto& pool : pools_) {
    for (std::size_t i = pool->timeline.reservations().size(); i-- > 0;) {
      Reservation r = pool->timeline.reservations()[i];
      const bool planned = std::any_of(r.tasks.begin(), r.tasks.end(), [&](const PlannedTask& t) {
        return t.placement.node == node;
      });
      if (planned) {
        drop_reservation(*pool, i);
      } else if (std::erase(r.nodes, node) > 0) {
        if (r.nodes.empty()) {
          drop_reservation(*pool, i);
        } else {
          pool->timeline.replace(i, std::move(r));
        }
      }
    }
  }
}

void Core::forget_user(QueueId queue) {
  for (auto& pool : pools_) {
    for (std::size_t i = 0; i < pool->timeline.reservations().size(); ++i) {
      Reservation r = pool->timeline.reservations()[i];
      if (std::erase(r.users, queue) > 0) pool->timeline.replace(i, std::move(r));
    }
  }
}

// What is reserved is for a workload that waits as it did.
bool Core::stands(const PoolCore& pool, const Reservation& r) {
  if (!r.workload.valid()) return r.end > now_;
  const WorkloadRecord& w = workloads_.get(r.workload);
  if (!w.alive || w.sequence != r.sequence || w.queue != r.queue) return false;
  // 9.2.a: what a gate keeps out when its time has come is not blocked by room.
  const GateRequest gate{pool.state().id, r.queue, &r.demand, r.non_preemptible, true};
  if (r.start <= now_ && !gates_open(queues_, resources_, gate, now_, nullptr)) return false;
  for (const Entry& entry : w.entries) {
    if (entry.kind != EntryKind::kGang) continue;
    if (std::find(entry.pools.begin(), entry.pools.end(), pool.state().id) == entry.pools.end())
      continue;
    const Requirement& requirement = pending_.requirement(entry.requirement);
    std::int64_t tasks = 0;
    for (const auto& [task_class, n] : requirement.needs) {
      const auto planned = std::count_if(r.tasks.begin(), r.tasks.end(), [&](const PlannedTask& t) {
        return t.task_class == task_class;
      });
      if (planned != n) return false;
      tasks += n;
    }
    return tasks == std::ssize(r.tasks);
  }
  return false;
}

std::optional<Reservation> Core::plan(PoolCore& pool, WorkloadId id, RequirementId requirement_id,
                                      const Passes& passes) {
  Requirement& requirement = pending_.requirement(requirement_id);
  const WorkloadRecord& w = workloads_.get(id);
  const Runtime runtime = runtime_of(w);
  const Duration length = runtime.known() ? std::max(runtime.most, seconds(1)) : kForGood;
  if (!pool.planner) {
    pool.planner = std::make_unique<Planner>(*pool.placement, nodes_, pool.timeline, workloads_,
                                             shapes_, classes_);
  }
  GangRequest request = request_for(pool, w, requirement);
  // What people keep for it is its to use.
  const ResourceVector demand = demand_in(requirement, pool.state().id);
  const Passes passed = [&](const Reservation& r) {
    return (passes && passes(r)) || (!r.workload.valid() && may_pass(pool, id, demand, r));
  };
  std::optional<Planner::Plan> best;
  for (const SlotRange range : ranges_for(pool, w, shapes_.get(w.shape))) {
    request.range = range;
    auto found = pool.planner->earliest(request, length, now_, passed, kPlanSteps);
    pool.plan_steps += pool.planner->steps_taken();
    if (found && (!best || found->start < best->start)) best = std::move(found);
  }
  if (!best) return std::nullopt;
  Reservation r;
  r.workload = id;
  r.sequence = w.sequence;
  r.queue = w.queue;
  r.minus_priority = minus_priority(w, pool.state().id);
  r.non_preemptible = requirement.non_preemptible;
  r.demand = demand;
  r.start = r.promised = best->start;
  r.end = r.start + length;
  std::set<NodeId> nodes;
  for (TaskPlacement& placement : best->tasks) {
    nodes.insert(placement.node);
    const TaskClassId c = shapes_.get(w.shape).classes[static_cast<std::size_t>(placement.role)];
    r.tasks.push_back({std::move(placement), c});
  }
  for (const NodeId node : nodes) {
    for (const TaskRef& t : nodes_[node.index()].tasks) {
      const WorkloadRecord& holder = workloads_.get(t.workload);
      if (task_slot(holder, t).ends > r.start) continue;
      r.declared = r.declared && runtime_of(holder).source == RuntimeSource::kMaximum;
    }
  }
  return r;
}

void Core::count_reserved(const PoolCore& pool, const Reservation& r, std::int64_t times) {
  if (r.workload.valid())
    queues_.reserve(pool.state().id, r.queue, r.demand, times, r.non_preemptible);
}

void Core::add_reservation(PoolCore& pool, Reservation reservation) {
  count_reserved(pool, reservation, 1);
  pool.timeline.show_all();
  pool.timeline.add(std::move(reservation));
  pool.timeline.hide(now_, kNever, {});
}

// What was kept for it is free to all.
void Core::drop_reservation(PoolCore& pool, std::size_t position) {
  const bool hides = pool.timeline.hides_something();
  pool.timeline.show_all();
  count_reserved(pool, pool.timeline.remove(position), -1);
  ++pool.state().release_version;
  pool.full_pass = true;
  if (hides) pool.timeline.hide(now_, kNever, {});
}

// It started, or is over.
void Core::drop_reservation_of(WorkloadId id) {
  for (auto& pool : pools_) {
    const Reservation* r = pool->timeline.of(id);
    if (!r) continue;
    drop_reservation(*pool, static_cast<std::size_t>(r - pool->timeline.reservations().data()));
  }
}

// Brings the plans of a pool up to what has happened, and hides what is reserved.
void Core::keep_plans(PoolCore& pool) {
  Timeline& timeline = pool.timeline;
  timeline.show_all();
  if (timeline.reservations().empty()) return;
  ensure_ordered(pool);
  for (std::size_t i = timeline.reservations().size(); i-- > 0;) {
    if (!stands(pool, timeline.reservations()[i])) drop_reservation(pool, i);
  }
  mend_plans(pool);
  if (pool.state().release_version != pool.planned_at && now_ >= pool.improve_from) {
    pool.plan_steps = 0;
    improve_plans(pool);
    pool.planned_at = pool.state().release_version;
    pool.improve_from = now_ + pause_after(pool.plan_steps);
  }
  timeline.hide(now_, kNever, {});
}

// From the first promise on that cannot be kept all are made anew, in their order.
void Core::mend_plans(PoolCore& pool) {
  Timeline& timeline = pool.timeline;
  const auto& all = timeline.reservations();
  const auto broken = std::find_if(all.begin(), all.end(), [&](const Reservation& r) {
    return r.workload.valid() && (r.start < now_ || !timeline.holds(r, now_));
  });
  if (broken == all.end()) return;
  std::vector<Reservation> again;
  const auto first = static_cast<std::size_t>(broken - all.begin());
  for (std::size_t i = all.size(); i-- > first;) {
    if (!all[i].workload.valid()) continue;
    count_reserved(pool, all[i], -1);
    again.push_back(timeline.remove(i));
  }
  std::reverse(again.begin(), again.end());
  ++pool.state().release_version;
  pool.full_pass = true;
  for (const Reservation& old : again) {
    auto fresh = plan(pool, old.workload, requirement_of(old, pool), {});
    if (!fresh) continue;
    fresh->promised = old.promised;
    count_reserved(pool, *fresh, 1);
    timeline.add(std::move(*fresh));
  }
}

// All planned anew in the order of their promises, if then none starts later than it was to.
bool Core::plan_all_anew(PoolCore& pool) {
  Timeline& timeline = pool.timeline;
  const std::vector<Reservation> before = timeline.reservations();
  std::vector<Reservation> after;
  for (std::size_t i = before.size(); i-- > 0;) {
    if (before[i].workload.valid()) timeline.remove(i);
  }
  bool none_later = true;
  bool some_earlier = false;
  for (const Reservation& old : before) {
    if (!old.workload.valid()) continue;
    auto fresh = plan(pool, old.workload, requirement_of(old, pool), {});
    none_later = fresh && fresh->start <= old.start;
    if (!none_later) break;
    some_earlier = some_earlier || fresh->start < old.start;
    fresh->promised = old.promised;
    timeline.add(std::move(*fresh));
  }
  if (none_later && some_earlier) return true;
  while (!timeline.reservations().empty()) timeline.remove(timeline.reservations().size() - 1);
  for (const Reservation& old : before) timeline.add(old);
  return false;
}

// What runs ended early: each that can start earlier does, so that nobody's promise suffers.
void Core::improve_plans(PoolCore& pool) {
  Timeline& timeline = pool.timeline;
  if (plan_all_anew(pool)) {
    ++pool.state().release_version;
    pool.full_pass = true;
    return;
  }
  for (std::size_t i = 0; i < timeline.reservations().size(); ++i) {
    const Reservation old = timeline.reservations()[i];
    if (!old.workload.valid() || old.start <= now_) continue;
    const Passes own = [&](const Reservation& r) { return r.workload == old.workload; };
    auto fresh = plan(pool, old.workload, requirement_of(old, pool), own);
    if (!fresh || fresh->start >= old.start) continue;
    fresh->promised = old.promised;
    timeline.replace(i, std::move(*fresh));
    ++pool.state().release_version;
    pool.full_pass = true;
  }
}

RequirementId Core::requirement_of(const Reservation& r, const PoolCore& pool) const {
  for (const Entry& entry : workloads_.get(r.workload).entries) {
    if (entry.kind == EntryKind::kGang &&
        std::find(entry.pools.begin(), entry.pools.end(), pool.state().id) != entry.pools.end())
      return entry.requirement;
  }
  FAIRLEAD_CHECK(false, "what has a reservation waits");
}

// Whether there may be a reservation more, for what waits with this requirement.
bool Core::may_plan(PoolCore& pool, RequirementId id) {
  if (!options_.plan || pool.timeline.ends().empty()) return false;
  if (static_cast<std::int64_t>(pool.timeline.of_workloads()) >= pool.state().spec.reservations)
    return false;
  Requirement& requirement = pending_.requirement(id);
  return requirement.kind == EntryKind::kGang &&
         requirement.in(pool.state().id).no_plan_before <= now_;
}

// A reservation for the first of the bucket that has none (9.2). False if none can be made.
bool Core::reserve(PoolCore& pool, BucketId bucket_id) {
  const Bucket& bucket = pending_.bucket(bucket_id);
  if (!may_plan(pool, bucket.requirement)) return false;
  for (const EntryKey& key : bucket.entries) {
    const bool has_one = std::any_of(pools_.begin(), pools_.end(), [&](const auto& p) {
      return p->timeline.of(key.workload) != nullptr;
    });
    if (has_one) continue;
    pool.plan_steps = 0;
    auto found = plan(pool, key.workload, bucket.requirement, {});
    if (!found) {
      pending_.requirement(bucket.requirement).in(pool.state().id).no_plan_before =
          now_ + pause_after(pool.plan_steps);
      return false;
    }
    // It fits already: a gate is in its way.
    if (found->start <= now_) return false;
    add_reservation(pool, std::move(*found));
    return true;
  }
  return false;
}

// When plans have to be looked at though nothing happens: what was to end by then has not.
Instant Core::next_plan(const PoolCore& pool) const {
  Instant next = kNever;
  for (const Reservation& r : pool.timeline.reservations()) {
    // One that is due now waits for what is to end at this very moment.
    const auto& ends = pool.timeline.ends();
    const bool due = !ends.empty() && ends.begin()->first <= now_ + milliseconds(1);
    if (r.workload.valid() && (r.start > now_ || (r.start == now_ && due)))
      next = std::min(next, r.start + milliseconds(1));
    if (!r.workload.valid() && r.end > now_) next = std::min(next, r.end);
  }
  if (!pool.timeline.reservations().empty() && pool.state().release_version != pool.planned_at) {
    next = std::min(next, pool.improve_from);
  }
  return next;
}

// Whether whoever waits may take what is reserved, as it could take it back if it ran (7.1, 7.2).
bool Core::may_pass(const PoolCore& pool, WorkloadId id, const ResourceVector& demand,
                    const Reservation& r) {
  const WorkloadRecord& w = workloads_.get(id);
  const PoolId pool_id = pool.state().id;
  if (!r.workload.valid()) {
    for (QueueId q = w.queue; q.valid(); q = queues_.get(q).parent) {
      if (std::find(r.users.begin(), r.users.end(), q) != r.users.end()) return true;
    }
    return false;
  }
  if (r.workload == id) return true;
  if (r.queue == w.queue) return minus_priority(w, pool_id) < r.minus_priority;
  const ShareGuard guard(queues_, pool_id, w.queue, demand);
  if (!guard.entitled()) return false;
  ResourceSet asked;
  for (std::size_t i = 0; i < demand.size(); ++i) {
    if (demand[i] > 0) asked.add(i);
  }
  queues_.charge(pool_id, r.queue, r.demand, 1, false, 0, now_);
  const bool passes =
      guard.reaches(r.queue, r.demand, asked) && guard.keeps(r.queue, r.demand, asked);
  queues_.charge(pool_id, r.queue, r.demand, -1, false, 0, now_);
  return passes;
}

// Whether a start may find room once reservations are passed, judged by each class alone.
bool Core::room_behind(PoolCore& pool, RequirementId id) {
  if (!pool.timeline.hides_something()) return false;
  for (const auto& [task_class, tasks] : pending_.requirement(id).needs) {
    const ClassIndex& index = pool.placement->index(task_class);
    std::int64_t slots = index.total();
    pool.timeline.each_hidden([&](NodeId node_id, const NodeRoom&) {
      const NodeState& node = nodes_[node_id.index()];
      if (slots >= tasks || !node.usable() || static_filter(index.task(), node) != Filter::kFits) {
        return;
      }
      slots +=
          room_fit(index.task(), pool.timeline.free_now(node_id)).slots - index.slots_at(node.slot);
    });
    if (slots < tasks) return false;
  }
  return true;
}

// Those of a bucket that end soon enough to pass a reservation, or may pass one anyhow, in order.
// Who stands behind another has no more rights, so that it is of use only if it ends sooner. Those
// that hold a reservation are among them, however many stand before them.
std::vector<WorkloadId> Core::who_may_pass(PoolCore& pool, const Bucket& bucket) {
  constexpr std::size_t kMostLookedAt = 256;
  std::vector<WorkloadId> out;
  const ResourceVector demand = demand_in(pending_.requirement(bucket.requirement), bucket.pool);
  const Instant last = pool.timeline.last_start();
  std::set<EntryKey> holders;
  for (const Reservation& r : pool.timeline.reservations()) {
    if (!r.workload.valid() || r.queue != bucket.queue || !stands(pool, r)) continue;
    for (const Entry& entry : workloads_.get(r.workload).entries) {
      if (entry.requirement == bucket.requirement) holders.insert(entry_key(r.workload, entry));
    }
  }
  std::size_t looked_at = 0;
  Duration shortest = kForGood;
  bool rights_used = false;
  for (const EntryKey& key : bucket.entries) {
    if (holders.erase(key) > 0) {
      out.push_back(key.workload);
      continue;
    }
    if (++looked_at > kMostLookedAt) break;
    const Runtime runtime = runtime_of(workloads_.get(key.workload));
    const Duration most = runtime.known() ? runtime.most : kForGood;
    bool passes = most < shortest && now_ + most <= last;
    for (const Reservation& r : pool.timeline.reservations()) {
      if (passes || rights_used) break;
      passes = may_pass(pool, key.workload, demand, r);
    }
    if (!passes) continue;
    out.push_back(key.workload);
    rights_used = true;
    shortest = std::min(shortest, most);
  }
  for (const EntryKey& key : holders) out.push_back(key.workload);
  return out;
}

Core::PastReservations::PastReservations(Core& core, PoolCore& pool, WorkloadId id,
                                         const ResourceVector& demand)
    : core_(core), pool_(pool) {
  if (pool.timeline.reservations().empty()) return;
  const Runtime runtime = core.runtime_of(core.workloads_.get(id));
  const Instant until = runtime.known() ? core.now_ + std::max(runtime.most, seconds(1)) : kNever;
  std::vector<const Reservation*> by_right;
  for (const Reservation& r : pool.timeline.reservations()) {
    const bool right = core.may_pass(pool, id, demand, r);
    if (right) by_right.push_back(&r);
    by_right_ = by_right_ || right;
    if (right || r.start >= until) passed_.push_back(r);
  }
  for (const Reservation& r : passed_) core.count_reserved(pool, r, -1);
  pool.timeline.hide(core.now_, until, [&](const Reservation& r) {
    return std::find(by_right.begin(), by_right.end(), &r) != by_right.end();
  });
}

Core::PastReservations::~PastReservations() {
  for (const Reservation& r : passed_) core_.count_reserved(pool_, r, 1);
  if (core_.deciding_) {
    pool_.timeline.hide(core_.now_, kNever, {});
  } else {
    pool_.timeline.show_all();
  }
}

Core::Attempt Core::attempt_behind(PoolCore& pool, BucketId bucket_id, WorkloadId id) {
  const Bucket& bucket = pending_.bucket(bucket_id);
  const ResourceVector demand = demand_in(pending_.requirement(bucket.requirement), bucket.pool);
  const PastReservations past(*this, pool, id, demand);
  const Attempt outcome = attempt(pool, bucket_id, id);
  if (outcome == Attempt::kStarted && past.by_right()) pool.plans_changed = true;
  return outcome;
}

}  // namespace fairlead::sched
