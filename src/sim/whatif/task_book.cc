#include "sim/whatif/task_book.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace fairlead::sim {

std::size_t TaskBook::running(const std::string& workload) const {
  const auto it = tasks_.find(workload);
  return it == tasks_.end() ? 0 : it->second.size();
}

void TaskBook::each(
    const std::function<void(const std::string& workload, const TaskHeld&)>& visit) const {
  for (const auto& [workload, tasks] : tasks_) {
    for (const auto& [task, held] : tasks) visit(workload, held);
  }
}

void TaskBook::start(const std::string& workload, TaskName task, TaskHeld held) {
  const auto [it, added] = tasks_[workload].insert_or_assign(std::move(task), std::move(held));
  watcher_.started(workload, it->first, it->second);
}

void TaskBook::stop(const std::string& workload, const TaskName& task, TaskStop why) {
  const auto of = tasks_.find(workload);
  if (of == tasks_.end()) return;
  const auto node = of->second.extract(task);
  if (node.empty()) return;
  if (of->second.empty()) tasks_.erase(of);
  watcher_.stopped(workload, node.key(), node.mapped(), why);
}

void TaskBook::stop_all(const std::string& workload, TaskStop why) {
  const auto of = tasks_.find(workload);
  if (of == tasks_.end()) return;
  const Tasks gone = of->second;
  for (const auto& [task, held] : gone) stop(workload, task, why);
}

void TaskBook::look_for_lost(const std::string& node, const sched::Scheduler& core) {
  std::vector<std::pair<std::string, TaskName>> lost;
  for (const auto& [workload, tasks] : tasks_) {
    const bool there = std::any_of(tasks.begin(), tasks.end(),
                                   [&](const auto& entry) { return entry.second.node == node; });
    if (!there) continue;
    const auto view = core.workload(workload);
    for (const auto& [task, held] : tasks) {
      if (held.node != node) continue;
      const bool runs =
          view && std::any_of(view->tasks.begin(), view->tasks.end(),
                              [&, &name = task](const sched::TaskView& t) {
                                return t.running && t.role == name.role && t.index == name.index;
                              });
      if (!runs) lost.emplace_back(workload, task);
    }
  }
  for (const auto& [workload, task] : lost) stop(workload, task, TaskStop::kLost);
}

std::int64_t TaskBook::milli_of(const std::string& node, std::size_t device, std::int64_t milli,
                                std::int64_t mib) const {
  if (milli > 0 || mib == 0) return milli;
  const auto at = symbols_.nodes.find(node);
  if (at == symbols_.nodes.end() || device >= at->second.devices.size()) return 0;
  const auto type = symbols_.classes.find(at->second.devices[device].device_class);
  if (type == symbols_.classes.end() || type->second.memory.value <= 0) return 0;
  const std::int64_t memory = type->second.memory.value;
  return (mib * kMilli + memory - 1) / memory;
}

void TaskBook::adopt(Instant now, const WorkloadEntry& entry, const sched::Scheduler& core) {
  const auto view = core.workload(entry.spec.name);
  if (!view) return;
  for (const sched::TaskView& task : view->tasks) {
    if (!task.running) continue;
    const auto stated = std::find_if(
        entry.running.begin(), entry.running.end(),
        [&](const RunningTask& r) { return r.role == task.role && r.index == task.index; });
    const bool own_time = stated != entry.running.end() && stated->started;
    TaskHeld held{own_time ? *stated->started : entry.started.value_or(now), task.node, 0};
    const auto node = symbols_.nodes.find(task.node);
    for (std::size_t i = 0; i < task.milli.size(); ++i) {
      std::size_t device = 0;
      if (node != symbols_.nodes.end()) {
        const auto& devices = node->second.devices;
        device = static_cast<std::size_t>(
            std::find_if(devices.begin(), devices.end(),
                         [&](const DeviceSpec& d) { return d.id == task.devices[i]; }) -
            devices.begin());
      }
      held.milli += milli_of(task.node, device, task.milli[i], task.mib[i]);
    }
    start(entry.spec.name, {task.role, task.index}, std::move(held));
  }
}

std::string TaskBook::role_name(const std::string& workload, std::int32_t position) const {
  const auto it = symbols_.workloads.find(workload);
  if (it == symbols_.workloads.end()) return {};
  const auto& roles = it->second.roles;
  const auto at = static_cast<std::size_t>(position);
  return at < roles.size() ? roles[at].name : std::string();
}

void TaskBook::note(Instant now, const sched::Event& event, const sched::Scheduler& core) {
  symbols_.now = now;
  symbols_.note(event);
  if (const auto* ended = std::get_if<sched::TaskEnded>(&event)) {
    stop(ended->workload, {ended->role, ended->index}, TaskStop::kEnded);
  } else if (const auto* removed = std::get_if<sched::WorkloadRemoved>(&event)) {
    stop_all(removed->workload, TaskStop::kOver);
  } else if (const auto* requeued = std::get_if<sched::WorkloadRequeued>(&event)) {
    stop_all(requeued->workload, TaskStop::kRequeued);
  } else if (const auto* refused = std::get_if<sched::StartRefused>(&event)) {
    stop_all(refused->workload, TaskStop::kRefused);
  } else if (const auto* adopted = std::get_if<sched::WorkloadAdopted>(&event)) {
    adopt(now, adopted->entry, core);
  } else if (const auto* node = std::get_if<sched::NodeUpserted>(&event)) {
    look_for_lost(node->node.name, core);
  } else if (const auto* gone = std::get_if<sched::NodeRemoved>(&event)) {
    look_for_lost(gone->node, core);
  } else if (const auto* condition = std::get_if<sched::NodeConditionChanged>(&event)) {
    look_for_lost(condition->node, core);
  } else if (const auto* health = std::get_if<sched::DeviceHealthChanged>(&event)) {
    look_for_lost(health->node, core);
  }
}

void TaskBook::note(Instant now, const std::vector<NamedDecision>& decisions) {
  for (const NamedDecision& one : decisions) {
    if (const auto* started = std::get_if<sched::Started>(&one.decision)) {
      for (std::size_t i = 0; i < started->tasks.size(); ++i) {
        const sched::TaskPlacement& task = started->tasks[i];
        TaskHeld held{now, one.nodes[i], 0};
        for (const sched::DeviceClaim& claim : task.devices) {
          held.milli += milli_of(one.nodes[i], claim.device, claim.milli.value, claim.memory.value);
        }
        start(one.workload, {role_name(one.workload, task.role), task.index}, std::move(held));
      }
    } else if (const auto* stopped = std::get_if<sched::Stopped>(&one.decision)) {
      const bool shrunk = stopped->cause == sched::StopCause::kShrunk ||
                          stopped->cause == sched::StopCause::kNodeShrunk;
      for (const auto& [role, index] : stopped->tasks) {
        stop(one.workload, {role_name(one.workload, role), index},
             shrunk ? TaskStop::kLost : TaskStop::kTakenBack);
      }
    } else {
      stop_all(one.workload, TaskStop::kOver);
    }
  }
}

}  // namespace fairlead::sim
