// What the engine says became of attempts, and what follows for their workloads.
#include <algorithm>

#include "control/desk.h"

namespace fairlead::control {
namespace {

constexpr Duration kFirstBackOff = seconds(1);
constexpr Duration kLongestBackOff = minutes(5);

// Doubles with each failure (semantics 4.3).
Duration back_off(std::int32_t failures) {
  Duration wait = kFirstBackOff;
  for (std::int32_t i = 1; i < failures && wait < kLongestBackOff; ++i) wait = wait * 2;
  return std::min(wait, kLongestBackOff);
}

std::string ending(const engine::TaskResult& result) {
  std::string text;
  if (result.exit_code) text = "ended with exit code " + std::to_string(*result.exit_code);
  if (result.signal) text = "was ended by signal " + std::to_string(*result.signal);
  if (result.lost) text = "is lost: its supervision was cut off";
  if (result.out_of_memory.value_or(false)) text += ", out of memory";
  if (!result.text.empty()) text += " (" + result.text + ")";
  return text;
}

}  // namespace

void Desk::report(const engine::Report& report) {
  std::visit([this](const auto& r) { on(r); }, report);
}

void Desk::on(const engine::Started& started) {
  const auto found = attempts_.find(started.attempt);
  if (found == attempts_.end()) return;
  Attempt& attempt = found->second;
  if (attempt.started) return;  // reported before
  Workload& w = *workloads_.at(attempt.workload);
  Task& task = task_of(w, attempt.role, attempt.index);
  attempt.started = now_;
  attempt.boot = clock_.boot();
  attempt.since_boot = clock_.since_boot();
  touch(attempt);
  if (++task.starts > 1) ++w.restarts;
  touch(w, task);
  if (task.attempt == attempt.number) {
    task.started = now_;
    task.pid = started.pid;
    if (attempt.state == AttemptState::kStarting) task.phase = TaskPhase::kRunning;
  }
  if (attempt.state == AttemptState::kStarting) attempt.state = AttemptState::kRunning;
  if (!w.started) w.started = now_;
  note(w, "Started",
       "task " + task.id + " runs as process " + std::to_string(started.pid) + " (attempt " +
           std::to_string(attempt.number) + ")",
       "engine");
  if (w.desired == Desired::kFrozen && attempt.state == AttemptState::kRunning) {
    freeze_attempt(attempt);
  }
  watch_time_limit(w, attempt);
  settle(w);
}

void Desk::watch_time_limit(const Workload& w, const Attempt& attempt) {
  std::optional<Duration> limit = w.spec().max_runtime;
  const auto& of_kind = w.spec().kind == WorkloadKind::kWorkspace ? settings_.workspace_time_limit
                                                                  : settings_.training_time_limit;
  if (of_kind && (!limit || *of_kind < *limit)) limit = of_kind;
  if (!limit || attempt.frozen_since) return;
  time_limits_.insert({(attempt.since_boot + attempt.frozen_before + *limit).ms, attempt.id});
}

void Desk::on(const engine::StartFailed& failed) {
  const auto found = attempts_.find(failed.attempt);
  if (found == attempts_.end()) return;
  Attempt& attempt = found->second;
  Workload& w = *workloads_.at(attempt.workload);
  const std::string reason = "could not start: " + failed.error.text();
  if (failed.may_retry) {
    ++w.failures;
    tell_core_of_end(w, attempt, sched::TaskOutcome::kFailed, now_ + back_off(w.failures));
  }
  note(w, "StartFailed", "task " + task_of(w, attempt.role, attempt.index).id + " " + reason,
       "engine");
  const bool last = !failed.may_retry || w.failures > w.spec().backoff_limit;
  end_attempt(attempt, TaskPhase::kFailed, reason);
  if (last && w.in_core) fail_workload(w, reason);
  settle(w);
}

void Desk::on(const engine::Ended& ended) {
  const auto found = attempts_.find(ended.attempt);
  if (found == attempts_.end()) return;
  Attempt& attempt = found->second;
  Workload& w = *workloads_.at(attempt.workload);
  Task& task = task_of(w, attempt.role, attempt.index);
  const engine::TaskResult& result = ended.result;
  const bool told_to_stop = attempt.state == AttemptState::kStopping;
  if (!attempt.started) {
    // It began while no server was there to hear of it; when is not known.
    if (++task.starts > 1) ++w.restarts;
    touch(w, task);
  }
  TaskPhase phase = TaskPhase::kFailed;
  if (result.lost) {
    phase = TaskPhase::kLost;
  } else if (told_to_stop) {
    phase = TaskPhase::kStopped;
  } else if (result.exit_code == 0) {
    phase = TaskPhase::kSucceeded;
  }
  if (task.attempt == attempt.number) {
    task.exit_code = result.exit_code;
    task.signal = result.signal;
    task.out_of_memory = result.out_of_memory;
    task.cpu_ms = result.cpu_time.ms;
    task.max_rss = result.max_memory.value;
  }
  const std::string how = ending(result);
  const bool failed = phase == TaskPhase::kFailed;
  std::optional<Instant> retry_at;
  if (failed) retry_at = now_ + back_off(++w.failures);
  if (phase == TaskPhase::kLost && !told_to_stop) retry_at = retry_after_loss(w);
  if (phase == TaskPhase::kFailed || phase == TaskPhase::kSucceeded) {
    w.exit_code = result.exit_code ? *result.exit_code : 128 + result.signal.value_or(0);
  }
  note(w,
       failed                           ? "TaskFailed"
       : phase == TaskPhase::kSucceeded ? "TaskSucceeded"
                                        : "TaskEnded",
       "task " + task.id + " " + how, "engine");
  tell_core_of_end(w, attempt,
                   phase == TaskPhase::kSucceeded ? sched::TaskOutcome::kSucceeded
                   : failed                       ? sched::TaskOutcome::kFailed
                                                  : sched::TaskOutcome::kLost,
                   retry_at);
  end_attempt(attempt, phase, phase == TaskPhase::kStopped ? task.reason + "; it " + how : how);
  // Of independent tasks the scheduler counts (8.2).
  const bool limit_passed =
      failed && !w.spec().independent_tasks() && w.failures > w.spec().backoff_limit;
  if (limit_passed && w.in_core) {
    fail_workload(w, "task " + task.id + " " + how + "; failure " + std::to_string(w.failures) +
                         ", and " + std::to_string(w.spec().backoff_limit) +
                         " are allowed (backoffLimit)");
  }
  settle(w);
}

void Desk::on(const engine::EngineWarning& warning) {
  options_.warn(warning.text);
  note("node", node_.name, "EngineWarning", warning.text, "engine");
}

// A loss is no failure of the workload and counts towards no limit, but what is lost again and
// again (by something that kills supervisors) must not take the machine up with starting it. Tasks
// that are lost together, as when the machine restarts, are one loss.
Instant Desk::retry_after_loss(Workload& w) const {
  if (w.retry_after_loss <= now_) w.retry_after_loss = now_ + back_off(++w.losses);
  return w.retry_after_loss;
}

void Desk::tell_core_of_end(Workload& w, const Attempt& attempt, sched::TaskOutcome outcome,
                            std::optional<Instant> retry_at) {
  if (!attempt.known_to_core || !w.in_core) return;
  sched::TaskEnded event;
  event.workload = w.core_name();
  event.role = w.spec().roles[static_cast<std::size_t>(attempt.role)].name;
  event.index = attempt.index;
  event.outcome = outcome;
  event.retry_at = retry_at;
  event.stood_still = attempt.frozen_before;
  if (attempt.frozen_since) {
    event.stood_still = event.stood_still + (clock_.since_boot() - *attempt.frozen_since);
  }
  must(event);
  runtimes_changed_ = runtimes_changed_ || outcome == sched::TaskOutcome::kSucceeded;
}

// The attempt is over and forgotten; its output stays. `phase`: of its task, if no later attempt
// has begun.
void Desk::end_attempt(Attempt& attempt, TaskPhase phase, const std::string& reason) {
  Workload& w = *workloads_.at(attempt.workload);
  Task& task = task_of(w, attempt.role, attempt.index);
  if (task.attempt == attempt.number) {
    task.phase = phase;
    task.ended = now_;
    task.reason = reason;
    task.pid = 0;
    touch(w, task);
  }
  if (attempt.state != AttemptState::kWaiting) count_held(attempt, -1);
  --w.live;
  std::erase_if(time_limits_, [&](const auto& limit) { return limit.second == attempt.id; });
  const engine::AttemptId id = attempt.id;
  erase("attempt", id, nullptr);
  dirty_attempts_.erase(id);
  attempts_.erase(id);
  touch(w);
}

// The workload's phase follows from its tasks and from what is wanted of it.
void Desk::settle(Workload& w) {
  touch(w);
  if (w.desired == Desired::kDeleted) {
    w.phase = Phase::kDeleting;
    if (w.live == 0) forget(w);
    return;
  }
  if (w.verdict) {
    w.phase = Phase::kStopping;
    if (w.live > 0) return;
    w.phase = *w.verdict;
    w.verdict.reset();
    over_.push_back(w.id);
    w.ended = now_;
    if (w.phase == Phase::kSucceeded) {
      w.exit_code = 0;
      w.reason.clear();
      ++counters_.succeeded;
    } else {
      ++counters_.failed;
    }
    const Duration kept = w.submission.auto_delete_after.value_or(settings_.retention);
    retention_.insert({(now_ + kept).ms, w.id});
    note(w,
         w.phase == Phase::kSucceeded ? "Succeeded"
         : w.phase == Phase::kFailed  ? "Failed"
                                      : "TimedOut",
         w.phase == Phase::kSucceeded ? "all of it is done" : w.reason, "scheduler");
    return;
  }
  if (w.desired == Desired::kSuspended) {
    w.phase = w.live > 0 ? Phase::kStopping : Phase::kSuspended;
    return;
  }
  bool running = false;
  bool frozen = false;
  bool starting = false;
  bool stopping = false;
  for (const auto& [key, task] : w.tasks) {
    running = running || task.phase == TaskPhase::kRunning;
    frozen = frozen || task.phase == TaskPhase::kFrozen;
    starting = starting || task.phase == TaskPhase::kStarting;
    stopping = stopping || task.phase == TaskPhase::kStopping;
  }
  w.phase = running    ? Phase::kRunning
            : frozen   ? Phase::kFrozen
            : starting ? Phase::kStarting
            : stopping ? Phase::kStopping
                       : Phase::kPending;
  if ((running || starting) && w.desired == Desired::kRunning) w.reason.clear();
}

void Desk::fail_workload(Workload& w, const std::string& reason) {
  leave_core(w);
  w.verdict = Phase::kFailed;
  w.reason = reason;
  stop_attempts(w, "failed", reason, w.spec().grace_period);
}

void Desk::tick() {
  const std::int64_t since_boot = clock_.since_boot().ms;
  while (!time_limits_.empty() && time_limits_.begin()->first <= since_boot) {
    const engine::AttemptId id = time_limits_.begin()->second;
    time_limits_.erase(time_limits_.begin());
    const auto found = attempts_.find(id);
    if (found == attempts_.end() || found->second.state == AttemptState::kStopping) continue;
    Workload& w = *workloads_.at(found->second.workload);
    // Of what stands still it is set anew when it goes on.
    if (w.verdict || w.desired != Desired::kRunning) continue;
    leave_core(w);
    w.verdict = Phase::kTimedOut;
    w.reason = "its time limit is over";
    stop_attempts(w, "time-limit", w.reason, w.spec().grace_period);
    settle(w);
  }
  while (!retention_.empty() && retention_.begin()->first <= now_.ms) {
    const std::string id = retention_.begin()->second;
    retention_.erase(retention_.begin());
    const auto loaded = load_over(id);
    if (!loaded || *loaded == nullptr) continue;
    note(**loaded, "Expired", "kept for its time after the end, and removed", "server");
    forget(**loaded);
  }
  end_reservations();
  sweep_access();
  if (next_trim_ <= now_) {
    const auto done = store_.trim(now_ - settings_.retention, now_ - hours(24));
    if (!done) options_.warn("old events could not be removed: " + done.error().text());
    next_trim_ = now_ + (done && !*done ? milliseconds(200) : minutes(10));
  }
}

}  // namespace fairlead::control
