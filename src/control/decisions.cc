// What the scheduler decides, as attempts: made, stopped, and begun when their place is free.
#include <algorithm>

#include "base/check.h"
#include "control/desk.h"

namespace fairlead::control {
namespace {

std::string cause_word(sched::StopCause cause) {
  switch (cause) {
    case sched::StopCause::kShrunk:
      return "shrunk";
    case sched::StopCause::kNodeShrunk:
      return "node-shrunk";
    case sched::StopCause::kReclaimed:
      return "reclaimed";
    case sched::StopCause::kPreempted:
      return "preempted";
    case sched::StopCause::kMoved:
      return "moved";
    case sched::StopCause::kStale:
      return "stale";
  }
  FAIRLEAD_CHECK(false, "the causes are closed");
}

bool for_others(sched::StopCause cause) {
  return cause == sched::StopCause::kReclaimed || cause == sched::StopCause::kPreempted ||
         cause == sched::StopCause::kMoved;
}

std::string count_of(std::size_t n, const char* what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

}  // namespace

void Desk::decide() {
  core_touched_ = false;
  usage_changed_ = true;
  places_.reset();
  for (const sched::Decision& decision : core_->decide(now_)) {
    std::visit([this](const auto& d) { carry_out(d); }, decision);
  }
}

void Desk::carry_out(const sched::Started& started) {
  Workload* w = by_core_name(core_->workload_name(started.workload));
  FAIRLEAD_CHECK(w != nullptr, "what starts is known");
  w->pool = core_->pool_name(started.pool);
  for (const sched::TaskPlacement& placement : started.tasks) {
    Task& task = task_of(*w, placement.role, placement.index);
    ++task.attempt;
    const TaskRequest& request = w->spec().roles[static_cast<std::size_t>(placement.role)].request;
    Attempt attempt;
    attempt.id = task.id + "-" + std::to_string(task.attempt);
    attempt.workload = w->id;
    attempt.role = placement.role;
    attempt.index = placement.index;
    attempt.number = task.attempt;
    attempt.node = core_->node_name(placement.node);
    attempt.cpu = request.cpu.value;
    attempt.memory = request.memory.value;
    attempt.created = now_;
    for (const sched::DeviceClaim& claim : placement.devices) {
      const DeviceSpec& device = node_.devices[claim.device];
      HeldDevice held{device.id, device.device_class, claim.milli.value, claim.memory.value, {}};
      if (claim.mig_profile >= 0) held.mig_profile = request.gpu.mig_profile;
      attempt.devices.push_back(std::move(held));
    }
    task.phase = TaskPhase::kStarting;
    task.node = attempt.node;
    task.devices = attempt.devices;
    task.pid = 0;
    task.started = task.ended = std::nullopt;
    task.exit_code = task.signal = std::nullopt;
    task.out_of_memory = std::nullopt;
    task.cpu_ms = task.max_rss = 0;
    task.reason.clear();
    ++w->live;
    waiting_.push_back(attempt.id);
    touch(*w, task);
    touch(attempt);
    attempts_.emplace(attempt.id, std::move(attempt));
  }
  note(*w, "Scheduled", count_of(started.tasks.size(), "task") + " placed in pool " + w->pool,
       "scheduler");
  settle(*w);
}

void Desk::carry_out(const sched::Stopped& stopped) {
  Workload* w = by_core_name(core_->workload_name(stopped.workload));
  FAIRLEAD_CHECK(w != nullptr, "what is stopped is known");
  for (const auto& [role, index] : stopped.tasks) {
    const auto task = w->tasks.find({role, index});
    if (task == w->tasks.end()) continue;
    const auto attempt =
        attempts_.find(task->second.id + "-" + std::to_string(task->second.attempt));
    if (attempt == attempts_.end()) continue;
    attempt->second.known_to_core = false;
    stop_attempt(attempt->second,
                 {cause_word(stopped.cause), stopped.text, SIGTERM, stopped.grace});
  }
  if (for_others(stopped.cause)) {
    ++w->preemptions;
    ++counters_.preemptions;
  }
  note(*w, for_others(stopped.cause) ? "Preempted" : "Stopped",
       count_of(stopped.tasks.size(), "task") + " stopped (" + cause_word(stopped.cause) + ")" +
           (stopped.text.empty() ? "" : ": " + stopped.text),
       "scheduler");
  settle(*w);
}

void Desk::carry_out(const sched::Finished& finished) {
  Workload* w = by_core_name(finished.name);
  FAIRLEAD_CHECK(w != nullptr, "what is finished is known");
  w->in_core = false;
  ids_by_name_.erase(finished.name);
  w->verdict = finished.succeeded ? Phase::kSucceeded : Phase::kFailed;
  if (!finished.succeeded) {
    w->reason = "tasks failed " + std::to_string(w->failures) + " times; the limit is " +
                std::to_string(w->spec().backoff_limit);
  }
  stop_attempts(*w, "finished", "the workload is over", w->spec().grace_period);
  settle(*w);
}

void Desk::stop_attempt(Attempt& attempt, const engine::StopOrder& order) {
  Workload& w = *workloads_.at(attempt.workload);
  Task& task = task_of(w, attempt.role, attempt.index);
  if (attempt.state == AttemptState::kWaiting) {
    end_attempt(attempt, TaskPhase::kStopped, order.text.empty() ? order.cause : order.text);
    return;
  }
  // A later order may only make the end come sooner.
  if (attempt.state == AttemptState::kStopping && order.grace >= attempt.stop.grace) return;
  attempt.state = AttemptState::kStopping;
  attempt.frozen_since.reset();  // the order wakes it
  attempt.stop = order;
  if (task.attempt == attempt.number) {
    task.phase = TaskPhase::kStopping;
    task.reason = order.text.empty() ? order.cause : order.text;
    touch(w, task);
  }
  touch(attempt);
  touch(w);
  effects_.push_back([this, id = attempt.id, order] {
    const auto stopped = engine_.stop(id, order);
    if (!stopped && stopped.error().code != ErrorCode::kNotFound) {
      options_.warn("stopping " + id + ": " + stopped.error().text());
    }
  });
}

void Desk::stop_attempts(Workload& w, const std::string& cause, const std::string& text,
                         Duration grace) {
  for (Attempt* attempt : attempts_of(w)) {
    attempt->known_to_core = false;
    touch(*attempt);
    stop_attempt(*attempt, {cause, text, SIGTERM, grace});
  }
}

void Desk::count_held(const Attempt& attempt, int sign) {
  for (const HeldDevice& device : attempt.devices) {
    auto& [milli, mib] = held_devices_[device.id];
    milli += sign * device.milli;
    mib += sign * device.mib;
  }
  held_cpu_ += sign * attempt.cpu;
  held_memory_ += sign * attempt.memory;
}

// 7.8: what the scheduler gave away may still be held by who is on the way out.
bool Desk::is_free(const Attempt& attempt) const {
  for (const HeldDevice& device : attempt.devices) {
    const auto held = held_devices_.find(device.id);
    if (held == held_devices_.end()) continue;
    const DeviceSpec* spec = device_named(device.id);
    const DeviceClass* device_class = nullptr;
    for (const DeviceClass& c : options_.inventory.classes) {
      if (spec != nullptr && c.name == spec->device_class) device_class = &c;
    }
    const std::int64_t memory = device_class == nullptr ? INT64_MAX : device_class->memory.value;
    if (held->second.first + device.milli > 1000) return false;
    if (held->second.second + device.mib > memory) return false;
  }
  if (attempt.cpu > 0 && held_cpu_ + attempt.cpu > node_.cpu.value) return false;
  if (attempt.memory > 0 && held_memory_ + attempt.memory > node_.memory.value) return false;
  // The same task may still be on the way out.
  const std::string task =
      attempt.workload + "-" + std::to_string(attempt.role) + "-" + std::to_string(attempt.index);
  for (auto it = attempts_.lower_bound(task + "-"); it != attempts_.end(); ++it) {
    const Attempt& other = it->second;
    if (!it->first.starts_with(task + "-")) break;
    if (other.number != attempt.number && other.state != AttemptState::kWaiting) return false;
  }
  return true;
}

void Desk::start_what_waits() {
  std::vector<engine::AttemptId> still;
  // What holds one back holds back those behind it on the same devices: no one is overtaken for
  // ever. Attempts of other devices go on.
  std::set<std::string> blocked;
  bool host_blocked = false;
  for (const engine::AttemptId& id : std::exchange(waiting_, {})) {
    const auto found = attempts_.find(id);
    if (found == attempts_.end() || found->second.state != AttemptState::kWaiting) continue;
    Attempt& attempt = found->second;
    // It has its place by the scheduler's book, and keeps none from theirs meanwhile.
    if (workloads_.at(attempt.workload)->desired == Desired::kFrozen) {
      still.push_back(id);
      continue;
    }
    const bool behind = std::any_of(attempt.devices.begin(), attempt.devices.end(),
                                    [&](const HeldDevice& d) { return blocked.contains(d.id); }) ||
                        (host_blocked && attempt.cpu + attempt.memory > 0);
    if (!behind && is_free(attempt)) {
      count_held(attempt, 1);
      attempt.state = AttemptState::kStarting;
      touch(attempt);
      launch(attempt);
      continue;
    }
    for (const HeldDevice& device : attempt.devices) blocked.insert(device.id);
    host_blocked = host_blocked || (attempt.devices.empty() && attempt.cpu + attempt.memory > 0);
    still.push_back(id);
  }
  waiting_ = std::move(still);
}

void Desk::launch(Attempt& attempt) {
  const Workload& w = *workloads_.at(attempt.workload);
  // It was submitted when that was allowed.
  const bool forbidden = w.submission.run.uid == 0 && !options_.allow_root_tasks;
  effects_.push_back([this, launch = launch_of(w, attempt), forbidden] {
    const auto started =
        forbidden ? Result<void>(fail(
                        {ErrorCode::kForbidden,
                         "tasks do not run as root here",
                         {},
                         "run_as",
                         "submit it as another user, or start the server with --allow-root-tasks"}))
                  : engine_.start(launch);
    if (!started) refused_.push_back(engine::StartFailed{launch.attempt, started.error(), false});
  });
}

}  // namespace fairlead::control
