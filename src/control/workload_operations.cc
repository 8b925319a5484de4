// What people do with workloads.
#include <algorithm>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include "base/nearest.h"
#include "control/desk.h"

namespace fairlead::control {
namespace {

Error field_error(ErrorCode code, std::string field, std::string message, std::string cure = {}) {
  return {code, std::move(message), {}, std::move(field), std::move(cure)};
}

Outcome workload_outcome(const std::string& id, int status) {
  Outcome outcome;
  outcome.status = status;
  outcome.kind = "workload";
  outcome.id = id;
  return outcome;
}

}  // namespace

Result<void> Desk::check_run(const Caller& caller, Submission& submission) {
  RunSpec& run = submission.run;
  if (!run.image.empty()) {
    return fail(field_error(
        ErrorCode::kImpossible, "run.image",
        "\"" + run.image + "\" asks for a container, and this server runs tasks as processes",
        "leave the image out and give a command: fairlead submit NAME -- CMD"));
  }
  for (const RoleSpec& role : submission.entry.spec.roles) {
    if (!run.command_of(role.name).empty()) continue;
    return fail(field_error(ErrorCode::kInvalidArgument, "run.command",
                            "role " + role.name + " has no command",
                            "give one: fairlead submit NAME -- CMD"));
  }
  if (!run.uid) {
    if (!caller.uid) {
      return fail(field_error(ErrorCode::kInvalidArgument, "run.uid",
                              "no account of this machine is known for user " + caller.user,
                              "an administrator names one: fairlead user update " + caller.user +
                                  " --local-user ACCOUNT"));
    }
    run.uid = *caller.uid;
    if (!run.gid && caller.gid) run.gid = *caller.gid;
  }
  if (!caller.admin() && (!caller.uid || *run.uid != *caller.uid)) {
    return fail(
        field_error(ErrorCode::kForbidden, "run.uid",
                    "tasks of " + caller.user + " do not run as user " + std::to_string(*run.uid),
                    "leave it out"));
  }
  if (!options_.may_switch_user && *run.uid != geteuid()) {
    return fail(field_error(
        ErrorCode::kForbidden, "run.uid",
        "the server is not root and runs tasks as user " + std::to_string(geteuid()) + " alone",
        "start the server as root to serve several users"));
  }
  if (*run.uid == 0 && !options_.allow_root_tasks) {
    return fail(field_error(ErrorCode::kForbidden, "run.uid", "tasks do not run as root here",
                            "submit as another user, or start the server with --allow-root-tasks"));
  }
  const passwd* account = getpwuid(static_cast<uid_t>(*run.uid));
  if (!run.gid) run.gid = account == nullptr ? *run.uid : std::int64_t{account->pw_gid};
  if (!caller.admin() && caller.gid && *run.gid != *caller.gid) {
    return fail(
        field_error(ErrorCode::kForbidden, "run.gid",
                    "tasks of " + caller.user + " do not run as group " + std::to_string(*run.gid),
                    "leave it out"));
  }
  if (run.working_dir.empty()) run.working_dir = account == nullptr ? "/" : account->pw_dir;
  return {};
}

Result<void> Desk::check_grace(Duration grace) const {
  if (grace <= settings_.max_grace_period) return {};
  return fail(field_error(
      ErrorCode::kForbidden, "gracePeriod",
      to_text(grace) + " is more than the " + to_text(settings_.max_grace_period) + " allowed here",
      "ask for less, or an administrator: fairlead settings set maxGracePeriod=" + to_text(grace)));
}

// What would put it before others, or keep what it holds from them.
Result<void> Desk::check_standing(const Caller& caller, const WorkloadSpec& spec) const {
  if (caller.admin()) return {};
  const std::string cure = "ask for less, or an administrator: fairlead settings set ";
  FAIRLEAD_TRY(check_grace(spec.grace_period));
  if (spec.priority > settings_.max_priority) {
    return fail(field_error(ErrorCode::kForbidden, "priority",
                            std::to_string(spec.priority) + " is more than the " +
                                std::to_string(settings_.max_priority) + " allowed here",
                            cure + "maxPriority=" + std::to_string(spec.priority)));
  }
  if (spec.order_key < 0) {
    return fail(field_error(ErrorCode::kForbidden, "orderKey",
                            "only an administrator puts a workload before others of its priority",
                            "leave it out, or state one above 0 to let others go first"));
  }
  return {};
}

// Requires: there is such a project.
Result<void> Desk::check_member(const Caller& caller, const std::string& project) const {
  const auto& members = queues_.at(project).members;
  if (caller.admin() || !members) return {};
  if (std::find(members->begin(), members->end(), caller.user) != members->end()) return {};
  return fail(field_error(ErrorCode::kForbidden, "project",
                          caller.user + " is no member of project " + project,
                          "ask an administrator, or submit to a project of yours"));
}

Result<void> Desk::check_submission(const Caller& caller, Submission& submission) {
  WorkloadSpec& spec = submission.entry.spec;
  if (spec.queue.empty()) spec.queue = settings_.default_project;
  if (spec.name.find('/') != std::string::npos) {
    return fail(field_error(ErrorCode::kInvalidArgument, "name", "\"" + spec.name + "\" holds a /",
                            "choose a name without it"));
  }
  const auto queue = queues_.find(spec.queue);
  if (queue == queues_.end() || queue->second.kind != QueueKind::kProject) {
    std::vector<std::string> names;
    for (const auto& [name, node] : queues_) {
      if (node.kind == QueueKind::kProject) names.push_back(name);
    }
    const std::string near = nearest_name(spec.queue, names);
    return fail(field_error(ErrorCode::kNotFound, "project", "there is no project " + spec.queue,
                            (near.empty() ? "" : "did you mean " + near + "? ") +
                                "An administrator makes one: fairlead project create " +
                                spec.queue));
  }
  FAIRLEAD_TRY(check_member(caller, spec.queue));
  FAIRLEAD_TRY(check_standing(caller, spec));
  spec.user = caller.user;
  submission.entry.submitted = now_;
  submission.entry.started.reset();
  if (!submission.entry.running.empty() || !submission.entry.succeeded.empty()) {
    return fail(field_error(ErrorCode::kInvalidArgument, "running",
                            "a submission says nothing of what has run", "remove it"));
  }
  return check_run(caller, submission);
}

Result<Outcome> Desk::submit(const Intent& intent, Submission submission) {
  if (intent.caller.role == Role::kViewer) {
    return fail(ErrorCode::kForbidden, intent.caller.user + " may look but not submit",
                "ask an administrator for the role user");
  }
  FAIRLEAD_TRY(check_submission(intent.caller, submission));
  auto w = std::make_unique<Workload>();
  w->user = intent.caller.user;
  w->created = now_;
  w->submission = std::move(submission);
  store::Query taken;
  taken.kind = "workload";
  taken.scope = w->project();
  taken.name = w->name();
  FAIRLEAD_ASSIGN(const auto there, store_.list(taken));
  // Those of this batch are not in the store yet.
  if (!there.empty() || ids_by_name_.contains(w->core_name())) {
    return fail(field_error(ErrorCode::kAlreadyExists, "name",
                            "project " + w->project() + " has a workload " + w->name() + " already",
                            "choose another name, or remove that one: fairlead delete " +
                                w->name() + " -p " + w->project()));
  }
  WorkloadSpec spec = w->spec();
  spec.name = w->core_name();
  if (intent.dry_run) {
    FAIRLEAD_TRY(core_->admit(spec));
    w->id = std::string(26, '0');
    Outcome outcome;
    outcome.body = workload_record(*w).body;
    return outcome;
  }
  FAIRLEAD_TRY(tell(sched::WorkloadSubmitted{std::move(spec)}));
  w->id = ids_.next(now_);
  w->in_core = true;
  ids_by_name_[w->core_name()] = w->id;
  ++counters_.submitted;
  note(*w, "Submitted", "by " + w->user, w->user);
  touch(*w);
  Outcome outcome = workload_outcome(w->id, 201);
  outcome.location = "/api/v1/workloads/" + w->id;
  workloads_.emplace(w->id, std::move(w));
  return outcome;
}

// A workload that is over comes from the store; null if there is none.
Result<Workload*> Desk::load_over(const std::string& id) {
  const auto found = workloads_.find(id);
  if (found != workloads_.end()) return found->second.get();
  FAIRLEAD_ASSIGN(const auto record, store_.get("workload", id));
  if (!record) return nullptr;
  FAIRLEAD_ASSIGN(Workload w, read_workload_record(*record));
  store::Query query;
  query.kind = "task";
  query.scope = id;
  query.limit = INT64_MAX;
  FAIRLEAD_ASSIGN(const auto tasks, store_.list(query));
  for (const store::Record& task_record : tasks) {
    FAIRLEAD_ASSIGN(Task task, read_task_record(task_record, w.spec()));
    w.tasks.emplace(std::pair{task.role, task.index}, std::move(task));
  }
  over_.push_back(id);
  return workloads_.emplace(id, std::make_unique<Workload>(std::move(w))).first->second.get();
}

Result<Workload*> Desk::find_workload(const Intent& intent, const std::string& id, bool to_change) {
  FAIRLEAD_ASSIGN(Workload* const w, load_over(id));
  if (w == nullptr) {
    return fail(ErrorCode::kNotFound, "there is no workload " + id,
                "list them: fairlead list --all-projects");
  }
  FAIRLEAD_TRY(check_owner(intent.caller, w->user, "workload " + w->name()));
  FAIRLEAD_TRY(check_match(intent, w->revision));
  if (to_change && (over(w->phase) || w->verdict)) {
    return fail(ErrorCode::kConflict, "workload " + w->name() + " is over",
                "submit it again under another name");
  }
  if (to_change && w->desired == Desired::kDeleted) {
    return fail(ErrorCode::kConflict, "workload " + w->name() + " is being deleted");
  }
  return w;
}

void Desk::leave_core(Workload& w) {
  if (!w.in_core) return;
  w.in_core = false;
  ids_by_name_.erase(w.core_name());
  must(sched::WorkloadRemoved{w.core_name()});
}

Result<Outcome> Desk::remove(const Intent& intent, const std::string& id,
                             std::optional<Duration> grace) {
  FAIRLEAD_ASSIGN(Workload* const w, find_workload(intent, id, false));
  if (intent.dry_run) return workload_outcome(id, 202);
  Outcome outcome;
  outcome.status = 202;
  if (grace && !intent.caller.admin()) FAIRLEAD_TRY(check_grace(*grace));
  leave_core(*w);
  const bool again = w->desired == Desired::kDeleted;
  w->desired = Desired::kDeleted;
  w->reason = "deleted by " + intent.caller.user;
  if (!again) note(*w, "Deleting", w->reason, intent.caller.user);
  stop_attempts(*w, "deleted", w->reason, grace.value_or(w->spec().grace_period));
  w->phase = Phase::kDeleting;
  outcome.body = workload_record(*w).body;
  settle(*w);
  return outcome;
}

// Its record is gone; its events stay for the retention.
void Desk::forget(Workload& w) {
  std::erase_if(retention_, [&](const auto& entry) { return entry.second == w.id; });
  if (w.desired == Desired::kDeleted) note(w, "Deleted", "removed", "server");
  const std::string id = w.id;
  std::vector<engine::AttemptId> outputs;
  for (const auto& [key, task] : w.tasks) {
    erase("task", task.id, "task", id);
    for (std::int32_t n = 1; n <= task.attempt; ++n) {
      outputs.push_back(task.id + "-" + std::to_string(n));
    }
  }
  erase("workload", id, "workload", id);
  effects_.push_back([this, outputs = std::move(outputs)] {
    for (const engine::AttemptId& attempt : outputs) {
      const auto removed = engine_.remove(attempt);
      if (!removed)
        options_.warn("removing the output of " + attempt + ": " + removed.error().text());
    }
  });
  dirty_workloads_.erase(id);
  workloads_.erase(id);
}

Result<Outcome> Desk::suspend(const Intent& intent, const std::string& id) {
  FAIRLEAD_ASSIGN(Workload* const w, find_workload(intent, id, true));
  if (intent.dry_run || w->desired == Desired::kSuspended) return workload_outcome(id, 202);
  leave_core(*w);
  w->desired = Desired::kSuspended;
  w->reason = "suspended by " + intent.caller.user;
  note(*w, "Suspended", w->reason, intent.caller.user);
  stop_attempts(*w, "suspended", w->reason, w->spec().grace_period);
  settle(*w);
  return workload_outcome(id, 202);
}

// As the scheduler is told of it.
WorkloadEntry Desk::entry_of(const Workload& w) const {
  WorkloadEntry entry = w.submission.entry;
  entry.spec.name = w.core_name();
  entry.failures = w.failures;
  for (const auto& [key, task] : w.tasks) {
    if (task.phase != TaskPhase::kSucceeded) continue;
    entry.succeeded.push_back(
        {w.spec().roles[static_cast<std::size_t>(task.role)].name, task.index});
  }
  for (auto it = attempts_.lower_bound(w.id); it != attempts_.end(); ++it) {
    const Attempt& attempt = it->second;
    if (attempt.workload != w.id) break;
    if (!attempt.known_to_core) continue;
    RunningTask running;
    running.role = w.spec().roles[static_cast<std::size_t>(attempt.role)].name;
    running.index = attempt.index;
    running.node = attempt.node;
    for (const HeldDevice& device : attempt.devices) running.devices.push_back(device.id);
    running.started = attempt.started.value_or(attempt.created);
    entry.running.push_back(std::move(running));
  }
  return entry;
}

Result<void> Desk::enter_core(Workload& w) {
  FAIRLEAD_TRY(tell(sched::WorkloadAdopted{entry_of(w)}));
  w.in_core = true;
  ids_by_name_[w.core_name()] = w.id;
  return {};
}

Result<Outcome> Desk::resume(const Intent& intent, const std::string& id) {
  FAIRLEAD_ASSIGN(Workload* const w, find_workload(intent, id, true));
  if (w->desired == Desired::kRunning) {
    return fail(ErrorCode::kConflict, "workload " + w->name() + " is not suspended");
  }
  // As a submission of now, for those who have it.
  FAIRLEAD_TRY(check_member(intent.caller, w->project()));
  FAIRLEAD_TRY(check_standing(intent.caller, w->spec()));
  FAIRLEAD_TRY(check_run(intent.caller, w->submission));
  if (intent.dry_run) return workload_outcome(id, 202);
  if (w->desired == Desired::kFrozen) {
    thaw(*w);
  } else {
    FAIRLEAD_TRY(enter_core(*w));
  }
  w->desired = Desired::kRunning;
  w->reason.clear();
  note(*w, "Resumed", "by " + intent.caller.user, intent.caller.user);
  settle(*w);
  return workload_outcome(id, 202);
}

Result<Outcome> Desk::change(const Intent& intent, const std::string& id,
                             const WorkloadPatch& patch) {
  FAIRLEAD_ASSIGN(Workload* const w, find_workload(intent, id, true));
  Submission changed = w->submission;
  sched::WorkloadChanged event;
  event.workload = w->core_name();
  if (patch.priority) {
    if (!intent.caller.admin() && *patch.priority > changed.entry.spec.priority) {
      return fail(field_error(ErrorCode::kForbidden, "priority",
                              "only an administrator raises a priority after submission",
                              "lower it, or ask an administrator"));
    }
    changed.entry.spec.priority = *patch.priority;
    event.priority = patch.priority;
  }
  for (const auto& [key, value] : patch.labels) {
    if (value) {
      changed.labels[key] = *value;
    } else {
      changed.labels.erase(key);
    }
  }
  if (patch.sets_auto_delete) changed.auto_delete_after = patch.auto_delete_after;
  for (const auto& [name, role_change] : patch.roles) {
    const auto role = std::find_if(changed.entry.spec.roles.begin(), changed.entry.spec.roles.end(),
                                   [&](const RoleSpec& r) { return r.name == name; });
    if (role == changed.entry.spec.roles.end()) {
      return fail(field_error(ErrorCode::kNotFound, "roles." + name,
                              "workload " + w->name() + " has no role " + name));
    }
    if (role_change.count) role->count = *role_change.count;
    if (role_change.min) role->min = *role_change.min;
    if (changed.entry.spec.independent_tasks() && role_change.count) {
      changed.entry.spec.parallelism = *role_change.count;
    }
    if (role->count < 1 || role->min < 0 || role->min > role->count) {
      return fail(field_error(ErrorCode::kInvalidArgument, "roles." + name,
                              "count " + std::to_string(role->count) + " and min " +
                                  std::to_string(role->min) +
                                  " do not go together; 0 <= min <= count and count >= 1"));
    }
    event.roles.push_back(role_change);
  }
  if (intent.dry_run) return workload_outcome(id, 200);
  if (w->in_core && (event.priority || !event.roles.empty())) FAIRLEAD_TRY(tell(event));
  w->submission = std::move(changed);
  note(*w, "Changed", "by " + intent.caller.user, intent.caller.user);
  touch(*w);
  return workload_outcome(id, 200);
}

}  // namespace fairlead::control
