#include "sim/whatif/run.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>
#include <variant>

#include "sim/log/decision_codec.h"
#include "sim/whatif/use_meter.h"

namespace fairlead::sim {
namespace {

enum class EndingKind : std::uint8_t { kTask, kWorkload, kFailedStart };

// Something that will end. Where it ends when it did in the log, it does so in the place that it
// had there among the events of that moment; else before them.
struct Ending {
  Instant at;
  std::int64_t record = 0;
  std::int64_t sequence = 0;
  EndingKind kind = EndingKind::kTask;
  std::string workload;
  TaskName task;
  std::int64_t version = 0;  // of the task or workload: another one by then, and this is void

  friend bool operator>(const Ending& a, const Ending& b) {
    return std::tuple(a.at, a.record, a.sequence) > std::tuple(b.at, b.record, b.sequence);
  }
};

struct TaskProgress {
  std::size_t next = 0;  // of its works
  Duration done;
  std::int64_t version = 0;
};

// A workload that is known to the core, in its present life.
struct Alive {
  std::size_t fate = 0;
  const Life* life = nullptr;      // nullptr: one that the log knows nothing of
  std::optional<Duration> stated;  // run time of one that the change adds
  std::map<TaskName, TaskProgress> tasks;
  std::size_t running = 0;
  std::int64_t starts = 0;
  Instant running_since;
  Duration run_before;
  std::int64_t version = 0;
};

class Runner {
 public:
  Runner(const History& history, const Change* change, sched::Scheduler core)
      : history_(history),
        change_(change),
        core_(std::move(core)),
        book_({[this](const auto& w, const auto& t, const auto& h) { started(w, t, h); },
               [this](const auto& w, const auto& t, const auto& h, TaskStop why) {
                 stopped(w, t, h, why);
               }}),
        meter_(history.start, history.end, kUseBuckets),
        now_(history.start) {}
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  Result<RunOutcome> run() {
    if (change_ != nullptr) FAIRLEAD_TRY(find_place());
    while (true) {
      const Instant next = next_at();
      if (next > now_) {
        if (dirty_) {
          decide();
          continue;
        }
        const Instant wakeup = core_.next_wakeup();
        if (wakeup > now_ && wakeup < next && wakeup <= history_.end) {
          go_to(wakeup);
          std::ignore = apply(sched::TimePassed{});
          decide();
          continue;
        }
        if (next > history_.end) break;
        go_to(next);
      }
      FAIRLEAD_TRY(take_next());
    }
    go_to(history_.end);
    return finish();
  }

 private:
  // The change comes before the first decision at its time, or alone where the log has none then.
  // Without a time it comes before the first submission, if that is earlier than any decision.
  Result<void> find_place() {
    const auto& items = history_.items;
    const auto decides = [](const HistoryItem& item) { return !item.event; };
    if (!change_->at) {
      const auto first = std::find_if(items.begin(), items.end(), [&](const HistoryItem& item) {
        return decides(item) || std::holds_alternative<sched::WorkloadSubmitted>(*item.event);
      });
      place_ = static_cast<std::size_t>(first - items.begin());
      change_at_ = first == items.end() ? history_.end : first->at;
      return {};
    }
    change_at_ = *change_->at;
    if (change_at_ < history_.start || change_at_ > history_.end) {
      return fail(Error{ErrorCode::kOutOfRange,
                        "the change lies outside of the log, which is " +
                            to_text(history_.end - history_.start) + " long",
                        {},
                        "--at",
                        "choose a time within it"});
    }
    const auto here = std::find_if(items.begin(), items.end(), [&](const HistoryItem& item) {
      return item.at > change_at_ || (item.at == change_at_ && decides(item));
    });
    place_ = static_cast<std::size_t>(here - items.begin());
    return {};
  }

  bool change_is_next() const { return change_ != nullptr && !changed_ && next_ == place_; }

  Instant next_at() {
    drop_void();
    Instant at = next_ < history_.items.size() ? history_.items[next_].at : kNever;
    if (change_is_next()) at = change_at_;
    if (!endings_.empty()) at = std::min(at, endings_.top().at);
    return at;
  }

  Result<void> take_next() {
    const bool item_left = next_ < history_.items.size();
    const HistoryItem* item = item_left ? &history_.items[next_] : nullptr;
    const bool change = change_is_next();
    if (!endings_.empty()) {
      const Ending& top = endings_.top();
      const Instant other_at = change ? change_at_ : item_left ? item->at : kNever;
      // Among its own moment, the change stands just before the item that follows it.
      const std::int64_t record =
          item_left && item->at == other_at ? item->record : std::int64_t{INT64_MAX};
      if (std::pair(top.at, top.record) < std::pair(other_at, record)) {
        const Ending ending = top;
        endings_.pop();
        end(ending);
        return {};
      }
    }
    if (change) return make_change();
    ++next_;
    if (!item->event) {
      if (dirty_ || decided_at_ != now_) decide();
      return {};
    }
    if (!changed_) {
      std::ignore = apply(*item->event);
    } else if (const auto event = changed_event(*item->event, *change_, removed_nodes_)) {
      std::ignore = apply(*event);
    }
    return {};
  }

  Result<void> make_change() {
    changed_ = true;
    FAIRLEAD_ASSIGN(const std::vector<sched::Event> events,
                    change_events(*change_, core_, book_.symbols()));
    for (const sched::Event& event : events) {
      if (const auto* removed = std::get_if<sched::NodeRemoved>(&event)) {
        removed_nodes_.push_back(removed->node);
      }
      adding_ = submitted_name(event) != nullptr;
      const Result<void> applied = apply(event);
      adding_ = false;
      if (!applied) return applied;
    }
    return {};
  }

  void go_to(Instant at) {
    meter_.advance(at);
    now_ = at;
  }

  Result<void> apply(const sched::Event& event) {
    const std::string* name = submitted_name(event);
    const Result<void> applied = core_.apply(now_, event);
    if (name != nullptr) submitted(*name, event, applied.has_value());
    if (!applied) {
      if (name == nullptr) ++outcome_.turned_away;
      return applied;
    }
    dirty_ = true;
    meter_.note(event);
    book_.note(now_, event, core_);
    if (const auto* removed = std::get_if<sched::WorkloadRemoved>(&event)) {
      forget(removed->workload);
    }
    return applied;
  }

  void submitted(const std::string& name, const sched::Event& event, bool accepted) {
    Fate fate;
    fate.name = {name, ++submissions_[name]};
    fate.submitted = now_;
    fate.refused = !accepted;
    fate.added = adding_;
    std::optional<Duration> stated;
    if (const auto* adopted = std::get_if<sched::WorkloadAdopted>(&event)) {
      fate.queue = adopted->entry.spec.queue;
      fate.submitted = adopted->entry.submitted;
    } else {
      const WorkloadSpec& spec = std::get<sched::WorkloadSubmitted>(event).workload;
      fate.queue = spec.queue;
      if (adding_) stated = spec.expected_runtime;
    }
    if (accepted) {
      // The life before is over in the core, which will say so with its next decision.
      if (alive_.contains(name)) ++succeeded_by_[name];
      Alive& alive = alive_[name] = Alive{};
      alive.fate = outcome_.fates.size();
      alive.life = adding_ ? nullptr : history_.life(fate.name);
      alive.stated = stated;
      alive.version = ++versions_;
    }
    outcome_.fates.push_back(std::move(fate));
  }

  void decide() {
    dirty_ = false;
    decided_at_ = now_;
    const std::vector<NamedDecision> decisions = named(core_.decide(now_), core_);
    for (const NamedDecision& one : decisions) {
      const auto alive = alive_.find(one.workload);
      if (alive == alive_.end()) continue;
      Fate& fate = outcome_.fates[alive->second.fate];
      if (const auto* stopped = std::get_if<sched::Stopped>(&one.decision)) {
        fate.moved += stopped->cause == sched::StopCause::kMoved;
        fate.taken_back += stopped->cause == sched::StopCause::kReclaimed ||
                           stopped->cause == sched::StopCause::kPreempted;
      } else if (std::holds_alternative<sched::Started>(one.decision)) {
        fail_start_if_it_did(one.workload, alive->second);
      }
    }
    book_.note(now_, decisions);
    for (const NamedDecision& one : decisions) {
      if (std::holds_alternative<sched::Finished>(one.decision)) forget(one.workload);
    }
  }

  void fail_start_if_it_did(const std::string& workload, Alive& alive) {
    ++alive.starts;
    if (alive.life == nullptr) return;
    const auto failed = alive.life->failed_starts.find(alive.starts);
    if (failed == alive.life->failed_starts.end()) return;
    Ending ending;
    ending.kind = EndingKind::kFailedStart;
    ending.workload = workload;
    ending.task.index = static_cast<std::int32_t>(alive.starts);
    ending.version = alive.version;
    add_ending(std::move(ending), now_, failed->second.at, failed->second.record);
  }

  void add_ending(Ending ending, Instant at, Instant recorded_at, std::int64_t recorded) {
    ending.at = std::max(at, now_);
    ending.record = ending.at == recorded_at ? recorded : 0;
    ending.sequence = ++sequence_;
    endings_.push(std::move(ending));
  }

  void started(const std::string& workload, const TaskName& task, const TaskHeld& held) {
    meter_.use(held.milli);
    Alive& alive = alive_.at(workload);
    Fate& fate = outcome_.fates[alive.fate];
    if (!fate.started()) fate.first_start = held.since;
    if (alive.running++ == 0) {
      alive.running_since = held.since;
      plan_end(workload, alive);
    }
    TaskProgress& progress = alive.tasks[task];
    progress.version = ++versions_;
    if (alive.life == nullptr) return;
    const auto known = work_of(*alive.life, task, progress.next, held.since);
    if (!known) return;
    const Work& work = *known;
    Ending ending;
    ending.workload = workload;
    ending.task = task;
    ending.version = progress.version;
    add_ending(std::move(ending), held.since + (work.length - progress.done), work.at, work.record);
  }

  // The task's next work; nullopt: nobody knows when it ends.
  std::optional<Work> work_of(const Life& life, const TaskName& task, std::size_t next,
                              Instant since) const {
    const auto works = life.tasks.find(task);
    if (works != life.tasks.end()) {
      if (next >= works->second.size()) return std::nullopt;
      return works->second[next];
    }
    if (!life.usual) return std::nullopt;
    Work work{std::max(*life.usual, seconds(1)), sched::TaskOutcome::kSucceeded, kNever, 0};
    while (since + work.length <= now_) work.length = work.length + work.length;
    return work;
  }

  // Of a workload that ends as one.
  void plan_end(const std::string& workload, Alive& alive) {
    std::optional<Work> work;
    if (alive.life != nullptr) work = alive.life->removed;
    if (alive.stated) work = Work{*alive.stated, sched::TaskOutcome::kSucceeded, kNever, 0};
    if (!work) return;
    alive.version = ++versions_;
    Ending ending;
    ending.kind = EndingKind::kWorkload;
    ending.workload = workload;
    ending.version = alive.version;
    add_ending(std::move(ending), alive.running_since + (work->length - alive.run_before), work->at,
               work->record);
  }

  void stopped(const std::string& workload, const TaskName& task, const TaskHeld& held,
               TaskStop why) {
    meter_.use(-held.milli);
    Alive& alive = alive_.at(workload);
    const Duration ran = now_ - held.since;
    outcome_.fates[alive.fate].gpu_milli_ms +=
        (now_ - std::max(held.since, history_.start)).ms * held.milli;
    TaskProgress& progress = alive.tasks[task];
    progress.version = ++versions_;
    if (why == TaskStop::kEnded) {
      ++progress.next;
      progress.done = {};
    } else if (why == TaskStop::kRequeued) {
      progress.done = progress.done + ran;
    } else if (why != TaskStop::kRefused) {
      progress.done = {};
    }
    if (alive.running == 0 || --alive.running > 0) return;
    alive.version = ++versions_;
    if (why == TaskStop::kRequeued) {
      alive.run_before = alive.run_before + (now_ - alive.running_since);
    } else if (why != TaskStop::kRefused) {
      alive.run_before = {};
    }
  }

  bool is_void(const Ending& ending) const {
    const auto alive = alive_.find(ending.workload);
    if (alive == alive_.end()) return true;
    if (ending.kind == EndingKind::kFailedStart) {
      return alive->second.starts != ending.task.index || alive->second.running == 0;
    }
    if (ending.kind == EndingKind::kWorkload) return alive->second.version != ending.version;
    const auto task = alive->second.tasks.find(ending.task);
    return task == alive->second.tasks.end() || task->second.version != ending.version;
  }

  void drop_void() {
    while (!endings_.empty() && is_void(endings_.top())) endings_.pop();
  }

  void end(const Ending& ending) {
    const Alive& alive = alive_.at(ending.workload);
    switch (ending.kind) {
      case EndingKind::kTask: {
        const auto work = work_of(*alive.life, ending.task, alive.tasks.at(ending.task).next, now_);
        std::ignore = apply(
            sched::TaskEnded{ending.workload, ending.task.role, ending.task.index, work->outcome});
        return;
      }
      case EndingKind::kWorkload:
        std::ignore = apply(sched::WorkloadRemoved{ending.workload});
        return;
      case EndingKind::kFailedStart:
        std::ignore = apply(sched::StartRefused{
            ending.workload, now_ + alive.life->failed_starts.at(ending.task.index).retry_after});
        return;
    }
  }

  void forget(const std::string& workload) {
    const auto later = succeeded_by_.find(workload);
    if (later == succeeded_by_.end()) {
      alive_.erase(workload);
    } else if (--later->second == 0) {
      succeeded_by_.erase(later);
    }
  }

  RunOutcome finish() {
    for (const std::string& name : core_.workload_names()) {
      const auto alive = alive_.find(name);
      if (alive == alive_.end()) continue;
      Fate& fate = outcome_.fates[alive->second.fate];
      fate.running = alive->second.running > 0;
      fate.waiting = !fate.running;
    }
    book_.each([this](const std::string& workload, const TaskHeld& held) {
      outcome_.fates[alive_.at(workload).fate].gpu_milli_ms +=
          (now_ - std::max(held.since, history_.start)).ms * held.milli;
    });
    for (const auto& [used, capacity] : meter_.means())
      outcome_.buckets.push_back({used, capacity});
    outcome_.used_gpu_ms = meter_.used_gpu_ms();
    outcome_.capacity_gpu_ms = meter_.capacity_gpu_ms();
    outcome_.changed_at = change_at_;
    return std::move(outcome_);
  }

  const History& history_;
  const Change* change_;
  sched::Scheduler core_;
  TaskBook book_;
  UseMeter meter_;
  RunOutcome outcome_;
  std::map<std::string, Alive> alive_;
  std::map<std::string, std::int32_t> submissions_;
  std::map<std::string, std::int32_t> succeeded_by_;  // lives over of which the end is not said yet
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings_;
  std::vector<std::string> removed_nodes_;
  Instant now_;
  Instant decided_at_{INT64_MIN};
  Instant change_at_;
  std::size_t next_ = 0;
  std::size_t place_ = 0;
  std::int64_t sequence_ = 0;
  std::int64_t versions_ = 0;
  bool changed_ = false;
  bool adding_ = false;
  bool dirty_ = false;
};

}  // namespace

Result<RunOutcome> run_history(const History& history, const Change* change) {
  sched::SchedulerOptions options = history.header.options;
  if (change != nullptr) options = changed_options(std::move(options), *change);
  FAIRLEAD_ASSIGN(sched::Scheduler core, sched::Scheduler::create(std::move(options)));
  return Runner(history, change, std::move(core)).run();
}

}  // namespace fairlead::sim
