#include "sim/scenario/runner.h"

#include <algorithm>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "sched/scheduler.h"
#include "sim/scenario/audit.h"
#include "sim/scenario/cure.h"
#include "sim/scenario/event_text.h"
#include "sim/scenario/observed.h"
#include "sim/scenario/pace.h"
#include "sim/scenario/printer.h"
#include "sim/scenario/rebuild.h"
#include "sim/scenario/scenario_size.h"
#include "sim/scenario/time_text.h"

namespace fairlead::sim {
namespace {

constexpr int kMostWakeups = 100'000;

// An event that was turned away, until an expectation claims it.
struct TurnedAway {
  std::int32_t line = 0;
  std::string workload;  // of a submission
  Error error;
  bool claimed = false;
};

class Player {
 public:
  Player(const Scenario& scenario, const RunOptions& options, sched::Scheduler scheduler)
      : scenario_(scenario),
        options_(options),
        scheduler_(std::move(scheduler)),
        now_(scenario.start) {
    observed_.scheduler = &scheduler_;
    observed_.start = scenario.start;
    observed_.symbols.now = now_;
    observed_.try_change = [this](const std::string& workload, const sched::Change& change) {
      return try_change(workload, change);
    };
    report_.file = scenario.file;
    report_.title = scenario.title;
    report_.rules = scenario.rules;
  }

  RunReport play() {
    for (const Step& step : scenario_.steps) {
      line_ = step.line;
      std::visit([this](const auto& what) { take(what); }, step.what);
    }
    settle();
    look_at_everything("at the end");
    for (const TurnedAway& away : turned_away_) {
      if (away.claimed) continue;
      report_.failures.push_back({away.line, "the event to be accepted", away.error.text(),
                                  "if it must be turned away, expect it: expect NAME refused, or "
                                  "expect error \"…\" just after it"});
    }
    std::stable_sort(report_.failures.begin(), report_.failures.end(),
                     [](const Failure& a, const Failure& b) { return a.line < b.line; });
    return std::move(report_);
  }

 private:
  void take(const sched::Event& event) { apply(event); }

  void take(const DecideNow&) {
    dirty_ = true;
    settle();
  }

  void take(const ClockMoved& move) {
    settle();
    observed_.last_error.reset();
    for (int i = 0; !move.asleep; ++i) {
      const Instant wakeup = scheduler_.next_wakeup();
      if (wakeup > move.to) break;
      if (wakeup <= now_ || i >= kMostWakeups) {
        fail("the core is at rest",
             "it asks to be woken at a time that is past: " + instant_text(wakeup, scenario_.start),
             {});
        break;
      }
      now_ = wakeup;
      apply(sched::TimePassed{});
      settle();
    }
    if (now_ == move.to && !dirty_ && !move.asleep && woken_at_ == now_) return;
    now_ = move.to;
    apply(sched::TimePassed{});
  }

  void take(const TasksEnd& end) {
    settle_for_end(end);
    const auto view = scheduler_.workload(end.workload);
    std::vector<sched::TaskEnded> events;
    if (view) {
      for (const sched::TaskView& task : view->tasks) {
        if (!task.running || (!end.role.empty() && task.role != end.role)) continue;
        if (end.index >= 0 && task.index != end.index) continue;
        events.push_back({end.workload, task.role, task.index, end.outcome});
      }
    }
    observed_.last_error.reset();
    if (events.empty()) {
      turn_away({}, Error{ErrorCode::kConflict,
                          fmt::format("{} has no such task running: it is {}", end.workload,
                                      state_text(end.workload, observed_)),
                          {},
                          {},
                          {}});
      return;
    }
    for (const sched::TaskEnded& event : events) apply(event);
  }

  // Tasks that end must have started: what is not decided yet is decided now.
  void settle_for_end(const TasksEnd& end) {
    const auto view = scheduler_.workload(end.workload);
    if (!view || view->running == 0) settle();
  }

  void take(const Expectation& expectation) {
    settle();
    ++report_.expectations;
    claim(expectation);
    const std::optional<Mismatch> mismatch = check(expectation, observed_);
    if (!mismatch) return;
    fail(expectation_text(expectation, scenario_.start), mismatch->actual, mismatch->why);
  }

  // Refusals that an expectation speaks of are meant to be.
  void claim(const Expectation& expectation) {
    if (std::holds_alternative<ExpectError>(expectation) && !turned_away_.empty()) {
      turned_away_.back().claimed = true;
    }
    const auto* workloads = std::get_if<ExpectWorkloads>(&expectation);
    if (workloads == nullptr || workloads->state != ExpectedState::kRefused) return;
    for (const std::string& name : resolve(workloads->names, observed_)) {
      for (TurnedAway& away : turned_away_) {
        if (away.workload == name) away.claimed = true;
      }
    }
  }

  void apply(const sched::Event& event) {
    ++report_.events;
    dirty_ = true;
    looked_ = false;
    observed_.last_error.reset();
    const auto* submitted = std::get_if<sched::WorkloadSubmitted>(&event);
    if (submitted != nullptr) observed_.names.insert(submitted->workload.name);
    if (const auto* adopted = std::get_if<sched::WorkloadAdopted>(&event)) {
      observed_.names.insert(adopted->entry.spec.name);
    }
    trace([&] { return event_text(event); });
    const Result<void> applied = apply_recorded(scheduler_, options_.recorder, now_, event);
    history_.emplace_back(now_, event);
    if (!applied) {
      turn_away(submitted != nullptr ? submitted->workload.name : "", applied.error());
    } else {
      observed_.symbols.now = now_;
      observed_.symbols.note(event);
      size_.note(event);
      if (submitted != nullptr) {
        observed_.refused.erase(submitted->workload.name);
        observed_.ended.erase(submitted->workload.name);
      }
    }
    if (event_pace_.due(size_.things())) verify("after the event");
  }

  void turn_away(const std::string& workload, const Error& error) {
    trace([&] { return "  turned away: " + error.text(); });
    observed_.last_error = error;
    if (!workload.empty() && !scheduler_.workload(workload)) observed_.refused[workload] = error;
    turned_away_.push_back({line_, workload, error, false});
  }

  // Ends the block: the core decides, and has nothing to add when asked again.
  void settle() {
    if (!dirty_) return;
    dirty_ = false;
    woken_at_ = now_;
    take_decisions(decide_recorded(scheduler_, options_.recorder, now_));
    history_.emplace_back(now_, std::nullopt);
    const bool look = decision_pace_.due(size_.things());
    if (look) verify("after the decision");
    const std::vector<sched::Decision> more = decide_recorded(scheduler_, options_.recorder, now_);
    if (!more.empty()) {
      fail("a second decision at rest is empty",
           fmt::format("{} more decisions, the first: {}", more.size(),
                       decision_text(more.front(), scheduler_)),
           {});
      take_decisions(more);
    }
    if (look) complain(audit_rest(scheduler_, scenario_.options, observed_.symbols, now_));
    looked_ = look;
  }

  // What a large scenario has not verified since its last steps.
  void look_at_everything(const char* when) {
    if (looked_) return;
    verify(when);
    complain(audit_rest(scheduler_, scenario_.options, observed_.symbols, now_));
  }

  void take_decisions(const std::vector<sched::Decision>& decisions) {
    std::set<sched::WorkloadId> moved;
    for (const sched::Decision& decision : decisions) {
      ++report_.decisions;
      trace([&] { return "  " + decision_text(decision, scheduler_); });
      if (const auto* started = std::get_if<sched::Started>(&decision)) {
        observed_.starts.try_emplace(scheduler_.workload_name(started->workload),
                                     StartSeen{now_, sequence_++});
        if (!moved.contains(started->workload))
          complain(audit_start(*started, scheduler_, observed_.symbols));
      } else if (const auto* stopped = std::get_if<sched::Stopped>(&decision)) {
        // 7.3: what moves is no start of its own, and may be a part of a gang.
        if (stopped->cause == sched::StopCause::kMoved) moved.insert(stopped->workload);
        if (!stopped->text.empty())
          observed_.stopped[scheduler_.workload_name(stopped->workload)] = stopped->text;
      } else if (const auto* finished = std::get_if<sched::Finished>(&decision)) {
        observed_.ended[finished->name] = finished->succeeded;
      }
    }
  }

  void verify(const char* when) {
    const Result<void> verified = scheduler_.verify();
    if (!verified) fail(fmt::format("the invariants hold {}", when), verified.error().text(), {});
    complain(audit_state(scheduler_, observed_.symbols));
  }

  void complain(const std::vector<std::string>& complaints) {
    for (const std::string& complaint : complaints) {
      fail("the decision is one that the rules allow", complaint, {});
    }
  }

  // Rule 10.2, on a second core that is told the same.
  Result<bool> try_change(const std::string& workload, const sched::Change& change) {
    FAIRLEAD_ASSIGN(sched::Scheduler copy, sched::Scheduler::create(scenario_.options));
    for (const auto& [at, event] : history_) {
      if (event) {
        static_cast<void>(copy.apply(at, *event));  // refused here as it was there
      } else {
        static_cast<void>(copy.decide(at));
      }
    }
    std::vector<std::string> holders;
    const auto node = scheduler_.node(change.target);
    if (node) {
      for (const std::string& name : scheduler_.workload_names()) {
        const auto view = scheduler_.workload(name);
        const bool there = std::any_of(
            view->tasks.begin(), view->tasks.end(),
            [&](const auto& task) { return task.running && task.node == change.target; });
        if (there && name != workload) holders.push_back(name);
      }
    }
    const auto before = scheduler_.workload(workload);
    FAIRLEAD_ASSIGN(const auto steps,
                    cure_events(change, workload, observed_.symbols, now_, holders));
    Instant at = now_;
    // Others that wait may take what the change frees; they are not part of the promise (10.2.a).
    for (const std::string& name : copy.workload_names()) {
      const auto other = copy.workload(name);
      if (name == workload || !other || other->running > 0) continue;
      FAIRLEAD_TRY(copy.apply(at, sched::WorkloadRemoved{name}));
    }
    for (const CureStep& step : steps) {
      at = std::max(at, step.at);
      FAIRLEAD_TRY(copy.apply(at, step.event));
    }
    static_cast<void>(copy.decide(at));
    const auto after = copy.workload(workload);
    return after && after->running > 0 &&
           (!before || after->running > before->running || before->running == 0);
  }

  template <class Text>
  void trace(const Text& text) {
    if (!options_.trace) return;
    report_.trace.push_back(fmt::format("{:>8}  {}", instant_text(now_, scenario_.start), text()));
  }

  void fail(std::string expected, std::string actual, std::string why) {
    report_.failures.push_back({line_, std::move(expected), std::move(actual), std::move(why)});
  }

  const Scenario& scenario_;
  const RunOptions& options_;
  sched::Scheduler scheduler_;
  Instant now_;
  Instant woken_at_{-1};
  bool dirty_ = false;
  std::int32_t line_ = 0;
  std::int64_t sequence_ = 0;
  ScenarioSize size_;
  Pace event_pace_;
  Pace decision_pace_;
  bool looked_ = false;  // at everything, since the last event and its decision
  Observed observed_;
  RunReport report_;
  std::vector<TurnedAway> turned_away_;
  std::vector<std::pair<Instant, std::optional<sched::Event>>> history_;  // nullopt: decided
};

}  // namespace

Result<RunReport> run_scenario(const Scenario& scenario, const RunOptions& options) {
  FAIRLEAD_ASSIGN(sched::Scheduler scheduler, create_recorded(scenario.options, options.recorder));
  Player player(scenario, options, std::move(scheduler));
  return player.play();
}

std::string failures_text(const RunReport& report) {
  std::string text;
  for (const Failure& failure : report.failures) {
    text += fmt::format("{}:{}: expected {}\n    is: {}\n", report.file, failure.line,
                        failure.expected, failure.actual);
    std::string_view why = failure.why;
    for (bool first = true; !why.empty(); first = false) {
      const std::size_t end = why.find('\n');
      text += fmt::format("    {} {}\n", first ? "why:" : "    ", why.substr(0, end));
      why = end == std::string_view::npos ? std::string_view{} : why.substr(end + 1);
    }
  }
  return text;
}

}  // namespace fairlead::sim
