#include "driver.h"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "cures.h"
#include "sim/scenario/audit.h"
#include "sim/scenario/event_text.h"
#include "sim/scenario/scenario.h"

namespace fairlead::property {
namespace {

template <class T>
const T* as(const sched::Event& event) {
  return std::get_if<T>(&event);
}

std::size_t role_named(const WorkloadSpec& spec, const std::string& name) {
  std::size_t r = 0;
  while (r < spec.roles.size() && spec.roles[r].name != name) ++r;
  return r;
}

}  // namespace

Driver::Driver(std::uint32_t checks, bool taking_back)
    : checks_(checks), scheduler_(new_scheduler(taking_back)), now_(sim::kScenarioStart) {
  symbols_.now = now_;
}

void Driver::complain(std::string text) {
  if (complaint_.empty()) complaint_ = std::move(text);
}

bool Driver::tell(sched::Event event) {
  if (const auto* e = as<sched::NodeUpserted>(event)) note_displaced(e->node);
  const auto applied = scheduler_.apply(now_, event);
  history_.push_back({now_, event, !applied.has_value()});
  if (applied) {
    note(event);
    if (!as<sched::TimePassed>(event) && !as<sched::CheckpointSaved>(event)) past_.taken.clear();
  } else {
    decisions_ += "refused: " + applied.error().text() + "\n";
    const auto* submitted = as<sched::WorkloadSubmitted>(event);
    if ((checks_ & kAdmission) != 0 && submitted &&
        applied.error().code == ErrorCode::kImpossible) {
      const std::string wrong = wrongly_impossible(*this, submitted->workload);
      if (!wrong.empty()) complain(wrong + "; the core says: " + applied.error().text());
    }
  }
  check_state(applied ? "after the event" : "after an event that was turned away");
  return applied.has_value();
}

// A node that moves in the topology tears its gangs apart; nobody can ask them to be near again.
void Driver::note_displaced(const NodeSpec& node) {
  const auto it = symbols_.nodes.find(node.name);
  if (it == symbols_.nodes.end()) return;
  if (it->second.topology == node.topology && it->second.pool == node.pool) return;
  for (const HeldTask& task : holdings_of(scheduler_, symbols_)) {
    if (task.node == node.name) displaced_.insert(task.workload);
  }
}

void Driver::note(const sched::Event& event) {
  if (const auto* e = as<sched::WorkloadChanged>(event); e && e->priority) {
    const std::int64_t before = symbols_.workloads.at(e->workload).priority;
    past_.run_priority[e->workload] += *e->priority - before;
  }
  symbols_.note(event);
  if (const auto* e = as<sched::WorkloadSubmitted>(event)) {
    past_.succeeded.erase(e->workload.name);
    retry_at_.erase(e->workload.name);
  } else if (const auto* a = as<sched::WorkloadAdopted>(event)) {
    past_.succeeded.erase(a->entry.spec.name);
    retry_at_.erase(a->entry.spec.name);
    past_.run_priority[a->entry.spec.name] = a->entry.spec.priority;
    for (const RunningTask& task : a->entry.running) {
      past_.started[{a->entry.spec.name, role_named(a->entry.spec, task.role), task.index}] =
          a->entry.started.value_or(now_);
    }
  } else if (const auto* ended = as<sched::TaskEnded>(event)) {
    const WorkloadSpec& spec = symbols_.workloads.at(ended->workload);
    if (ended->outcome == sched::TaskOutcome::kSucceeded) {
      past_.succeeded[ended->workload].emplace(role_named(spec, ended->role), ended->index);
    }
  } else if (const auto* saved = as<sched::CheckpointSaved>(event)) {
    const WorkloadSpec& spec = symbols_.workloads.at(saved->workload);
    for (const HeldTask& task : holdings_of(scheduler_, symbols_)) {
      if (task.workload != saved->workload) continue;
      if (!saved->role.empty() && role_named(spec, saved->role) != task.role) continue;
      if (saved->index >= 0 && task.index != saved->index) continue;
      past_.saved[{task.workload, task.role, task.index}] = now_;
    }
  } else if (const auto* refused = as<sched::StartRefused>(event)) {
    retry_at_[refused->workload] = refused->retry_at;
  } else if (const auto* changed = as<sched::WorkloadChanged>(event)) {
    const WorkloadSpec& spec = symbols_.workloads.at(changed->workload);
    if (spec.independent_tasks()) return;
    std::erase_if(past_.succeeded[changed->workload],
                  [&](const auto& task) { return task.second >= spec.roles[task.first].count; });
  }
}

void Driver::decide() {
  Holdings holdings = holdings_of(scheduler_, symbols_);
  const auto unsaid = [this] {
    for (const auto& [name, count] : scheduler_.counters()) {
      if (name == "starts_unsaid") return count;
    }
    return std::int64_t{0};
  };
  const std::int64_t before = unsaid();
  const std::vector<sched::Decision> decisions = scheduler_.decide(now_);
  history_.push_back({now_, std::nullopt, false});
  decisions_ += "decide\n" + exact_text(decisions, scheduler_);
  unsaid_ = unsaid() != before;
  const Known known = unsaid_                      ? Known::kLittle
                      : symbols_.pools.size() == 1 ? Known::kAll
                                                   : Known::kTasks;
  for (std::size_t i = 0; i < decisions.size() && !failed();) {
    if (const auto* started = std::get_if<sched::Started>(&decisions[i])) {
      check_start(*started, holdings, false);
      ++i;
    } else if (const auto* stopped = std::get_if<sched::Stopped>(&decisions[i]);
               stopped && stopped->claimant.valid()) {
      i = check_claim(decisions, i, holdings, known);
    } else if (stopped && stopped->cause == sched::StopCause::kStale) {
      // 8.3: in this decision, and it may start again in it.
      const std::string& name = scheduler_.workload_name(stopped->workload);
      std::erase_if(holdings, [&](const HeldTask& t) { return t.workload == name; });
      ++i;
    } else {
      ++i;
    }
  }
  check_state("after the decision");
  if (!failed()) check_rest();
}

void Driver::advance(Instant to) {
  decide();
  now_ = to;
  symbols_.now = to;
  tell(sched::TimePassed{});
}

void Driver::check_state(const char* when) {
  if ((checks_ & kBooks) == 0 || failed()) return;
  if (const auto verified = scheduler_.verify(); !verified) {
    complain(fmt::format("{}: {}", when, verified.error().text()));
    return;
  }
  const Holdings holdings = holdings_of(scheduler_, symbols_);
  check_nodes(holdings, when);
  check_queues(holdings, when);
}

// I1 for nodes and devices: what is free is what there is less what the tasks hold, never negative.
void Driver::check_nodes(const Holdings& holdings, const char* when) {
  for (const NodeRoom& room : rooms_of(holdings, scheduler_, symbols_)) {
    const auto view = scheduler_.node(room.spec->name);
    const auto wrong = [&](const std::string& what, std::int64_t ours, std::int64_t theirs) {
      if (ours >= 0 && ours == theirs) return;
      complain(fmt::format("{}: I1: {} of node {}: {} by the tasks, {} by the core", when, what,
                           room.spec->name, ours, theirs));
    };
    wrong("free CPU", room.cpu, view->free_cpu_milli);
    wrong("free memory", room.memory, view->free_memory);
    for (const auto& [name, amount] : room.extended) {
      const auto it = view->free_extended.find(name);
      wrong("free " + name, amount, it == view->free_extended.end() ? 0 : it->second);
    }
    for (std::size_t d = 0; d < room.devices.size(); ++d) {
      const DeviceRoom& device = room.devices[d];
      wrong("free milli of " + device.spec->id, device.milli, view->devices.at(d).free_milli);
      wrong("free MiB of " + device.spec->id, device.mib, view->devices.at(d).free_mib);
    }
  }
}

// I11 for queues: what each is said to hold is what the tasks below it are charged.
void Driver::check_queues(const Holdings& holdings, const char* when) {
  for (const std::string& queue : scheduler_.queue_names()) {
    for (const std::string& pool : scheduler_.pool_names()) {
      const auto view = scheduler_.queue(queue, pool);
      const Amounts ours = allocated(holdings, queue, pool, symbols_);
      const NonPreemptible bounds = non_preemptible(holdings, queue, pool, symbols_);
      const auto of = [](const Amounts& amounts, const std::string& name) {
        const auto it = amounts.find(name);
        return it == amounts.end() ? std::int64_t{0} : it->second;
      };
      for (const auto& [name, amount] : view->allocated) {
        if (of(ours, name) == amount) continue;
        complain(fmt::format("{}: I11: {} of queue {} in {}: {} by the tasks, {} by the core", when,
                             name, queue, pool, of(ours, name), amount));
      }
      for (const auto& [name, amount] : view->non_preemptible) {
        if (of(bounds.least, name) <= amount && amount <= of(bounds.greatest, name)) continue;
        complain(fmt::format(
            "{}: 5.3: non-preemptible {} of queue {} in {}: {} to {} by the tasks, {} by the core",
            when, name, queue, pool, of(bounds.least, name), of(bounds.greatest, name), amount));
      }
    }
  }
}

// `moved`: the tasks ran until this decision (7.3).
void Driver::check_start(const sched::Started& started, Holdings& holdings, bool moved) {
  const Holdings before = holdings;
  note_started(started, before, moved);
  for (const sched::TaskPlacement& task : started.tasks) {
    holdings.push_back(held_of(started, task, scheduler_, symbols_));
  }
  if ((checks_ & kGangs) != 0) {
    check_whole(started, moved);
    for (const sched::TaskPlacement& task : started.tasks) {
      const NodeSpec& node = symbols_.nodes.at(scheduler_.node_name(task.node));
      if (node.pool == scheduler_.pool_name(started.pool)) continue;
      complain(fmt::format("6.1: {} starts in pool {} on {}, a node of {}",
                           scheduler_.workload_name(started.workload),
                           scheduler_.pool_name(started.pool), node.name, node.pool));
    }
    for (const std::string& wrong : sim::audit_start(started, scheduler_, symbols_)) {
      const bool apart = wrong.find(" domains of ") != std::string::npos;
      if ((moved || unsaid_) && wrong.find("whose minimum is") != std::string::npos) continue;
      if (apart && displaced_.contains(scheduler_.workload_name(started.workload))) continue;
      complain("6.1, 6.4: " + wrong);
    }
  }
  if ((checks_ & kGates) != 0) check_gates(started, before, holdings, moved);
}

// I2: a start that is no growth gives every role its minimum; growth comes on top of one.
void Driver::check_whole(const sched::Started& started, bool moved) {
  const std::string& name = scheduler_.workload_name(started.workload);
  const WorkloadSpec& spec = symbols_.workloads.at(name);
  if (spec.independent_tasks()) {
    if (started.tasks.size() != 1 && !moved && !unsaid_)
      complain(fmt::format("8.2: {} started two at once", name));
    return;
  }
  const auto view = scheduler_.workload(name);
  for (std::size_t r = 0; r < spec.roles.size(); ++r) {
    // Decisions of one call only add tasks, so the view after the call is an upper bound; what was
    // started later in the same call is growth and never hides a minimum that was missed.
    std::int32_t now = 0;
    for (const sched::TaskView& task : view->tasks) now += task.role == spec.roles[r].name ? 1 : 0;
    const auto done = std::count_if(past_.succeeded[name].begin(), past_.succeeded[name].end(),
                                    [&](const auto& task) { return task.first == r; });
    if (!moved && now + done < spec.roles[r].min) {
      complain(
          fmt::format("I2: {} started with {} running and {} done of role {}, whose minimum is {}",
                      name, now, done, spec.roles[r].name, spec.roles[r].min));
    }
    std::int32_t started_of_role = 0;
    for (const sched::TaskPlacement& task : started.tasks) {
      started_of_role += task.role == static_cast<std::int32_t>(r) ? 1 : 0;
    }
    if (now > spec.roles[r].count) {
      complain(fmt::format("8.1: {} runs {} of role {}, whose count is {}", name, now,
                           spec.roles[r].name, spec.roles[r].count));
    }
    if (!started.growth && !moved && !unsaid_ && started_of_role > spec.roles[r].min) {
      complain(fmt::format("8.1: {} starts with {} of role {}, above its minimum of {}", name,
                           started_of_role, spec.roles[r].name, spec.roles[r].min));
    }
  }
}

// 5.1 to 5.4 at the moment of the start, for each resource that it asks.
void Driver::check_gates(const sched::Started& started, const Holdings& before,
                         const Holdings& after, bool moved) {
  const std::string& name = scheduler_.workload_name(started.workload);
  const std::string& pool = scheduler_.pool_name(started.pool);
  const WorkloadSpec& spec = symbols_.workloads.at(name);
  Amounts asked;
  for (std::size_t i = before.size(); i < after.size(); ++i) {
    for (const auto& [resource, amount] : after[i].charge) asked[resource] += amount;
  }
  const bool counts = !moved && (spec.preemptibility == Preemptibility::kNonPreemptible ||
                                 (spec.preemptibility == Preemptibility::kSemiPreemptible &&
                                  !started.growth && !spec.independent_tasks()));
  for (const std::string& queue : upward(spec.queue, symbols_)) {
    const Amounts held = allocated(after, queue, pool, symbols_);
    const Amounts fixed = non_preemptible(after, queue, pool, symbols_).least;
    for (const auto& [resource, amount] : asked) {
      if (amount == 0) continue;
      const Entitlement e = entitlement_of(queue, pool, resource, symbols_);
      if (!moved && e.limit != kUnlimited && held.at(resource) > e.limit) {
        complain(fmt::format("5.1: {} starts and {} holds {} of {}, limit {}", name, queue,
                             held.at(resource), resource, e.limit));
      }
      const auto it = fixed.find(resource);
      if (counts && e.quota != kUnlimited && it != fixed.end() && it->second > e.quota) {
        complain(fmt::format("I3: {} starts and {} holds {} of {} non-preemptible, quota {}", name,
                             queue, it->second, resource, e.quota));
      }
    }
  }
  if (moved) return;
  if (!windows_open(spec.queue, now_, symbols_)) {
    complain(fmt::format("5.4: {} starts outside the windows of {}", name, spec.queue));
  }
  if (backs_off(name)) complain(fmt::format("4.3: {} starts while it backs off", name));
}

bool windows_open(const std::string& queue, Instant now, const sim::Symbols& symbols) {
  constexpr std::int64_t kWeek = 7 * 24 * 60;
  // 2026-01-05 is a Monday.
  const std::int64_t minute = (now - sim::kScenarioStart).ms / 60'000 % kWeek;
  for (const std::string& q : upward(queue, symbols)) {
    const auto& windows = symbols.queues.at(q).windows;
    const bool open = std::any_of(windows.begin(), windows.end(), [&](const TimeWindow& w) {
      return w.from_minute < w.to_minute ? minute >= w.from_minute && minute < w.to_minute
                                         : minute >= w.from_minute || minute < w.to_minute;
    });
    if (!windows.empty() && !open) return false;
  }
  return true;
}

bool Driver::backs_off(const std::string& workload) const {
  const auto it = retry_at_.find(workload);
  return it != retry_at_.end() && it->second > now_;
}

std::vector<PlacedTask> Driver::running(const std::string& workload) const {
  std::vector<PlacedTask> out;
  const auto view = scheduler_.workload(workload);
  const WorkloadSpec& spec = symbols_.workloads.at(workload);
  for (const sched::TaskView& task : view->tasks) {
    out.push_back({role_named(spec, task.role), task.index, task.node});
  }
  return out;
}

std::vector<Want> Driver::wants(const std::string& workload) const {
  const WorkloadSpec& spec = symbols_.workloads.at(workload);
  std::set<std::pair<std::size_t, std::int32_t>> taken;
  std::vector<std::int32_t> runs(spec.roles.size(), 0);
  std::vector<std::int32_t> done(spec.roles.size(), 0);
  for (const PlacedTask& task : running(workload)) {
    taken.emplace(task.role, task.index);
    ++runs[task.role];
  }
  if (const auto it = past_.succeeded.find(workload); it != past_.succeeded.end()) {
    for (const auto& task : it->second) {
      taken.insert(task);
      ++done[task.first];
    }
  }
  const auto pending = [&](std::size_t r, std::int32_t n) {
    std::vector<PlacedTask> out;
    for (std::int32_t i = 0; std::ssize(out) < n && i < 1000; ++i) {
      if (!taken.contains({r, i})) out.push_back({r, i, {}});
    }
    return out;
  };
  const bool always = spec.preemptibility == Preemptibility::kNonPreemptible;
  std::vector<Want> out;
  if (spec.independent_tasks()) {
    if (std::min(spec.roles[0].count, spec.completions - done[0]) > runs[0]) {
      out.push_back({pending(0, 1), always});
    }
    return out;
  }
  Want minimum{{}, spec.preemptibility != Preemptibility::kPreemptible};
  for (std::size_t r = 0; r < spec.roles.size(); ++r) {
    const auto missing = pending(r, spec.roles[r].min - runs[r] - done[r]);
    minimum.tasks.insert(minimum.tasks.end(), missing.begin(), missing.end());
  }
  if (!minimum.tasks.empty()) return {minimum};
  for (std::size_t r = 0; r < spec.roles.size(); ++r) {
    const RoleSpec& role = spec.roles[r];
    const std::int32_t target =
        done[r] > 0 ? role.min : role.count;  // an ending gang grows no more
    if (target - done[r] <= runs[r]) continue;
    Want step{pending(r, 1), always};
    if (role.segment_size > 0) {
      const std::int32_t segment = step.tasks.front().index / role.segment_size;
      step.tasks = pending(r, role.segment_size);
      std::erase_if(step.tasks, [&](const PlacedTask& t) {
        return t.index / role.segment_size != segment || t.index >= role.count;
      });
    }
    out.push_back(std::move(step));
  }
  return out;
}

void Driver::check_rest() {
  const auto more = scheduler_.decide(now_);
  history_.push_back({now_, std::nullopt, false});
  decisions_ += "decide\n" + exact_text(more, scheduler_);
  if (!more.empty()) {
    complain("I5: a second decision at rest is not empty: " +
             sim::decision_text(more.front(), scheduler_));
    return;
  }
  if ((checks_ & (kWork | kReasons | kEntitled)) == 0) return;
  const Holdings holdings = holdings_of(scheduler_, symbols_);
  for (const std::string& name : scheduler_.workload_names()) {
    if (failed()) return;
    if ((checks_ & kWork) != 0) check_work(name, holdings);
    if ((checks_ & kEntitled) != 0) check_entitled(name, holdings);
    if ((checks_ & kReasons) != 0) check_reasons(name);
  }
}

// The charge of a start if each task landed on the dearest of its devices.
Amounts Driver::greatest_charge(const WorkloadSpec& spec, const Want& want,
                                const std::string& pool) const {
  Amounts sum;
  for (const PlacedTask& task : want.tasks) {
    const RoleSpec& role = spec.roles[task.role];
    Amounts dearest = charge_of(role, {}, pool, symbols_);
    for (const auto& [name, type] : symbols_.classes) {
      const auto& named = role.constraints.device_classes;
      if (!named.empty() && std::find(named.begin(), named.end(), name) == named.end()) continue;
      const std::vector<std::string> devices(static_cast<std::size_t>(role.request.gpu.count),
                                             name);
      dearest["gpu"] = std::max(dearest["gpu"], charge_of(role, devices, pool, symbols_).at("gpu"));
    }
    for (const auto& [name, amount] : dearest) sum[name] += amount;
  }
  return sum;
}

// Pools in which it may start something now, as far as time goes (4.3, 5.4).
std::vector<std::string> Driver::pools_open_to(const std::string& workload) const {
  const WorkloadSpec& spec = symbols_.workloads.at(workload);
  if (backs_off(workload) || !windows_open(spec.queue, now_, symbols_)) return {};
  const auto view = scheduler_.workload(workload);
  return view->running > 0 ? std::vector<std::string>{view->pool} : spec.pools;
}

// I5 for one workload: nothing that it wants next passes the gates and fits.
void Driver::check_work(const std::string& workload, const Holdings& holdings) {
  const WorkloadSpec& spec = symbols_.workloads.at(workload);
  const std::vector<std::string> pools = pools_open_to(workload);
  for (const Want& want : wants(workload)) {
    if (want.tasks.size() > 12) continue;
    for (const std::string& pool : pools) {
      Question question{&spec, pool, running(workload), want.tasks, {}};
      std::vector<std::pair<std::string, std::pair<Amounts, Amounts>>> above;
      for (const std::string& q : upward(spec.queue, symbols_)) {
        above.push_back({q,
                         {allocated(holdings, q, pool, symbols_),
                          non_preemptible(holdings, q, pool, symbols_).greatest}});
      }
      question.gates = [&](const Amounts& asked) {
        return std::all_of(above.begin(), above.end(), [&](const auto& queue) {
          return std::all_of(asked.begin(), asked.end(), [&](const auto& claim) {
            const auto& [name, amount] = claim;
            if (amount == 0) return true;
            const Entitlement e = entitlement_of(queue.first, pool, name, symbols_);
            const auto of = [&](const Amounts& held) {
              const auto it = held.find(name);
              return it == held.end() ? std::int64_t{0} : it->second;
            };
            return (e.limit == kUnlimited || of(queue.second.first) + amount <= e.limit) &&
                   (!want.non_preemptible || e.quota == kUnlimited ||
                    of(queue.second.second) + amount <= e.quota);
          });
        });
      };
      // 2.3.b: where the charge depends on the device, the core rules out the dearest classes in
      // turn; it need not find a mix that just stays below a limit.
      if (!question.gates(greatest_charge(spec, want, pool))) continue;
      const Solution solution = solve(question, rooms_of(holdings, scheduler_, symbols_), symbols_);
      if (solution.answer != Answer::kFits) continue;
      const auto explained = scheduler_.explain(workload);
      if (!explained) return complain("I9: " + explained.error().text());
      // 7.6: a search that ran out of its counted steps says so.
      if (std::any_of(explained->reasons.begin(), explained->reasons.end(),
                      [](const auto& r) { return r.code == sched::ReasonCode::kSearchRanOut; })) {
        continue;
      }
      return complain(fmt::format("I5: {} waits in pool {} but fits: {}; the core says: {}",
                                  workload, pool, solution.text, explained->text()));
    }
  }
}

void Driver::check_reasons(const std::string& workload) {
  if (wants(workload).empty()) return;
  const auto explained = scheduler_.explain(workload);
  if (!explained) return complain("I9: " + explained.error().text());
  if (explained->reasons.empty())
    return complain("I9: no reason is given why " + workload + " waits");
  for (const sched::Reason& reason : explained->reasons) {
    if (reason.rule.empty() || reason.text.empty()) {
      return complain(fmt::format("I9: the reason {} of {} has no rule or no text",
                                  sched::reason_code_name(reason.code), workload));
    }
    if (reason.code == sched::ReasonCode::kWaiting) {
      return complain(fmt::format("I9: at rest, {} is told: {}", workload, reason.text));
    }
  }
}

}  // namespace fairlead::property
