// The driver's checks of rule 7: I4, I6, I7, and 7.5.
#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "driver.h"

namespace fairlead::property {

// Decisions from `first` on that serve one claim: stops, what is moved, the claimant's start. How
// many decisions there were before what follows.
std::size_t Driver::check_claim(const std::vector<sched::Decision>& decisions, std::size_t first,
                                Holdings& holdings, Known known) {
  const auto& head = std::get<sched::Stopped>(decisions[first]);
  const std::string& claimant = scheduler_.workload_name(head.claimant);
  const Holdings before = holdings;
  std::vector<HeldTask> victims;
  std::set<std::string> names;
  std::size_t i = first;
  for (; i < decisions.size(); ++i) {
    const auto* stopped = std::get_if<sched::Stopped>(&decisions[i]);
    if (!stopped || stopped->claimant != head.claimant || stopped->cause != head.cause) break;
    const std::string& name = scheduler_.workload_name(stopped->workload);
    names.insert(name);
    if (stopped->text.empty()) complain("10.3: no reason is given why " + name + " is stopped");
    for (const auto& [role, index] : stopped->tasks) {
      ++stopped_;
      const auto held = std::find_if(holdings.begin(), holdings.end(), [&](const HeldTask& t) {
        return t.workload == name && t.role == static_cast<std::size_t>(role) && t.index == index;
      });
      if (held == holdings.end()) {
        complain(fmt::format("{}/{}-{} is stopped and does not run", name, role, index));
        return i + 1;
      }
      victims.push_back(*held);
      holdings.erase(held);
    }
  }
  std::vector<const sched::Started*> moved;
  const sched::Started* start = nullptr;
  for (; i < decisions.size() && !start; ++i) {
    const auto* started = std::get_if<sched::Started>(&decisions[i]);
    if (!started) {
      if (std::holds_alternative<sched::Finished>(decisions[i])) continue;
      break;
    }
    if (started->workload == head.claimant) {
      start = started;
    } else if (head.cause == sched::StopCause::kMoved &&
               (unsaid_ || names.contains(scheduler_.workload_name(started->workload)))) {
      // What moved before it had really started is not stopped.
      moved.push_back(started);
    } else {
      break;
    }
  }
  if (!start) {
    if ((checks_ & kLoops) != 0) {
      complain(fmt::format("7.7: {} is stopped for {}, which does not start",
                           scheduler_.workload_name(head.workload), claimant));
    }
    return i;
  }
  if ((checks_ & kLoops) != 0) {
    for (const HeldTask& v : victims) {
      if (past_.taken.contains({v.workload, v.role, v.index})) {
        complain(fmt::format("7.7: {}/{}-{} is stopped twice for one event", v.workload, v.role,
                             v.index));
      }
    }
  }
  if (head.cause == sched::StopCause::kMoved) {
    std::set<TaskKey> again;
    for (const sched::Started* m : moved) {
      for (const sched::TaskPlacement& t : m->tasks) {
        again.emplace(scheduler_.workload_name(m->workload), static_cast<std::size_t>(t.role),
                      t.index);
      }
    }
    for (const HeldTask& v : victims) {
      if (again.contains({v.workload, v.role, v.index})) continue;
      complain(fmt::format("7.3: {}/{}-{} is moved for {} and does not run again", v.workload,
                           v.role, v.index, claimant));
    }
  } else {
    const auto rule =
        head.cause == sched::StopCause::kReclaimed ? ClaimRule::kReclaim : ClaimRule::kPreempt;
    Claimant asked{claimant, scheduler_.pool_name(start->pool), {}, {}, false};
    for (const HeldTask& t : before) {
      if (t.workload == claimant) asked.running.push_back({t.role, t.index, t.node});
    }
    for (const sched::TaskPlacement& t : start->tasks) {
      asked.tasks.push_back({static_cast<std::size_t>(t.role), t.index, {}});
    }
    if ((checks_ & kVictims) != 0) {
      const std::string wrong = wrong_with(victims, asked, rule, scene(before), known);
      if (!wrong.empty()) complain(fmt::format("stopped for {}: {}", claimant, wrong));
    }
    if ((checks_ & kCheapest) != 0 && known == Known::kAll && asked.tasks.size() <= 8 &&
        !failed()) {
      Int128 cost = 0;
      std::set<std::string> hit;
      for (const HeldTask& v : victims) {
        cost += disruption_of(v, scene(before));
        hit.insert(v.workload);
      }
      const auto best = cheapest_victims(asked, rule, scene(before), cost + 1);
      if (best && (best->cost < cost || best->workloads < hit.size())) {
        complain(fmt::format(
            "7.5: stopped for {}: {} workloads at a cost of {}; {} would do, at {}", claimant,
            hit.size(), static_cast<double>(cost), best->text, static_cast<double>(best->cost)));
      }
    }
  }
  for (const HeldTask& v : victims) past_.taken.emplace(v.workload, v.role, v.index);
  // 7.7.b: nor is what was started for it stopped again.
  for (const sched::TaskPlacement& t : start->tasks)
    past_.taken.emplace(claimant, static_cast<std::size_t>(t.role), t.index);
  for (const sched::Started* m : moved) check_start(*m, holdings, true);
  check_start(*start, holdings, false);
  // 5.1: what moves may be charged more where it goes; a limit that was kept stays kept.
  const std::string& pool = scheduler_.pool_name(start->pool);
  for (const std::string& queue : scheduler_.queue_names()) {
    if ((checks_ & kGates) == 0) break;
    const Amounts then = allocated(before, queue, pool, symbols_);
    for (const auto& [resource, amount] : allocated(holdings, queue, pool, symbols_)) {
      const Entitlement e = entitlement_of(queue, pool, resource, symbols_);
      const auto it = then.find(resource);
      if (e.limit == kUnlimited || amount <= e.limit) continue;
      if (it != then.end() && amount <= it->second) continue;
      complain(fmt::format("5.1: what moves for {} takes {} to {} of {}, limit {}", claimant, queue,
                           amount, resource, e.limit));
    }
  }
  return i;
}

void Driver::note_started(const sched::Started& started, const Holdings& before, bool moved) {
  const std::string& name = scheduler_.workload_name(started.workload);
  const bool ran = std::any_of(before.begin(), before.end(),
                               [&](const HeldTask& t) { return t.workload == name; });
  for (const sched::TaskPlacement& t : started.tasks)
    past_.started[{name, static_cast<std::size_t>(t.role), t.index}] = now_;
  // What moved before it had really started starts now.
  const bool goes_on =
      moved && std::any_of(started.tasks.begin(), started.tasks.end(), [&](const auto& t) {
        return past_.taken.contains({name, static_cast<std::size_t>(t.role), t.index});
      });
  if (ran || goes_on) return;
  const PoolSpec& pool = symbols_.pools.at(scheduler_.pool_name(started.pool));
  std::int64_t aged = 0;
  if (const auto view = scheduler_.workload(name); view && pool.aging_interval.ms > 0) {
    const Duration waited = now_ - view->submitted;
    aged = std::min<std::int64_t>(pool.aging_max, waited.ms / pool.aging_interval.ms);
  }
  past_.run_priority[name] = symbols_.workloads.at(name).priority + aged;
}

// I6 for one workload: no legal set of victims makes room for what it wants next.
void Driver::check_entitled(const std::string& workload, const Holdings& holdings) {
  const std::vector<std::string> pools = pools_open_to(workload);
  for (const Want& want : wants(workload)) {
    if (want.tasks.size() > 8) continue;
    for (const std::string& pool : pools) {
      if (!symbols_.pools.contains(pool)) continue;
      const Claimant claimant{workload, pool, running(workload), want.tasks, want.non_preemptible};
      for (const ClaimRule rule : {ClaimRule::kReclaim, ClaimRule::kPreempt}) {
        if (rule == ClaimRule::kReclaim && pool != pools.front()) continue;  // 7.1.d
        const auto found = cheapest_victims(claimant, rule, scene(holdings));
        if (!found) continue;
        return complain(fmt::format("I6: {} waits in pool {} but may {} {}", workload, pool,
                                    rule == ClaimRule::kReclaim ? "reclaim" : "preempt",
                                    found->text));
      }
    }
  }
}

}  // namespace fairlead::property
