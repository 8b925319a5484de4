// Planning ahead (9.1, 9.2): when what runs will end, and reservations for what is blocked.
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

// At most; what nobody knows the end of runs for good.
Duration Core::planned_runtime(WorkloadId id) const {
  const Runtime runtime = runtime_of(workloads_.get(id));
  return runtime.known() ? std::max(runtime.most, seconds(1)) : kForGood;
}

std::optional<Duration> Core::usual_runtime(const std::string& name) const {
  const WorkloadId id = workloads_.find(name);
  if (!id.valid()) return std::nullopt;
  const Runtime runtime = runtime_of(workloads_.get(id));
  return runtime.known() ? std::optional(runtime.likely) : std::nullopt;
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
  const Duration length = planned_runtime(id);
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
  // It rests on what has to end there before, runs it or has it a promise.
  const auto is_declared = [&](WorkloadId holder) {
    return runtime_of(workloads_.get(holder)).source == RuntimeSource::kMaximum;
  };
  for (const NodeId node : nodes) {
    for (const TaskRef& t : nodes_[node.index()].tasks) {
      if (task_slot(workloads_.get(t.workload), t).ends > r.start) continue;
      r.declared = r.declared && is_declared(t.workload);
    }
    for (const std::size_t position : pool.timeline.on(node)) {
      const Reservation& other = pool.timeline.reservations()[position];
      if (!other.workload.valid() || other.workload == id || other.end > r.start) continue;
      r.declared = r.declared && other.declared && is_declared(other.workload);
    }
  }
  return r;
}

void Core::count_reserved(const PoolCore& pool, const Reservation& r, std::int64_t times) {
  if (r.workload.valid())
    queues_.reserve(pool.state().id, r.queue, r.demand, times, r.non_preemptible);
}

// Plans and what they count for at gates change together. Requires: nothing is hidden.
void Core::add_plan(PoolCore& pool, Reservation reservation) {
  count_reserved(pool, reservation, 1);
  pool.timeline.add(std::move(reservation));
}

void Core::replace_plan(PoolCore& pool, std::size_t position, Reservation reservation) {
  count_reserved(pool, pool.timeline.reservations()[position], -1);
  count_reserved(pool, reservation, 1);
  pool.timeline.replace(position, std::move(reservation));
}

Reservation Core::remove_plan(PoolCore& pool, std::size_t position) {
  Reservation out = pool.timeline.remove(position);
  count_reserved(pool, out, -1);
  return out;
}

// What was kept may be free to others now.
void Core::note_more_room(PoolCore& pool) {
  ++pool.state().release_version;
  pool.full_pass = true;
}

void Core::drop_reservation(PoolCore& pool, std::size_t position) {
  const bool hides = pool.timeline.hides_something();
  pool.timeline.show_all();
  remove_plan(pool, position);
  note_more_room(pool);
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
  if (pool.search_again <= now_) {
    pool.search_again = kNever;
    pool.full_pass = true;
  }
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
    if (all[i].workload.valid()) again.push_back(remove_plan(pool, i));
  }
  std::reverse(again.begin(), again.end());
  note_more_room(pool);
  for (const Reservation& old : again) {
    auto fresh = plan(pool, old.workload, requirement_of(old, pool), {});
    if (!fresh) continue;
    fresh->promised = old.promised;
    add_plan(pool, std::move(*fresh));
  }
}

// All planned anew in the order of their promises. False, and nothing has changed, if one would
// start later than it was to.
bool Core::plan_all_anew(PoolCore& pool) {
  Timeline& timeline = pool.timeline;
  const std::vector<Reservation> before = timeline.reservations();
  for (std::size_t i = before.size(); i-- > 0;) {
    if (before[i].workload.valid()) remove_plan(pool, i);
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
    add_plan(pool, std::move(*fresh));
  }
  if (none_later && some_earlier) {
    note_more_room(pool);
    return true;
  }
  while (!timeline.reservations().empty()) remove_plan(pool, timeline.reservations().size() - 1);
  for (const Reservation& old : before) add_plan(pool, old);
  return none_later;
}

// What runs ended early: each that can start earlier does, so that nobody's promise suffers.
void Core::improve_plans(PoolCore& pool) {
  if (plan_all_anew(pool)) return;
  const auto& all = pool.timeline.reservations();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Reservation old = all[i];
    if (!old.workload.valid() || old.start <= now_) continue;
    const Passes own = [&](const Reservation& r) { return r.workload == old.workload; };
    auto fresh = plan(pool, old.workload, requirement_of(old, pool), own);
    if (!fresh || fresh->start >= old.start) continue;
    fresh->promised = old.promised;
    replace_plan(pool, i, std::move(*fresh));
    note_more_room(pool);
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
  if (requirement.kind != EntryKind::kGang) return false;
  const Instant from = requirement.in(pool.state().id).no_plan_before;
  if (from > now_) pool.search_again = std::min(pool.search_again, from);
  return from <= now_;
}

// nullptr: all have one. Cost: O(reservations × pools).
const EntryKey* Core::first_without_reservation(const Bucket& bucket) const {
  for (const EntryKey& key : bucket.entries) {
    const bool has_one = std::any_of(pools_.begin(), pools_.end(), [&](const auto& p) {
      return p->timeline.of(key.workload) != nullptr;
    });
    if (!has_one) return &key;
  }
  return nullptr;
}

// A reservation for the first of the bucket that has none (9.2).
Core::Planned Core::reserve(PoolCore& pool, BucketId bucket_id) {
  const Bucket& bucket = pending_.bucket(bucket_id);
  if (!may_plan(pool, bucket.requirement)) return Planned::kNotThis;  // others were before it
  const EntryKey* key = first_without_reservation(bucket);
  if (key == nullptr) return Planned::kNotThis;
  pool.plan_steps = 0;
  auto found = plan(pool, key->workload, bucket.requirement, {});
  if (!found) {
    pending_.requirement(bucket.requirement).in(pool.state().id).no_plan_before =
        now_ + pause_after(pool.plan_steps);
    return Planned::kNoStart;
  }
  // It fits already: a gate is in its way.
  if (found->start <= now_) return Planned::kNotThis;
  pool.timeline.show_all();
  add_plan(pool, std::move(*found));
  pool.timeline.hide(now_, kNever, {});
  return Planned::kReserved;
}

// When plans have to be looked at though nothing happens: what was to end by then has not.
Instant Core::next_plan(const PoolCore& pool) const {
  Instant next = pool.search_again;
  // One that is due now waits for what is to end at this very moment.
  const auto& ends = pool.timeline.ends();
  const bool due = !ends.empty() && ends.begin()->first <= now_ + milliseconds(1);
  for (const Reservation& r : pool.timeline.reservations()) {
    if (r.workload.valid() && (r.start > now_ || (r.start == now_ && due)))
      next = std::min(next, r.start + milliseconds(1));
    if (!r.workload.valid() && r.end > now_) next = std::min(next, r.end);
  }
  if (!pool.timeline.reservations().empty() && pool.state().release_version != pool.planned_at) {
    next = std::min(next, pool.improve_from);
  }
  return next;
}

}  // namespace fairlead::sched
