#include "sim/whatif/history.h"

#include <istream>
#include <variant>

#include "sim/log/replayer.h"

namespace fairlead::sim {
namespace {

class Historian {
 public:
  Historian()
      : book_({[this](const auto& w, const auto& t, const auto& h) { started(w, t, h); },
               [this](const auto& w, const auto& t, const auto& h, TaskStop why) {
                 stopped(w, t, h, why);
               }}) {}
  Historian(const Historian&) = delete;
  Historian& operator=(const Historian&) = delete;

  void take(std::int64_t number, LogRecord& record, const sched::Scheduler& core, bool accepted) {
    now_ = record.at;
    number_ = number;
    if (auto* event = std::get_if<EventRecord>(&record.what)) {
      count_life(event->event, accepted);
      if (!is_end(event->event, accepted)) {
        history_.items.push_back({now_, number, event->event});
      }
      if (accepted) book_.note(now_, event->event, core);
    } else if (const auto* decided = std::get_if<DecisionRecord>(&record.what)) {
      history_.items.push_back({now_, number, std::nullopt});
      for (const NamedDecision& one : decided->decisions) {
        if (std::holds_alternative<sched::Started>(one.decision)) ++present(one.workload).starts;
      }
      book_.note(now_, decided->decisions);
    }
  }

  History finish(const Replayer& replayer) {
    history_.header = replayer.header();
    history_.start = replayer.start();
    history_.end = replayer.now();
    history_.torn = replayer.torn();
    return std::move(history_);
  }

 private:
  // Of the life at hand of a name.
  struct Present {
    std::int32_t number = 0;
    std::int64_t starts = 0;
    std::size_t running = 0;
    Instant running_since;
    Duration run_before;                // and kept
    std::map<TaskName, Duration> done;  // of tasks that were requeued
  };

  Present& present(const std::string& workload) { return present_[workload]; }
  Life& life(const std::string& workload) {
    return history_.lives[{workload, present(workload).number}];
  }

  void count_life(const sched::Event& event, bool accepted) {
    const std::string* name = submitted_name(event);
    if (name == nullptr) return;
    const std::int32_t number = ++submissions_[*name];
    if (!accepted) return;
    Present fresh;
    fresh.number = number;
    present(*name) = std::move(fresh);
  }

  // Whether the event ends work, which then is kept as a length and not as an event. An end that
  // the core turned away is none.
  bool is_end(const sched::Event& event, bool accepted) {
    if (const auto* ended = std::get_if<sched::TaskEnded>(&event)) {
      outcome_ = ended->outcome;
      return true;
    }
    if (const auto* refused = std::get_if<sched::StartRefused>(&event)) {
      if (accepted && book_.running(refused->workload) == 0) return false;
      if (accepted) {
        life(refused->workload).failed_starts[present(refused->workload).starts] = {
            refused->retry_at - now_, now_, number_};
      }
      return true;
    }
    const auto* removed = std::get_if<sched::WorkloadRemoved>(&event);
    if (removed == nullptr || !accepted || book_.running(removed->workload) == 0) return false;
    const Present& p = present(removed->workload);
    life(removed->workload).removed = Work{p.run_before + (now_ - p.running_since),
                                           sched::TaskOutcome::kSucceeded, now_, number_};
    return true;
  }

  void started(const std::string& workload, const TaskName&, const TaskHeld& held) {
    Present& p = present(workload);
    if (p.running++ == 0) p.running_since = held.since;
    Life& l = life(workload);
    if (!l.first_start) l.first_start = held.since;
  }

  void stopped(const std::string& workload, const TaskName& task, const TaskHeld& held,
               TaskStop why) {
    Present& p = present(workload);
    const Duration ran = now_ - held.since;
    Duration& done = p.done[task];
    if (why == TaskStop::kEnded) {
      life(workload).tasks[task].push_back({done + ran, outcome_, now_, number_});
      done = {};
    } else if (why == TaskStop::kRequeued) {
      done = done + ran;
    } else if (why != TaskStop::kRefused) {
      done = {};
    }
    if (--p.running > 0) return;
    if (why == TaskStop::kRequeued) {
      p.run_before = p.run_before + (now_ - p.running_since);
    } else if (why != TaskStop::kRefused) {
      p.run_before = {};
    }
  }

  History history_;
  TaskBook book_;
  std::map<std::string, Present> present_;
  std::map<std::string, std::int32_t> submissions_;
  Instant now_;
  std::int64_t number_ = 0;
  sched::TaskOutcome outcome_ = sched::TaskOutcome::kSucceeded;
};

}  // namespace

const std::string* submitted_name(const sched::Event& event) {
  if (const auto* submitted = std::get_if<sched::WorkloadSubmitted>(&event)) {
    return &submitted->workload.name;
  }
  const auto* adopted = std::get_if<sched::WorkloadAdopted>(&event);
  return adopted == nullptr ? nullptr : &adopted->entry.spec.name;
}

Result<History> read_history(std::istream& in, const std::string& name) {
  FAIRLEAD_ASSIGN(Replayer replayer, Replayer::open(in, name));
  Historian historian;
  while (true) {
    FAIRLEAD_ASSIGN(std::optional<LogRecord> record, replayer.step());
    if (!record) break;
    historian.take(replayer.counts().records, *record, replayer.core(), replayer.accepted());
  }
  if (const auto& d = replayer.difference()) {
    return fail(Error{ErrorCode::kFailed,
                      "record " + std::to_string(d->record) +
                          " does not come out as it was recorded, so that it is not known what ran",
                      name,
                      {},
                      "`fairlead replay` shows the difference"});
  }
  return historian.finish(replayer);
}

}  // namespace fairlead::sim
