#include "sched/explain/explainer.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sched/explain/text.h"

namespace fairlead::sched {
namespace {

constexpr std::size_t kMostNamed = 5;        // of those who hold what it needs
constexpr std::size_t kMostTriedAlone = 16;  // reservations, each at the cost of a placement

}  // namespace
bool Explainer::fits(PoolCore& pool, const WorkloadRecord& w, const Requirement& requirement,
                     GangRequest request) {
  GangOutcome outcome = core_.place(pool, w, request);
  if (outcome.verdict != GangVerdict::kPlaced) return false;
  const bool admitted = core_.within_gates(pool, w, requirement, request, outcome.tasks);
  GangPlacer::release(*pool.placement, request, outcome.tasks);
  return admitted;
}

std::vector<std::string> Explainer::holders(PoolCore& pool, TaskClassId task_class) {
  const ClassIndex& index = pool.placement->index(task_class);
  std::map<std::string, std::int64_t> held;
  for (std::uint32_t s = 0; s < pool.state().slot_count(); ++s) {
    if (index.slots_at(s) >= index.empty_slots_at(s)) continue;
    for (const TaskRef& task : pool.state().node_at(s).tasks) {
      const WorkloadRecord& w = core_.workloads_.get(task.workload);
      const TaskSlot& slot =
          w.roles[static_cast<std::size_t>(task.role)].tasks[static_cast<std::size_t>(task.index)];
      held[w.name] += slot.charge_gpu > 0 ? slot.charge_gpu : 1;
    }
  }
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (const auto& [name, amount] : held) order.emplace_back(-amount, name);
  std::sort(order.begin(), order.end());
  std::vector<std::string> out;
  for (const auto& [amount, name] : order) {
    if (out.size() == kMostNamed) break;
    out.push_back(name);
  }
  return out;
}

// Each class has room alone, the gang has none. `request`: what it needs, as text.
Reason Explainer::together_reason(PoolCore& pool, const Shape& shape,
                                  const Requirement& requirement, const std::string& request) {
  Reason reason;
  reason.pool = pool.state().spec.name;
  for (const auto& [task_class, n] : requirement.needs) reason.asked += n;
  std::string level = shape.topology.within;
  for (const RoleSpec& role : shape.roles) {
    if (level.empty()) level = role.topology.within;
    if (level.empty()) level = role.segment_topology.within;
  }
  if (level.empty()) {
    reason.code = ReasonCode::kNoRoom;
    reason.rule = "6.1";
    reason.subject = "gang";
    reason.text = "each role of " + request + " has room alone in pool " + reason.pool +
                  ", but not all together";
    return reason;
  }
  reason.code = ReasonCode::kNoDomain;
  reason.rule = "6.4";
  reason.subject = level;
  TopologyGoal goal;
  goal.within = level;
  std::int64_t best = 0;
  for (const Domain& d :
       pool.state().domains(core_.compile(pool, goal).within, pool.state().all())) {
    std::int64_t held = 0;
    for (const auto& [task_class, n] : requirement.needs) {
      held += std::min(n, pool.placement->index(task_class).slots(d.slots));
    }
    best = std::max(best, held);
  }
  reason.text = "no " + level + " of pool " + reason.pool + " has room for " + request + " now; ";
  if (best < reason.asked) {
    reason.available = best;
    reason.text +=
        "the best has room for " + std::to_string(best) + " of " + counted(reason.asked, "task");
  } else {
    reason.text += "the best has room for each part alone, but not for all together";
  }
  return reason;
}

std::vector<Reason> Explainer::room_reasons(PoolCore& pool, const WorkloadRecord& w,
                                            const Requirement& requirement, GangVerdict verdict) {
  const Shape& shape = core_.shapes_.get(w.shape);
  const auto never = impossible_in(pool, shape, &w);
  std::vector<Reason> out;
  const auto base = [&](ReasonCode code, const char* rule) {
    Reason reason;
    reason.code = code;
    reason.rule = rule;
    reason.pool = pool.state().spec.name;
    return reason;
  };
  if (pool.members.empty()) {
    Reason reason = base(ReasonCode::kPoolMissing, "6.1");
    reason.text = "pool " + reason.pool + " has no nodes";
    out.push_back(std::move(reason));
    return out;
  }
  std::int64_t asked = 0;
  std::string request;
  for (const auto& [task_class, n] : requirement.needs) {
    const ClassIndex& index = pool.placement->index(task_class);
    asked += n;
    const std::string what = request_text(index.task().request);
    request += (request.empty() ? "" : " and ") + std::to_string(n) + " × (" + what + ")";
    if (index.total() >= n) continue;
    Reason reason = base(ReasonCode::kNoRoom, "6.1");
    reason.asked = n;
    reason.available = index.total();
    for (std::size_t r = 0; r < shape.classes.size(); ++r) {
      if (shape.classes[r] == task_class) reason.subject = shape.roles[r].name;
    }
    std::string counts;
    for (std::size_t f = 1; f < kFilterCount; ++f) {
      const std::int64_t nodes = index.rejected()[f];
      if (nodes == 0) continue;
      const std::string name(filter_name(static_cast<Filter>(f)));
      reason.filters.push_back({name, nodes});
      counts += (counts.empty() ? "" : ", ") + std::to_string(nodes) + " by " + name;
    }
    reason.holders = holders(pool, task_class);
    reason.text = "needs room for " + counted(n, "task") + " of " + what + " in pool " +
                  reason.pool + ", " + std::to_string(reason.available) +
                  (reason.available == 1 ? " there is" : " there are");
    if (index.total() > 0 && !counts_exactly(index.task()))
      reason.text += " by placing one after the other, other choices of devices may hold more";
    if (!counts.empty()) reason.text += " (nodes turned away: " + counts + ")";
    if (!reason.holders.empty()) {
      reason.text += "; held by ";
      for (std::size_t i = 0; i < reason.holders.size(); ++i)
        reason.text += (i ? ", " : "") + reason.holders[i];
    }
    out.push_back(std::move(reason));
  }
  if (out.empty() && (verdict == GangVerdict::kRanOut || verdict == GangVerdict::kNotFound)) {
    Reason reason = base(ReasonCode::kSearchRanOut, "7.6");
    reason.asked = asked;
    reason.text =
        "no place was found for " + request +
        (verdict == GangVerdict::kRanOut
             ? " within " + std::to_string(core_.options_.search_steps) +
                   " steps of search; there may be one"
             : "; not every choice of devices inside a node is tried, so there may be one");
    out.push_back(std::move(reason));
  }
  if (out.empty()) out.push_back(together_reason(pool, shape, requirement, request));
  if (never) {
    for (Reason& reason : out) {
      reason.never = true;
      reason.text = never->text;
      reason.cheapest = never->cheapest;
    }
    out.resize(1);
  }
  return out;
}

// 9.2: what it needs is free, but kept for others. Requires: with what they keep it has no room.
std::optional<Reason> Explainer::reserved_reason(PoolCore& pool, const WorkloadRecord& w,
                                                 const Requirement& requirement) {
  Timeline& timeline = pool.timeline;
  if (!timeline.hides_something()) return std::nullopt;
  const WorkloadId id = core_.workloads_.find(w.name);
  Requirement copy = requirement;
  const ResourceVector demand = core_.demand_in(copy, pool.state().id);
  const auto fits = [&](Instant until, const Passes& passes) {
    timeline.hide(core_.now_, until, passes);
    GangRequest request = core_.request_for(pool, w, requirement);
    const GangOutcome outcome = core_.place(pool, w, request);
    const bool placed = outcome.verdict == GangVerdict::kPlaced;
    if (placed) GangPlacer::release(*pool.placement, request, outcome.tasks);
    return placed;
  };
  const Passes by_right = [&](const Reservation& r) { return core_.may_pass(pool, id, demand, r); };
  const Runtime runtime = core_.runtime_of(w);
  const Instant until = runtime.known() ? core_.now_ + runtime.most : kNever;
  const Passes all = [](const Reservation&) { return true; };
  std::optional<Reason> out;
  if (fits(core_.now_, all)) {
    out.emplace();
    out->code = ReasonCode::kReserved;
    out->rule = "9.2";
    for (const auto& [task_class, tasks] : requirement.needs) out->asked += tasks;
    std::vector<const Reservation*> holding;
    for (const Reservation& r : timeline.reservations()) {
      if (r.start < until && !by_right(r)) holding.push_back(&r);
    }
    // Those in its way: with all others out of it there is no room yet. Each costs a placement, so
    // of many all are named.
    std::vector<const Reservation*> in_the_way;
    for (const Reservation* r : holding) {
      if (holding.size() > kMostTriedAlone) break;
      if (!fits(until, [&](const Reservation& other) { return &other != r; }))
        in_the_way.push_back(r);
    }
    if (in_the_way.empty()) in_the_way = std::move(holding);
    std::string whose;
    std::vector<Instant> starts;
    for (const Reservation* r : in_the_way) {
      starts.push_back(r->start);
      if (out->holders.size() == kMostNamed) continue;
      const std::string name =
          r->workload.valid() ? core_.workloads_.get(r->workload).name : r->name;
      out->holders.push_back(name);
      whose += (whose.empty() ? "" : ", ") + name + " from " +
               to_rfc3339(std::max(r->start, core_.now_)) + " on";
    }
    if (in_the_way.size() > kMostNamed)
      whose += " and " + std::to_string(in_the_way.size() - kMostNamed) + " more";
    out->text = "there is room in pool " + pool.state().spec.name + ", but it is reserved for " +
                whose +
                (runtime.known() ? ", and would be in use for up to " + to_text(runtime.most)
                                 : ", and it does not say when it would end");
    // The longest that still ends in time; what has a reservation of its own would lose it.
    std::erase_if(starts, [&](Instant start) { return start <= core_.now_; });
    std::sort(starts.rbegin(), starts.rend());
    const auto start =
        timeline.of(id) ? starts.end()
                        : std::partition_point(starts.begin(), starts.end(),
                                               [&](Instant from) { return !fits(from, by_right); });
    if (start != starts.end()) {
      const Duration most = *start - core_.now_;
      out->cheapest = Change{ChangeKind::kEndBy,
                             w.name,
                             {},
                             most.ms,
                             {},
                             "state a maxRuntime of at most " + to_text(most)};
    }
  }
  timeline.hide(core_.now_, until, by_right);
  return out;
}

void Explainer::explain_in(PoolCore& pool, const WorkloadRecord& w, const Requirement& requirement,
                           Explanation& out) {
  core_.ensure_ordered(pool);
  const PoolId pool_id = pool.state().id;
  Requirement copy = requirement;
  const ResourceVector demand = core_.demand_in(copy, pool_id);
  const GateRequest gate{pool_id, w.queue, &demand, requirement.non_preemptible};
  // It sees what it may use (9.2).
  const Core::PastReservations past(core_, pool, core_.workloads_.find(w.name), demand);
  std::vector<Reason> reasons;
  gates_open(core_.queues_, core_.resources_, gate, core_.now_, &reasons);
  GangRequest request = core_.request_for(pool, w, requirement);
  GangOutcome outcome = core_.place(pool, w, request);
  const std::size_t gates = reasons.size();
  if (outcome.verdict == GangVerdict::kPlaced) {
    // What it would really be charged may shut a gate that the least charge leaves open, and needs
    // a larger change where that one is shut already.
    if (!core_.within_gates(pool, w, requirement, request, outcome.tasks)) {
      reasons.clear();
      ResourceVector real;
      for (const TaskPlacement& t : outcome.tasks) {
        const TaskClass& task = core_.classes_.get(
            core_.shapes_.get(w.shape).classes[static_cast<std::size_t>(t.role)]);
        real.add(core_.amounts(task, core_.gpu_charge(pool, task, t)));
      }
      const GateRequest dear{pool_id, w.queue, &real, requirement.non_preemptible};
      gates_open(core_.queues_, core_.resources_, dear, core_.now_, &reasons);
    }
    GangPlacer::release(*pool.placement, request, outcome.tasks);
  }
  for (Reason& reason : reasons) reason.pool = pool.state().spec.name;
  // The single change: one shut gate, or only room missing. Non-preemptible work over several
  // quotas can still be made preemptible.
  std::optional<Change> single;
  if (outcome.verdict == GangVerdict::kPlaced) {
    if (reasons.size() == 1) {
      single = reasons.front().cheapest;
    } else if (!reasons.empty() && untouched(w) &&
               std::all_of(reasons.begin(), reasons.end(), [](const Reason& r) {
                 return r.code == ReasonCode::kNonPreemptibleQuota;
               })) {
      single = Change{ChangeKind::kMakePreemptible,     w.name, {}, 0, {},
                      "make " + w.name + " preemptible"};
    }
  } else if (auto reserved = reserved_reason(pool, w, requirement)) {
    if (gates == 0) single = reserved->cheapest;
    reasons.push_back(std::move(*reserved));
  } else {
    auto room = room_reasons(pool, w, requirement, outcome.verdict);
    // The nearest request that an empty pool would hold need not start now.
    const auto now =
        gates == 0 || !room.front().cheapest ? room_change(pool, w, requirement) : std::nullopt;
    if (!room.front().cheapest) room.front().cheapest = now;
    if (gates == 0) single = now;
    reasons.insert(reasons.end(), std::make_move_iterator(room.begin()),
                   std::make_move_iterator(room.end()));
    if (gates == 0 && !reasons.front().never) {
      auto spared = protected_reasons(pool, w, requirement, past);
      reasons.insert(reasons.end(), std::make_move_iterator(spared.begin()),
                     std::make_move_iterator(spared.end()));
    }
  }
  if (!reasons.empty() && !reasons.front().never) claim_reasons(pool, w, reasons);
  if (reasons.empty()) {
    Reason reason;
    reason.code = ReasonCode::kWaiting;
    reason.pool = pool.state().spec.name;
    reason.rule = "4.1";
    reason.text =
        "nothing stands in its way in pool " + reason.pool + "; it is tried at the next decision";
    reasons.push_back(std::move(reason));
  }
  if (!out.cheapest) out.cheapest = single;
  out.reasons.insert(out.reasons.end(), std::make_move_iterator(reasons.begin()),
                     std::make_move_iterator(reasons.end()));
}

Explanation Explainer::explain(WorkloadId id) {
  const WorkloadRecord& w = core_.workloads_.get(id);
  Explanation out;
  out.workload = w.name;
  if (w.retry_at > core_.now_) {
    Reason reason;
    reason.code = ReasonCode::kBackingOff;
    reason.rule = "4.3";
    reason.subject = w.name;
    reason.text = "it failed, or could not be started where it was placed; it is tried again at " +
                  to_rfc3339(w.retry_at);
    // It starts then, or when its windows are open next.
    if (const auto at = windows_open_from(core_.queues_, w.queue, w.retry_at)) {
      reason.cheapest =
          Change{ChangeKind::kWaitUntil, w.name, {}, 0, *at, "wait until " + to_rfc3339(*at)};
    }
    out.reasons.push_back(reason);
    // What else stands in its way: as if the back-off were over, then back again.
    WorkloadRecord& record = core_.workloads_.get(id);
    const Instant retry_at = std::exchange(record.retry_at, Instant{INT64_MIN});
    core_.refresh_wants(id);
    explain_entry(w, out);
    core_.withdraw_wants(id);
    record.retry_at = retry_at;
    // A pool where nothing else stands in its way is one where it starts then.
    const auto others =
        std::remove_if(out.reasons.begin() + 1, out.reasons.end(),
                       [](const Reason& r) { return r.code == ReasonCode::kWaiting; });
    const bool only = others != out.reasons.end() || out.reasons.size() == 1;
    out.reasons.erase(others, out.reasons.end());
    out.cheapest = only ? reason.cheapest : std::nullopt;
    return out;
  }
  explain_entry(w, out);
  return out;
}

void Explainer::explain_entry(const WorkloadRecord& w, Explanation& out) {
  if (w.entries.empty()) {
    if (w.demand.any() && !w.demand_pool.valid()) {
      Reason reason;
      reason.code = ReasonCode::kPoolMissing;
      reason.rule = "6.1";
      reason.text = "none of its node pools exists";
      out.reasons.push_back(std::move(reason));
    }
    return;
  }
  const Entry entry = w.entries.front();
  for (const PoolId pool : entry.pools) {
    explain_in(*core_.pools_[pool.index()], w, core_.pending_.requirement(entry.requirement), out);
  }
  out.never =
      !out.reasons.empty() && std::all_of(entry.pools.begin(), entry.pools.end(), [&](PoolId pool) {
        const std::string& name = core_.pool_name(pool);
        return std::any_of(out.reasons.begin(), out.reasons.end(),
                           [&](const Reason& r) { return r.never && r.pool == name; });
      });
}

Result<Explanation> Core::explain(const std::string& name) {
  const WorkloadId id = workloads_.find(name);
  if (!id.valid()) return fail(ErrorCode::kNotFound, "no workload is named '" + name + "'");
  Explanation out = Explainer(*this).explain(id);
  // What backs off stands in no line.
  if (!workloads_.get(id).entries.empty()) out.start = expected_start(id);
  return out;
}

}  // namespace fairlead::sched
