// Workloads that stand still on what they hold, and go on where they were.
#include "control/desk.h"

namespace fairlead::control {
namespace {

Error not_now(const Workload& w, const std::string& why, const std::string& cure) {
  return {ErrorCode::kConflict, "workload " + w.name() + " " + why, {}, "freeze", cure};
}

}  // namespace

std::vector<Attempt*> Desk::attempts_of(const Workload& w) {
  std::vector<Attempt*> mine;
  for (auto it = attempts_.lower_bound(w.id); it != attempts_.end(); ++it) {
    if (it->second.workload != w.id) break;  // ids begin with that of their workload
    mine.push_back(&it->second);
  }
  return mine;
}

// What the engine is to do follows from the attempt alone, so that it can be told again.
void Desk::set_pace(const Attempt& attempt) {
  effects_.push_back([this, id = attempt.id, still = attempt.frozen_since.has_value()] {
    const auto told = still ? engine_.suspend(id) : engine_.resume(id);
    if (!told && told.error().code != ErrorCode::kNotFound) {
      options_.warn((still ? "freezing " : "thawing ") + id + ": " + told.error().text());
    }
  });
}

void Desk::freeze_attempt(Attempt& attempt) {
  Workload& w = *workloads_.at(attempt.workload);
  Task& task = task_of(w, attempt.role, attempt.index);
  attempt.frozen_since = clock_.since_boot();
  touch(attempt);
  if (task.attempt == attempt.number) {
    task.phase = TaskPhase::kFrozen;
    touch(w, task);
  }
  set_pace(attempt);
}

void Desk::thaw_attempt(Attempt& attempt) {
  Workload& w = *workloads_.at(attempt.workload);
  Task& task = task_of(w, attempt.role, attempt.index);
  const Duration still = clock_.since_boot() - *attempt.frozen_since;
  attempt.frozen_before = attempt.frozen_before + still;
  attempt.frozen_since.reset();
  touch(attempt);
  if (task.attempt == attempt.number) {
    task.phase = TaskPhase::kRunning;
    touch(w, task);
  }
  set_pace(attempt);
  // The time that it stood still does not count.
  std::erase_if(time_limits_, [&](const auto& limit) { return limit.second == attempt.id; });
  watch_time_limit(w, attempt);
}

void Desk::thaw(Workload& w) {
  for (Attempt* attempt : attempts_of(w)) {
    if (attempt->frozen_since) thaw_attempt(*attempt);
  }
}

Result<Outcome> Desk::freeze(const Intent& intent, const std::string& id) {
  FAIRLEAD_ASSIGN(Workload* const w, find_workload(intent, id, true));
  const std::string plainly = "suspend it without freezing: fairlead suspend " + w->name();
  if (!options_.freezing.possible) {
    return fail({ErrorCode::kImpossible,
                 "this machine cannot freeze tasks: " + options_.freezing.why,
                 {},
                 "freeze",
                 plainly + ", which stops its tasks"});
  }
  if (w->desired == Desired::kSuspended) {
    return fail(not_now(*w, "is suspended, and holds nothing", "fairlead resume " + w->name()));
  }
  Outcome outcome;
  outcome.status = 202;
  outcome.kind = "workload";
  outcome.id = id;
  if (w->desired == Desired::kFrozen) return outcome;
  if (w->phase != Phase::kRunning) {
    return fail(not_now(*w, "does not run, so that there is nothing to freeze", plainly));
  }
  if (intent.dry_run) return outcome;
  w->desired = Desired::kFrozen;
  frozen_.insert(id);
  for (Attempt* attempt : attempts_of(*w)) {
    if (attempt->state == AttemptState::kRunning) freeze_attempt(*attempt);
  }
  settle(*w);
  w->reason = "frozen by " + intent.caller.user;
  note(*w, "Frozen", "by " + intent.caller.user + "; it keeps what it holds", intent.caller.user);
  return outcome;
}

// What was stopped for others, or was lost, while it stood still, is not to begin anew before it is
// resumed, nor to hold what it would run on then: it is suspended. True: the scheduler was told.
bool Desk::suspend_what_lost_its_tasks() {
  bool told = false;
  std::erase_if(frozen_, [&](const std::string& id) {
    const auto found = workloads_.find(id);
    if (found == workloads_.end()) return true;
    Workload& w = *found->second;
    if (w.desired != Desired::kFrozen || w.verdict) return true;
    for (const Attempt* attempt : attempts_of(w)) {
      if (attempt->state == AttemptState::kRunning || attempt->state == AttemptState::kStarting) {
        return false;
      }
    }
    leave_core(w);
    w.desired = Desired::kSuspended;
    w.reason = "none of its tasks is left of those that were frozen; resume it to start them again";
    note(w, "Suspended", w.reason, "server");
    stop_attempts(w, "suspended", w.reason, w.spec().grace_period);
    settle(w);
    told = true;
    return true;
  });
  return told;
}

}  // namespace fairlead::control
