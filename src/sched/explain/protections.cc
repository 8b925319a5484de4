// Victims that are not taken, and why (7, 10.1): of what runs, what would make room for a workload
// if one protection were lifted.
#include <algorithm>
#include <map>

#include "sched/explain/explainer.h"
#include "sched/explain/text.h"

namespace fairlead::sched {
namespace {

constexpr std::size_t kMostNamed = 5;
constexpr std::size_t kMostLeftOut = 16;  // tries to do with fewer

std::string_view name_of(Protection protection) {
  switch (protection) {
    case Protection::kNone:
      break;
    case Protection::kMinRuntime:
      return "min-runtime";
    case Protection::kCoolDown:
      return "cool-down";
    case Protection::kShare:
      return "share";
    case Protection::kOwnShare:
      return "own-share";
    case Protection::kNotContested:
      return "not-contested";
    case Protection::kPriority:
      return "priority";
    case Protection::kNonPreemptible:
      return "non-preemptible";
  }
  return "none";
}

}  // namespace

Explainer::Guarded Explainer::guarded(const PoolCore& pool, const WorkloadRecord& w,
                                      const Requirement& requirement, const ShareGuard& guard,
                                      WorkloadId id) const {
  const WorkloadRecord& v = core_.workloads_.get(id);
  const Shape& shape = core_.shapes_.get(v.shape);
  Guarded out;
  out.id = id;
  ResourceVector amounts;
  ResourceSet lacking;
  bool touched = false;
  Instant first = kNever;
  for (std::size_t r = 0; r < v.roles.size(); ++r) {
    const TaskClass& task = core_.classes_.get(shape.classes[r]);
    for (std::size_t i = 0; i < v.roles[r].tasks.size(); ++i) {
      const TaskSlot& slot = v.roles[r].tasks[i];
      if (slot.state != TaskState::kRunning) continue;
      out.tasks.push_back({id, static_cast<std::int32_t>(r), static_cast<std::int32_t>(i)});
      out.cost += disruption(slot, task, v, core_.now_, core_.options_.restart_cost);
      amounts.add(core_.amounts(task, slot.charge_gpu));
      touched = touched || slot.taken_in == core_.outside_events_;
      first = std::min(first, slot.started);
      const NodeState& node = core_.node(slot.placement.node);
      if (!node.usable() || node.pool != pool.state().id) continue;
      for (const auto& [task_class, n] : requirement.needs) {
        const TaskClass& asked = core_.classes_.get(task_class);
        if (empty_fit(asked, node).slots > 0) add_lacking(asked, node.free, lacking);
      }
    }
  }
  bool useful = false;
  for (std::size_t r = 0; r < amounts.size(); ++r)
    useful = useful || (amounts[r] > 0 && lacking.has(r));
  if (!useful) {
    out.tasks.clear();
    return out;
  }
  const bool own = v.queue == w.queue;
  const TakeBack rule = own ? TakeBack::kPreempt : TakeBack::kReclaim;
  if (shape.preemptibility != Preemptibility::kPreemptible) {
    out.by = Protection::kNonPreemptible;
  } else if (own && std::max(v.priority, v.run_priority) >= w.priority) {
    out.by = Protection::kPriority;
  } else if (!own && !guard.may_claim_from(v.queue)) {
    out.by = Protection::kOwnShare;
  } else if (!own && !guard.reaches(v.queue, amounts, lacking)) {
    out.by = Protection::kNotContested;
  } else if (!own && !guard.keeps(v.queue, amounts, lacking)) {
    out.by = Protection::kShare;
  } else if (touched) {
    out.by = Protection::kCoolDown;
  } else {
    out.until = first + core_.protected_for(rule, guard, v.queue);
    if (out.until > core_.now_) out.by = Protection::kMinRuntime;
  }
  return out;
}

// "a, b and 3 more would make room for it in pool p, but are not preemptible".
Reason Explainer::protected_reason(const PoolCore& pool, const WorkloadRecord& w,
                                   const ResourceVector& demand, Protection protection,
                                   const std::vector<const Guarded*>& by) const {
  const PoolId id = pool.state().id;
  Reason out;
  out.code = ReasonCode::kProtected;
  out.pool = pool.state().spec.name;
  out.subject = name_of(protection);
  out.available = std::ssize(by);
  std::string names;
  Instant until{INT64_MIN};
  for (const Guarded* g : by) {
    until = std::max(until, g->until);
    if (out.holders.size() == kMostNamed) continue;
    out.holders.push_back(core_.workloads_.get(g->id).name);
    names += (names.empty() ? "" : ", ") + out.holders.back();
  }
  if (by.size() > kMostNamed) names += " and " + std::to_string(by.size() - kMostNamed) + " more";
  const bool one = by.size() == 1;
  const QueueId of = core_.workloads_.get(by.front()->id).queue;
  const auto share_of = [&](QueueId q, const ResourceVector& added) {
    for (std::size_t r = 0; r < demand.size(); ++r) {
      const QueueLedger& ledger = core_.queues_.ledger(id, q);
      if (demand[r] == 0 || core_.queues_.entitlement(id, q, r).quota == kUnlimited) continue;
      if (added[r] > 0 && ledger.allocated[r] + added[r] <= ledger.fair_share[r]) continue;
      const std::string& name = core_.resources_.name(Id<struct ResourceTag>(r));
      return core_.queues_.get(q).spec.name + (added[r] > 0 ? " would hold " : " holds ") +
             quantity_text(name, ledger.allocated[r] + added[r]) + " of a share of " +
             amount_text(name, ledger.fair_share[r]);
    }
    return core_.queues_.get(q).spec.name + " may keep it";
  };
  out.text = names + " would make room for it in pool " + out.pool + ", but ";
  switch (protection) {
    case Protection::kNone:
      break;
    case Protection::kMinRuntime:
      out.rule = "7.4";
      out.text += std::string(one ? "is" : "are") + " protected by a minimum run time until " +
                  to_rfc3339(until) + "";
      break;
    case Protection::kCoolDown:
      out.rule = "7.7";
      out.text +=
          std::string(one ? "is" : "are") + " left alone after a claim until something happens";
      break;
    case Protection::kShare:
      out.rule = "7.1";
      out.text += std::string(one ? "is" : "are") + " needed for a share: " + share_of(of, {});
      break;
    case Protection::kOwnShare: {
      out.rule = "7.1";
      std::string why;
      // The level at which it would be above its share may be that of a department.
      for (QueueId q = w.queue; q.valid() && why.empty(); q = core_.queues_.get(q).parent) {
        for (std::size_t r = 0; r < demand.size() && why.empty(); ++r) {
          const QueueLedger& ledger = core_.queues_.ledger(id, q);
          const bool limited = core_.queues_.entitlement(id, q, r).quota != kUnlimited;
          if (demand[r] > 0 && limited && ledger.allocated[r] + demand[r] > ledger.fair_share[r])
            why = share_of(q, demand);
        }
      }
      out.text += why;
      break;
    }
    case Protection::kNotContested:
      out.rule = "7.1";
      out.text +=
          "the quota of " + core_.queues_.get(of).spec.name + " for what lacks is unlimited";
      break;
    case Protection::kPriority:
      out.rule = "7.2";
      out.text += std::string(one ? "has" : "have") + " no lower priority than its " +
                  std::to_string(w.priority) + "";
      break;
    case Protection::kNonPreemptible:
      out.rule = "7.2";
      out.text += std::string(one ? "is" : "are") + " not preemptible";
      break;
  }
  return out;
}

// One claim goes by one rule: what may go by it goes beside those that one protection spares.
std::vector<Reason> Explainer::protected_reasons(PoolCore& pool, const WorkloadRecord& w,
                                                 const Requirement& requirement,
                                                 const Core::PastReservations& past) {
  core_.divide(pool);
  const PoolId id = pool.state().id;
  Requirement copy = requirement;
  const ResourceVector demand = core_.demand_in(copy, id);
  const bool later_choice = copy.in(id).stage > 0;  // 7.1.d: its shares are not those of now
  const ShareGuard guard(core_.queues_, id, w.queue, demand);
  const Lift lift{pool.state(),  pool.timeline,  core_.workloads_,
                  core_.shapes_, core_.classes_, core_.now_};
  const auto set_off = [&](const std::vector<const Guarded*>& some, bool off) {
    for (const Guarded* g : some) lift(g->tasks, off, past.until(), past.passes());
  };
  const auto makes_room = [&](const std::vector<const Guarded*>& some) {
    set_off(some, true);
    const bool fit = fits(pool, w, requirement, core_.request_for(pool, w, requirement));
    set_off(some, false);
    return fit;
  };
  // The nearest of them that make room; none if all together do not.
  const auto nearest = [&](const std::vector<const Guarded*>& all) {
    std::vector<const Guarded*> out;
    bool enough = false;
    for (std::size_t n = 1; !enough && out.size() < all.size(); n *= 2) {
      while (out.size() < std::min(n, all.size())) out.push_back(all[out.size()]);
      enough = makes_room(out);
    }
    if (!enough) return std::vector<const Guarded*>{};
    for (std::size_t kept = 0; kept < std::min(kMostLeftOut, out.size());) {
      std::vector<const Guarded*> fewer = out;
      fewer.erase(fewer.end() - static_cast<std::ptrdiff_t>(kept) - 1);
      if (makes_room(fewer)) {
        out = std::move(fewer);
      } else {
        ++kept;
      }
    }
    return out;
  };
  std::vector<Reason> reasons;
  for (const TakeBack rule : {TakeBack::kReclaim, TakeBack::kPreempt}) {
    const bool own = rule == TakeBack::kPreempt;
    if (own ? !core_.options_.preempt : (!core_.options_.reclaim || later_choice)) continue;
    std::vector<Guarded> found;
    for (const QueueId q : core_.queues_.parents_first()) {
      if ((q == w.queue) != own) continue;
      for (const WorkloadId v : core_.queues_.ledger(id, q).running) {
        if (core_.workloads_.get(v).name == w.name) continue;
        Guarded g = guarded(pool, w, requirement, guard, v);
        if (!g.tasks.empty()) found.push_back(std::move(g));
      }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Guarded& a, const Guarded& b) { return a.cost < b.cost; });
    std::map<Protection, std::vector<const Guarded*>> by;
    for (Guarded& g : found) by[g.by].push_back(&g);
    const auto open = std::move(by[Protection::kNone]);
    by.erase(Protection::kNone);
    const auto together = nearest(open);
    if (!together.empty()) {
      // Each may go, not all of them: then shares forbid it.
      if (!own) {
        reasons.push_back(protected_reason(pool, w, demand, Protection::kShare, together));
      }
      continue;
    }
    set_off(open, true);
    for (const auto& [protection, all] : by) {
      const auto spared = nearest(all);
      if (!spared.empty()) reasons.push_back(protected_reason(pool, w, demand, protection, spared));
    }
    set_off(open, false);
  }
  return reasons;
}

}  // namespace fairlead::sched
