// Taking back (rule 7): what blocked claimants are entitled to, found by evict/ and done here.
#include <algorithm>
#include <map>
#include <set>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/check.h"
#include "sched/core/core.h"
#include "sched/explain/text.h"

namespace fairlead::sched {
namespace {

// 7.3.b: a search in vain for what to move among more units is not repeated at once.
constexpr std::size_t kManyUnits = 256;

StopCause cause_of(TakeBack rule) {
  switch (rule) {
    case TakeBack::kReclaim:
      return StopCause::kReclaimed;
    case TakeBack::kPreempt:
      return StopCause::kPreempted;
    case TakeBack::kConsolidate:
      break;
  }
  return StopCause::kMoved;
}

}  // namespace

// 7.4.a: how long what the queue runs is left alone.
Duration Core::protected_for(TakeBack rule, const ShareGuard& guard, QueueId victim) const {
  const auto nearest = [&](QueueId from, std::optional<Duration> QueueSpec::* what) {
    for (QueueId q = from; q.valid(); q = queues_.get(q).parent) {
      if (const auto& own = queues_.get(q).spec.*what) return *own;
    }
    return Duration{0};
  };
  const Duration preempt =
      rule == TakeBack::kReclaim ? Duration{0} : nearest(victim, &QueueSpec::preempt_min_runtime);
  if (rule == TakeBack::kPreempt) return preempt;
  return std::max(preempt, nearest(guard.compared(victim), &QueueSpec::reclaim_min_runtime));
}

PoolCore::Herd Core::herd(PoolCore& pool, const std::vector<WorkloadId>& ids) {
  PoolCore::Herd out;
  out.victims = std::make_unique<Victims>(pool.state(), ids, workloads_, shapes_, classes_, now_,
                                          options_.restart_cost);
  out.taker =
      std::make_unique<Taker>(Trial(*pool.placement, pool.timeline, queues_, now_, *out.victims,
                                    workloads_, shapes_, classes_, options_.search_steps));
  return out;
}

// The search over those that the rule lets a claim turn to; `own` keeps what is for this claim
// only.
Taker* Core::taker(PoolCore& pool, TakeBack rule, QueueId queue, const GangRequest& request,
                   PoolCore::Herd& own) {
  const PoolId id = pool.state().id;
  switch (rule) {
    case TakeBack::kReclaim:
      if (!pool.of_losers.taker) {
        std::vector<WorkloadId> ids;
        for (const QueueId q : pool.losers) note_losable(id, q, ids);
        pool.of_losers = herd(pool, ids);
      }
      return pool.of_losers.taker.get();
    case TakeBack::kPreempt: {
      PoolCore::Herd& herd_of_queue = pool.of_queue[queue];
      if (!herd_of_queue.taker) herd_of_queue = herd(pool, queues_.ledger(id, queue).running);
      return herd_of_queue.taker.get();
    }
    case TakeBack::kConsolidate:
      break;
  }
  // 7.3 looks at the nodes that have most free of those that could hold a task, a few more than the
  // claim has tasks.
  std::size_t most = 16;
  for (const GangRole& role : request.roles) most += 2 * role.indices.size();
  std::vector<const ClassIndex*> indices;
  for (const GangRole& role : request.roles)
    indices.push_back(&pool.placement->index(role.task_class));
  std::vector<std::pair<std::int64_t, std::uint32_t>> nodes;
  for (std::uint32_t slot = request.range.begin; slot < request.range.end; ++slot) {
    const NodeState& node = pool.state().node_at(slot);
    const bool could = std::any_of(indices.begin(), indices.end(), [&](const ClassIndex* index) {
      return index->empty_slots_at(slot) > 0;
    });
    if (node.usable() && could) nodes.emplace_back(-node.free_milli, slot);
  }
  most = std::min(most, nodes.size());
  std::partial_sort(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(most), nodes.end());
  std::set<WorkloadId> ids;
  for (std::size_t i = 0; i < most; ++i) {
    for (const TaskRef& t : pool.state().node_at(nodes[i].second).tasks) ids.insert(t.workload);
  }
  own = herd(pool, {ids.begin(), ids.end()});
  return own.taker.get();
}

// 7.1.d: in a later pool of its list a workload claims as if its demand counted there.
Core::Attempt Core::take_back(PoolCore& pool, BucketId bucket_id, WorkloadId id) {
  const Bucket& bucket = pending_.bucket(bucket_id);
  Requirement& requirement = pending_.requirement(bucket.requirement);
  const ResourceVector demand = demand_in(requirement, bucket.pool);
  if (requirement.in(bucket.pool).stage == 0) return claim_past(pool, bucket_id, id, demand);
  const PoolId pool_id = bucket.pool;
  const QueueId queue = bucket.queue;
  const auto count = [&](std::int64_t times) {
    const auto [version, due] = std::pair(pool.claims_version, pool.claims_due);
    queues_.demand(pool_id, queue, demand, times);
    pool.share_dirty = true;
    divide(pool);
    pool.claims_version = version;
    pool.takeable.version = UINT64_MAX;
    pool.claims_due = due;
    pool.losers = losers(pool);
    pool.of_losers = {};
  };
  const bool rights = pool.rights_changed;
  count(1);
  const Attempt outcome = claim_past(pool, bucket_id, id, demand);
  count(-1);
  if (outcome != Attempt::kStarted) pool.rights_changed = rights;  // the shares are what they were
  return outcome;
}

// With the room of reservations that it need not mind (9.2.b).
Core::Attempt Core::claim_past(PoolCore& pool, BucketId bucket, WorkloadId id,
                               const ResourceVector& demand) {
  const PastReservations past(*this, pool, id, demand);
  const Attempt outcome = claim_in(pool, bucket, id, past);
  if (outcome == Attempt::kStarted && past.by_right()) pool.plans_changed = true;
  return outcome;
}

Core::Attempt Core::claim_in(PoolCore& pool, BucketId bucket_id, WorkloadId id,
                             const PastReservations& past) {
  ++claims_;
  const Bucket& bucket = pending_.bucket(bucket_id);
  Requirement& requirement = pending_.requirement(bucket.requirement);
  const ResourceVector demand = demand_in(requirement, bucket.pool);
  const WorkloadRecord& w = workloads_.get(id);
  const PoolId pool_id = pool.state().id;
  const QueueId queue = bucket.queue;
  GangRequest request = request_for(pool, w, requirement);
  request.range = ranges_for(pool, w, shapes_.get(w.shape)).back();  // wherever it may lie
  const GateRequest gate{pool_id, queue, &demand, requirement.non_preemptible};
  const bool varies =
      std::any_of(requirement.needs.begin(), requirement.needs.end(),
                  [&](const auto& need) { return charge_varies(pool, need.first); });
  Claim claim;
  claim.workload = id;
  claim.queue = queue;
  claim.priority = w.priority;
  claim.request = &request;
  claim.until = past.until();
  claim.passes = past.passes();
  for (QueueId q = queue; q.valid(); q = queues_.get(q).parent) {
    ResourceSet reached;
    for (std::size_t r = 0; r < demand.size(); ++r) {
      const Entitlement& e = queues_.entitlement(pool_id, q, r);
      const std::int64_t with = queues_.ledger(pool_id, q).allocated[r] + demand[r];
      if (demand[r] > 0 && e.limit != kUnlimited && with > e.limit) reached.add(r);
    }
    if (!reached.empty()) claim.behind_gates.emplace_back(q, reached);
  }
  const SlotRange range = request.range;
  claim.place = [&](std::int64_t& steps) {
    GangOutcome outcome;
    if (!gates_open(queues_, resources_, gate, now_, nullptr)) return outcome;
    outcome = place(pool, w, request, &steps);
    request.range = range;
    if (outcome.verdict == GangVerdict::kPlaced && varies &&
        !within_gates(pool, w, requirement, request, outcome.tasks)) {
      GangPlacer::release(*pool.placement, request, outcome.tasks);
      outcome = GangOutcome{GangVerdict::kNotFound, {}};  // elsewhere it may be charged less
    }
    return outcome;
  };
  claim.release = [&](const std::vector<TaskPlacement>& tasks) {
    GangPlacer::release(*pool.placement, request, tasks);
  };
  claim.charge = [&](WorkloadId whose, const std::vector<TaskPlacement>& tasks) {
    ResourceVector sum;
    const Shape& shape = shapes_.get(workloads_.get(whose).shape);
    for (const TaskPlacement& t : tasks) {
      const TaskClass& task = classes_.get(shape.classes[static_cast<std::size_t>(t.role)]);
      sum.add(amounts(task, gpu_charge(pool, task, t)));
    }
    return sum;
  };
  const ShareGuard guard(queues_, pool_id, queue, demand);
  claim.may_lose = [&](QueueId q) {
    const QueueLedger& ledger = queues_.ledger(pool_id, q);
    for (std::size_t r = 0; r < ledger.allocated.size(); ++r) {
      std::int64_t unit = 1;
      if (r == kGpuResource && ledger.by_smallest_unit.empty()) continue;
      if (r == kGpuResource) unit = ledger.by_smallest_unit.begin()->first;
      ResourceVector least;
      least.at(r) = unit;
      ResourceSet alone;
      alone.add(r);
      if (guard.reaches(q, least, alone) && guard.keeps(q, least, alone)) return true;
    }
    return false;
  };
  std::vector<TakeBack> rules;
  const bool scattered = options_.consolidate && claim.behind_gates.empty() &&
                         free_in_all(pool, requirement) && !moves_pause(pool, bucket.requirement);
  if (scattered) rules.push_back(TakeBack::kConsolidate);
  if (options_.reclaim && guard.entitled() && !surely_too_little(pool, queue, request))
    rules.push_back(TakeBack::kReclaim);
  if (runs_below(pool_id, queue, w.priority)) rules.push_back(TakeBack::kPreempt);
  Attempt failed = Attempt::kGateShut;
  for (const TakeBack rule : rules) {
    const auto untouchable = [&](const VictimUnit& unit) {
      const WorkloadRecord& victim = workloads_.get(unit.workload);
      for (const TaskRef& t : unit.tasks) {
        if (task_slot(victim, t).taken_in != outside_events_) continue;
        pool.spared_in = outside_events_;
        return true;
      }
      if (!some_min_runtime_) return false;
      const Instant until = unit.started + protected_for(rule, guard, unit.queue);
      if (until <= now_) return false;
      pool.unprotected_at = std::min(pool.unprotected_at, until);
      return true;
    };
    PoolCore::Herd own;
    Taker::Outcome outcome =
        taker(pool, rule, queue, request, own)->find(rule, claim, &guard, untouchable);
    claim_steps_ += outcome.steps;
    if (outcome.answer != Taker::Answer::kFound) {
      if (outcome.answer == Taker::Answer::kRanOut) failed = Attempt::kRanOut;
      if (rule == TakeBack::kConsolidate && own.victims->units().size() > kManyUnits)
        requirement.in(pool_id).no_move_before = now_ + kPutOff;
      continue;
    }
    carry_out(pool, rule, id, bucket.requirement, std::move(outcome.set));
    return Attempt::kStarted;
  }
  return failed;
}

// 10.3. Requires: nothing has stopped yet.
std::string Core::eviction_text(const PoolCore& pool, TakeBack rule, const WorkloadRecord& victim,
                                const WorkloadRecord& claimant, const ResourceSet& contested,
                                const ResourceVector& given) const {
  const PoolId id = pool.state().id;
  std::string lacks;   // "GPU and CPU"
  std::string gives;   // "1 GPU, 8 CPUs"
  std::string shares;  // of queues that are compared
  const QueueId compared = ShareGuard(queues_, id, claimant.queue, {}).compared(victim.queue);
  const auto add = [](std::string& text, std::string_view between, const std::string& part) {
    text += (text.empty() ? "" : std::string(between)) + part;
  };
  for (std::size_t r = 0; r < resources_.size(); ++r) {
    if (!contested.has(r)) continue;
    const std::string& name = resources_.name(Id<struct ResourceTag>(r));
    add(lacks, " and ", resource_label(name));
    if (given[r] == 0) continue;
    add(gives, ", ", quantity_text(name, given[r]));
    if (queues_.entitlement(id, compared, r).quota == kUnlimited) continue;
    for (const QueueId q : {compared, claimant.queue}) {
      const QueueLedger& ledger = queues_.ledger(id, q);
      const bool unlimited = queues_.entitlement(id, q, r).quota == kUnlimited;
      add(shares, q == compared ? "; " : ", ",
          queues_.get(q).spec.name + " holds " + quantity_text(name, ledger.allocated[r]) +
              (unlimited ? " of an unlimited quota"
                         : " of a share of " + amount_text(name, ledger.fair_share[r])));
    }
  }
  const std::string whom = " for " + claimant.name + " of " +
                           queues_.get(claimant.queue).spec.name + ", which lacks " + lacks;
  switch (rule) {
    case TakeBack::kReclaim:
      return "reclaimed (7.1)" + whom + ": " + shares + "; gives " + gives;
    case TakeBack::kPreempt:
      return "preempted (7.2)" + whom + ": priority " + std::to_string(claimant.priority) +
             " over " + std::to_string(std::max(victim.priority, victim.run_priority)) +
             "; gives " + gives;
    case TakeBack::kConsolidate:
      break;
  }
  return "moved (7.3)" + whom + " in one piece: pool " + pool.state().spec.name + " has " +
         quantity_text("gpu", pool.state().free_milli(pool.state().all())) + " free; gives " +
         gives;
}

const TaskSlot& Core::task_slot(const WorkloadRecord& w, const TaskRef& task) {
  return w.roles[static_cast<std::size_t>(task.role)].tasks[static_cast<std::size_t>(task.index)];
}

// A task that started in this very decision did not start: true if it is so.
bool Core::unsay_start(const TaskRef& task) {
  const WorkloadRecord& w = workloads_.get(task.workload);
  if (task_slot(w, task).started != now_) return false;
  for (auto it = decisions_.rbegin(); it != decisions_.rend(); ++it) {
    auto* started = std::get_if<Started>(&*it);
    if (!started || started->workload != task.workload) continue;
    const auto same = [&](const TaskPlacement& t) {
      return t.role == task.role && t.index == task.index;
    };
    if (std::erase_if(started->tasks, same) == 0) continue;
    if (started->tasks.empty()) decisions_.erase(std::next(it).base());
    return true;
  }
  return false;
}

// Does for good what a search found: victims stop, the claimant starts, and what is moved starts
// again elsewhere.
void Core::carry_out(PoolCore& pool, TakeBack rule, WorkloadId claimant, RequirementId requirement,
                     VictimSet outcome) {
  const PoolId pool_id = pool.state().id;
  const StartKind kind = start_kind(pending_.requirement(requirement), workloads_.get(claimant));
  pool.timeline.show_all();  // what was found lies in what is really free
  std::vector<WorkloadId> victims;
  boost::unordered_flat_map<WorkloadId, std::size_t, std::hash<WorkloadId>> position;
  for (const TaskRef& t : outcome.victims) {
    if (position.try_emplace(t.workload, victims.size()).second) victims.push_back(t.workload);
  }
  const auto class_of = [&](WorkloadId id, std::int32_t role) -> const TaskClass& {
    return classes_.get(
        shapes_.get(workloads_.get(id).shape).classes[static_cast<std::size_t>(role)]);
  };
  std::vector<ResourceVector> given(victims.size());
  for (const TaskRef& t : outcome.victims) {
    const std::int64_t gpu = task_slot(workloads_.get(t.workload), t).charge_gpu;
    given[position.at(t.workload)].add(amounts(class_of(t.workload, t.role), gpu));
  }
  std::map<WorkloadId, std::int32_t> run_priority;
  std::vector<Stopped> stops;
  stops.reserve(victims.size());
  for (std::size_t i = 0; i < victims.size(); ++i) {
    const WorkloadRecord& w = workloads_.get(victims[i]);
    Stopped stop = stop_of(victims[i], cause_of(rule));
    stop.claimant = claimant;
    // Many victims of one claim are alike, and so is what is said of them.
    const WorkloadRecord* last = i == 0 ? nullptr : &workloads_.get(victims[i - 1]);
    const bool alike = last && last->queue == w.queue && last->priority == w.priority &&
                       last->run_priority == w.run_priority && given[i] == given[i - 1];
    stop.text =
        alike ? stops.back().text
              : eviction_text(pool, rule, w, workloads_.get(claimant), outcome.contested, given[i]);
    stops.push_back(std::move(stop));
  }
  for (const WorkloadId v : victims) {
    run_priority[v] = workloads_.get(v).run_priority;
    withdraw_wants(v);
    lost_something_.push_back(workloads_.get(v).queue);
  }
  std::set<PoolId> touched{pool_id};  // a node may have changed pools since
  for (const TaskRef& t : outcome.victims) {
    touched.insert(nodes_[task_slot(workloads_.get(t.workload), t).placement.node.index()].pool);
    if (unsay_start(t)) {
      ++unsaid_;
    } else {
      stops[position.at(t.workload)].tasks.emplace_back(t.role, t.index);
    }
    stop_task(t.workload, t.role, t.index, TaskState::kPending);
  }
  for (Stopped& stop : stops) {
    if (stop.tasks.empty()) continue;
    ++evictions_;
    decisions_.emplace_back(std::move(stop));
  }
  // 7.7: what was taken, and what it was taken for, rests until something happens outside.
  const auto touch = [this](WorkloadId id, std::int32_t role, std::int32_t index) {
    task_slot(workloads_.get(id), role, index).taken_in = outside_events_;
  };
  for (const TaskRef& t : outcome.victims) touch(t.workload, t.role, t.index);
  const auto take = [&](WorkloadId id, const std::vector<TaskPlacement>& tasks) {
    for (const TaskPlacement& t : tasks) pool.state().take(t.node, t, class_of(id, t.role));
  };
  take(claimant, outcome.tasks);
  Started started = commit(claimant, pool_id, kind, std::move(outcome.tasks));
  for (const TaskPlacement& t : started.tasks) touch(claimant, t.role, t.index);
  std::vector<Started> moved;
  for (auto& move : outcome.moves) {
    const std::int32_t priority = run_priority[move.workload];
    take(move.workload, move.tasks);
    moved.push_back(commit(move.workload, pool_id, {}, std::move(move.tasks)));
    workloads_.get(move.workload).run_priority = priority;  // it goes on as what it was
  }
  drop_reservation_of(claimant);
  // What was freed may be promised.
  for (const PoolId id : touched) pools_[id.index()]->timeline.hide(now_, kNever, {});
  for (const WorkloadId v : victims) {
    after_change(v);
  }
  refresh_wants(claimant);
  for (Started& m : moved) decisions_.emplace_back(std::move(m));
  decisions_.emplace_back(std::move(started));
  for (const WorkloadId v : victims) {
    if (pool.of_losers.victims) pool.of_losers.victims->changed(v);
    const auto own = pool.of_queue.find(workloads_.get(v).queue);
    if (own != pool.of_queue.end()) own->second.victims->changed(v);
  }
  ++served_claims_;
}

}  // namespace fairlead::sched
