// Tasks starting and ending: the ledger of devices, queues and workloads moves together.
#include <algorithm>

#include "base/check.h"
#include "sched/core/core.h"

namespace fairlead::sched {
namespace {

std::string task_text(const std::string& workload, const std::string& role, std::int32_t index) {
  return "task " + workload + "/" + role + "-" + std::to_string(index);
}

}  // namespace

TaskSlot& Core::task_slot(WorkloadRecord& w, std::int32_t role, std::int32_t index) {
  auto& tasks = w.roles[static_cast<std::size_t>(role)].tasks;
  if (tasks.size() <= static_cast<std::size_t>(index))
    tasks.resize(static_cast<std::size_t>(index) + 1);
  return tasks[static_cast<std::size_t>(index)];
}

// What a queue and its ancestors hold changed: their usage history goes on from there (3.3).
void Core::note_held(PoolId pool_id, QueueId queue) {
  for (QueueId q = queue; q.valid(); q = queues_.get(q).parent) {
    const QueueLedger& ledger = queues_.ledger(pool_id, q);
    for (std::size_t r = 0; r < ledger.allocated.size(); ++r) {
      pools_[pool_id.index()]->usage.set_held(now_, q.index(), r, ledger.allocated[r]);
    }
  }
}

// 7.2: what a queue runs that a higher priority may take. Requires: w.pool is set.
void Core::count_preemptible(const WorkloadRecord& w, std::int64_t tasks) {
  auto& counts = queues_.ledger(w.pool, w.queue).preemptible_by_priority;
  const auto it = counts.try_emplace(w.priority, 0).first;
  it->second += tasks;
  if (it->second == 0) counts.erase(it);
}

// The least GPU that can be taken of it at once (7.4), or less where the charge depends on devices.
std::int64_t Core::smallest_unit(const WorkloadRecord& w) const {
  const Shape& shape = shapes_.get(w.shape);
  if (w.running == 0 || shape.preemptibility == Preemptibility::kNonPreemptible) return 0;
  std::int64_t smallest = INT64_MAX;
  std::int64_t all = 0;
  const auto& rates = pools_[w.pool.index()]->rates;
  const bool plain =
      std::all_of(rates.begin(), rates.end(), [](std::int64_t rate) { return rate >= kMilli; });
  for (std::size_t r = 0; r < w.roles.size(); ++r) {
    const RoleProgress& progress = w.roles[r];
    if (progress.running == 0) continue;
    const TaskClass& task = classes_.get(shape.classes[r]);
    std::int64_t one = task.needs_gpu() ? 1 : 0;
    if (plain && one > 0) one = std::max(one, task.milli * task.gpu_count);
    all += one * progress.running;
    const std::int32_t minimum =
        shape.independent ? 0 : std::max(0, shape.roles[r].min - progress.succeeded);
    if (progress.running > minimum && one > 0) smallest = std::min(smallest, one);
  }
  if (shape.preemptibility == Preemptibility::kPreemptible && all > 0)
    smallest = std::min(smallest, all);
  return smallest == INT64_MAX ? 0 : smallest;
}

void Core::count_smallest_unit(WorkloadRecord& w) {
  auto& counts = queues_.ledger(w.pool, w.queue).by_smallest_unit;
  const std::int64_t now = smallest_unit(w);
  if (now == w.smallest_unit) return;
  if (w.smallest_unit > 0) {
    const auto it = counts.find(w.smallest_unit);
    if (--it->second == 0) counts.erase(it);
  }
  w.smallest_unit = now;
  if (now > 0) ++counts[now];
}

// Requires: the placement's room is taken from the node already.
void Core::start_task(WorkloadId id, PoolId pool_id, TaskPlacement placement,
                      bool non_preemptible) {
  WorkloadRecord& w = workloads_.get(id);
  PoolCore& pool = *pools_[pool_id.index()];
  const Shape& shape = shapes_.get(w.shape);
  const TaskClass& task = classes_.get(shape.classes[static_cast<std::size_t>(placement.role)]);
  TaskSlot& slot = task_slot(w, placement.role, placement.index);
  FAIRLEAD_CHECK(slot.state == TaskState::kPending, "only a pending task starts");
  if (w.running++ == 0) {
    ++running_workloads_;
    auto& beside = queues_.ledger(pool_id, w.queue).running;
    w.run_position = beside.size();
    beside.push_back(id);
    w.run_priority = static_cast<std::int32_t>(-minus_priority(w, pool_id));
  }
  w.pool = pool_id;
  slot.state = TaskState::kRunning;
  slot.non_preemptible = non_preemptible;
  slot.charge_gpu = gpu_charge(pool, task, placement);
  slot.cost_rate = cost_rate(pool, task, placement);
  slot.started = now_;
  nodes_[placement.node.index()].tasks.push_back({id, placement.role, placement.index});
  queues_.charge(pool_id, w.queue, amounts(task, slot.charge_gpu), 1, non_preemptible,
                 slot.cost_rate, now_);
  note_held(pool_id, w.queue);
  if (!non_preemptible) count_preemptible(w, 1);
  ++pool.claims_version;
  RoleProgress& progress = w.roles[static_cast<std::size_t>(placement.role)];
  ++progress.running;
  while (static_cast<std::size_t>(progress.first_pending) < progress.tasks.size() &&
         progress.tasks[static_cast<std::size_t>(progress.first_pending)].state !=
             TaskState::kPending) {
    ++progress.first_pending;
  }
  const std::int32_t role = placement.role;
  const std::int32_t index = placement.index;
  slot.placement = std::move(placement);
  expect_end(id, role, index);
  note_rights(pool, w.queue);
  count_smallest_unit(w);
  ++placements_;
}

void Core::stop_task(WorkloadId id, std::int32_t role, std::int32_t index, TaskState then) {
  WorkloadRecord& w = workloads_.get(id);
  TaskSlot& slot = task_slot(w, role, index);
  FAIRLEAD_CHECK(slot.state == TaskState::kRunning, "only a running task stops");
  forget_end(id, role, index);
  const Shape& shape = shapes_.get(w.shape);
  const TaskClass& task = classes_.get(shape.classes[static_cast<std::size_t>(role)]);
  NodeState& node = nodes_[slot.placement.node.index()];
  const auto here = std::find(node.tasks.begin(), node.tasks.end(), TaskRef{id, role, index});
  FAIRLEAD_CHECK(here != node.tasks.end(), "a running task is known to its node");
  *here = node.tasks.back();
  node.tasks.pop_back();
  PoolCore& where = *pools_[node.pool.index()];  // the node may have changed pools since
  where.state().give(slot.placement.node, slot.placement, task);
  ++where.state().release_version;
  where.full_pass = true;
  PoolCore& pool = *pools_[w.pool.index()];
  queues_.charge(w.pool, w.queue, amounts(task, slot.charge_gpu), -1, slot.non_preemptible,
                 slot.cost_rate, now_);
  note_held(w.pool, w.queue);
  if (!slot.non_preemptible) count_preemptible(w, -1);
  ++where.claims_version;
  ++pool.claims_version;
  pool.full_pass = true;  // gates may have opened
  pool.share_dirty = true;
  const std::uint64_t taken_in = slot.taken_in;
  slot = TaskSlot{};
  slot.state = then;
  slot.taken_in = taken_in;
  RoleProgress& progress = w.roles[static_cast<std::size_t>(role)];
  --progress.running;
  if (then == TaskState::kSucceeded) ++progress.succeeded;
  w.lost_some = w.lost_some || then == TaskState::kPending;
  if (then == TaskState::kPending) progress.first_pending = std::min(progress.first_pending, index);
  --w.running;
  count_smallest_unit(w);
  if (w.running == 0) {
    --running_workloads_;
    auto& beside = queues_.ledger(w.pool, w.queue).running;
    beside[w.run_position] = beside.back();
    workloads_.get(beside[w.run_position]).run_position = w.run_position;
    beside.pop_back();
    w.pool = PoolId{};
  }
}

void Core::stop_all(WorkloadId id) {
  WorkloadRecord& w = workloads_.get(id);
  for (std::size_t r = 0; r < w.roles.size(); ++r) {
    for (std::size_t i = 0; i < w.roles[r].tasks.size(); ++i) {
      if (w.roles[r].tasks[i].state != TaskState::kRunning) continue;
      stop_task(id, static_cast<std::int32_t>(r), static_cast<std::int32_t>(i),
                TaskState::kPending);
    }
  }
}

// 5.3: of a semi-preemptible role as many running tasks count as non-preemptible as its minimum
// says, lowest first, whichever of them started as extras.
void Core::settle_minimum(WorkloadId id) {
  WorkloadRecord& w = workloads_.get(id);
  const Shape& shape = shapes_.get(w.shape);
  if (shape.preemptibility != Preemptibility::kSemiPreemptible || shape.independent) return;
  for (std::size_t r = 0; r < w.roles.size(); ++r) {
    const TaskClass& task = classes_.get(shape.classes[r]);
    std::int32_t left = shape.roles[r].min;
    for (TaskSlot& slot : w.roles[r].tasks) {
      if (slot.state != TaskState::kRunning) continue;
      const bool counts = left-- > 0;
      if (slot.non_preemptible == counts) continue;
      queues_.charge(w.pool, w.queue, amounts(task, slot.charge_gpu), -1, slot.non_preemptible,
                     slot.cost_rate, now_);
      slot.non_preemptible = counts;
      count_preemptible(w, counts ? -1 : 1);
      queues_.charge(w.pool, w.queue, amounts(task, slot.charge_gpu), 1, slot.non_preemptible,
                     slot.cost_rate, now_);
      pools_[w.pool.index()]->full_pass = true;
    }
  }
}

// Requires: wants are withdrawn. The workload is over, or wants something again.
void Core::after_change(WorkloadId id) {
  settle_minimum(id);
  WorkloadRecord& w = workloads_.get(id);
  if (w.running > 0) count_smallest_unit(w);
  const Shape& shape = shapes_.get(w.shape);
  if (shape.independent) {
    if (w.failures > w.backoff_limit) return finish(id, false);
    if (w.roles[0].succeeded >= w.completions) return finish(id, true);
  } else if (w.running == 0) {
    bool over = false;
    for (std::size_t r = 0; r < shape.roles.size(); ++r) {
      over = over || w.roles[r].succeeded > 0;
    }
    for (std::size_t r = 0; r < shape.roles.size(); ++r) {
      over = over && w.roles[r].succeeded >= shape.roles[r].min;
    }
    if (over) return finish(id, true);
  }
  refresh_wants(id);
}

void Core::finish(WorkloadId id, bool succeeded) {
  decisions_.push_back(Finished{id, workloads_.get(id).name, succeeded});
  remove_workload(id);
}

void Core::remove_workload(WorkloadId id) {
  note_staleness(id, false);
  withdraw_wants(id);
  stop_all(id);
  WorkloadRecord& w = workloads_.get(id);
  if (w.demand_pool.valid()) {
    queues_.demand(w.demand_pool, w.queue, w.demand, -1);
    pools_[w.demand_pool.index()]->share_dirty = true;
  }
  --queues_.get(w.queue).workloads;
  const ShapeId shape = w.shape;
  workloads_.remove(id);
  shapes_.release(shape);
}

Result<void> Core::on(const TaskEnded& e) {
  const WorkloadId id = workloads_.find(e.workload);
  if (!id.valid()) return fail(ErrorCode::kNotFound, "no workload is named '" + e.workload + "'");
  WorkloadRecord& w = workloads_.get(id);
  const std::int32_t role = shapes_.get(w.shape).role_named(e.role);
  if (role < 0) {
    return fail(ErrorCode::kNotFound, "workload '" + e.workload + "' has no role '" + e.role + "'");
  }
  const auto& tasks = w.roles[static_cast<std::size_t>(role)].tasks;
  if (e.index < 0 || static_cast<std::size_t>(e.index) >= tasks.size() ||
      tasks[static_cast<std::size_t>(e.index)].state != TaskState::kRunning) {
    return fail(ErrorCode::kConflict, task_text(e.workload, e.role, e.index) + " is not running");
  }
  if (e.stood_still.ms < 0) {
    return fail(ErrorCode::kInvalidArgument,
                task_text(e.workload, e.role, e.index) + " stood still for less than no time");
  }
  if (e.outcome == TaskOutcome::kSucceeded) {
    const Duration ran = now_ - tasks[static_cast<std::size_t>(e.index)].started - e.stood_still;
    history_.note(w.user, w.template_name, std::max(ran, Duration{}));
  }
  withdraw_wants(id);
  stop_task(id, role, e.index,
            e.outcome == TaskOutcome::kSucceeded ? TaskState::kSucceeded : TaskState::kPending);
  if (e.outcome == TaskOutcome::kFailed) ++w.failures;
  if (e.retry_at && e.outcome != TaskOutcome::kSucceeded) back_off(id, *e.retry_at);
  after_change(id);
  return {};
}

Result<void> Core::on(const CheckpointSaved& e) {
  const WorkloadId id = workloads_.find(e.workload);
  if (!id.valid()) return fail(ErrorCode::kNotFound, "no workload is named '" + e.workload + "'");
  WorkloadRecord& w = workloads_.get(id);
  const std::int32_t role = e.role.empty() ? -1 : shapes_.get(w.shape).role_named(e.role);
  if (role < 0 && !e.role.empty()) {
    return fail(ErrorCode::kNotFound, "workload '" + e.workload + "' has no role '" + e.role + "'");
  }
  bool any = false;
  for (std::size_t r = 0; r < w.roles.size(); ++r) {
    if (role >= 0 && r != static_cast<std::size_t>(role)) continue;
    for (std::size_t i = 0; i < w.roles[r].tasks.size(); ++i) {
      TaskSlot& slot = w.roles[r].tasks[i];
      const bool meant = e.index == -1 || static_cast<std::int64_t>(i) == e.index;
      if (!meant || slot.state != TaskState::kRunning) continue;
      slot.saved = now_;
      any = true;
    }
  }
  if (any) return {};
  std::string what = "nothing";
  if (e.index != -1) what = "no task " + std::to_string(e.index);
  if (!e.role.empty()) what += " of role '" + e.role + "'";
  return fail(ErrorCode::kConflict,
              what + " of workload '" + e.workload + "' is running: there is nothing to save");
}

Result<void> Core::on(const WorkloadRequeued& e) {
  const WorkloadId id = workloads_.find(e.workload);
  if (!id.valid()) return fail(ErrorCode::kNotFound, "no workload is named '" + e.workload + "'");
  withdraw_wants(id);
  stop_all(id);
  after_change(id);
  return {};
}

// Requires: wants are withdrawn.
void Core::back_off(WorkloadId id, Instant until) {
  workloads_.get(id).retry_at = until;
  if (until > now_) backing_off_.push({until, id});
}

Result<void> Core::on(const StartRefused& e) {
  const WorkloadId id = workloads_.find(e.workload);
  if (!id.valid()) return fail(ErrorCode::kNotFound, "no workload is named '" + e.workload + "'");
  withdraw_wants(id);
  stop_all(id);
  back_off(id, e.retry_at);
  after_change(id);
  return {};
}

}  // namespace fairlead::sched
