// Deltas about workloads: submitted, adopted, changed, removed.
#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/wide.h"
#include "sched/core/checks.h"
#include "sched/core/pass.h"
#include "sched/explain/explainer.h"

namespace fairlead::sched {
namespace {

Error bad(const WorkloadSpec& spec, std::string field, std::string message, std::string cure = {}) {
  Error error;
  error.code = ErrorCode::kInvalidArgument;
  error.field = std::move(field);
  error.message = "workload '" + spec.name + "': " + std::move(message);
  error.cure = std::move(cure);
  return error;
}

// Of an adopted workload. `taken`: the tasks that run; those that succeeded are added.
Result<void> check_succeeded(const WorkloadEntry& entry, const Shape& shape,
                             std::set<std::pair<std::int32_t, std::int32_t>> taken) {
  const auto refused = [&](ErrorCode code, const std::string& message) {
    return fail(code, "workload '" + entry.spec.name + "': " + message);
  };
  if (entry.failures < 0) return refused(ErrorCode::kOutOfRange, "failures is below 0");
  for (const SucceededTask& task : entry.succeeded) {
    const std::string what = "succeeded task " + task.role + "-" + std::to_string(task.index);
    const std::int32_t role = shape.role_named(task.role);
    if (role < 0) return refused(ErrorCode::kNotFound, what + ": there is no such role");
    const std::int32_t most = shape.independent ? entry.spec.completions
                                                : shape.roles[static_cast<std::size_t>(role)].count;
    if (task.index < 0 || task.index >= most) {
      return refused(ErrorCode::kOutOfRange,
                     what + ": task numbers go from 0 to " + std::to_string(most - 1));
    }
    if (!taken.insert({role, task.index}).second) {
      return refused(ErrorCode::kAlreadyExists, what + ": runs too, or is named twice");
    }
  }
  return {};
}

}  // namespace

Result<void> Core::check_goal(const WorkloadSpec& spec, const TopologyGoal& goal,
                              const std::string& what) const {
  const auto level = [&](const std::string& name) {
    if (name == "host") return static_cast<std::ptrdiff_t>(levels_.size());
    const auto it = std::find(levels_.begin(), levels_.end(), name);
    return it == levels_.end() ? std::ptrdiff_t{-1} : it - levels_.begin();
  };
  for (const std::string* name : {&goal.within, &goal.prefer}) {
    if (name->empty() || level(*name) >= 0) continue;
    std::string known;
    for (const std::string& l : levels_) known += l + ", ";
    return fail(
        bad(spec, what, "no topology level is named '" + *name + "'; there are " + known + "host"));
  }
  if (!goal.within.empty() && !goal.prefer.empty() && level(goal.prefer) < level(goal.within)) {
    return fail(bad(
        spec, what,
        "prefers '" + goal.prefer + "', which is wider than the required '" + goal.within + "'"));
  }
  return {};
}

Result<void> Core::check_spec(const WorkloadSpec& spec) const {
  if (spec.name.empty()) return fail(bad(spec, "name", "a workload needs a name"));
  if (workloads_.find(spec.name).valid()) {
    return fail(ErrorCode::kAlreadyExists, "a workload is named '" + spec.name + "' already",
                "choose another name");
  }
  const QueueId queue = queues_.find(spec.queue);
  if (!queue.valid()) {
    return fail(ErrorCode::kNotFound, "workload '" + spec.name + "' names the project '" +
                                          spec.queue + "', which does not exist");
  }
  if (!queues_.leaf(queue)) {
    return fail(
        bad(spec, "queue", "'" + spec.queue + "' has child queues; only leaves hold workloads"));
  }
  if (spec.pools.empty()) return fail(bad(spec, "pools", "names no node pool"));
  for (const std::string& pool : spec.pools) {
    if (!find_pool(pool).valid()) {
      return fail(ErrorCode::kNotFound, "workload '" + spec.name + "' names the node pool '" +
                                            pool + "', which does not exist");
    }
  }
  FAIRLEAD_TRY(check_workload(spec));
  for (const RoleSpec& role : spec.roles) {
    const std::string at = "roles[" + role.name + "]";
    FAIRLEAD_TRY(check_goal(spec, role.topology, at + ".topology"));
    FAIRLEAD_TRY(check_goal(spec, role.segment_topology, at + ".segment_topology"));
  }
  FAIRLEAD_TRY(check_goal(spec, spec.topology, "topology"));
  return check_countable(spec, queue);
}

// What a queue holds and asks, with all that the workload may ask, stays a number.
Result<void> Core::check_countable(const WorkloadSpec& spec, QueueId queue) const {
  QueueId root = queue;
  while (queues_.get(root).parent.valid()) root = queues_.get(root).parent;
  std::map<std::string, Int128> asked;
  for (const RoleSpec& role : spec.roles) {
    asked["cpu"] += Int128{role.count} * role.request.cpu.value;
    asked["memory"] += Int128{role.count} * role.request.memory.value;
    for (const auto& [name, amount] : role.request.extended)
      asked[name] += Int128{role.count} * amount;
  }
  for (const std::string& name : spec.pools) {
    const QueueLedger& ledger = queues_.ledger(find_pool(name), root);
    for (const auto& [resource, amount] : asked) {
      const auto r = resources_.find(resource);
      const Int128 there =
          r ? Int128{ledger.allocated[r->index()]} + ledger.pending[r->index()] : Int128{0};
      if (there + amount <= kMostInAll) continue;
      Error error = bad(spec, "roles",
                        "what queue '" + queues_.get(root).spec.name + "' holds and asks of " +
                            resource + " would be more than 2^61, which cannot be counted",
                        "check count and the units of " + resource);
      error.code = ErrorCode::kOutOfRange;
      return fail(std::move(error));
    }
  }
  return {};
}

Result<void> Core::admit(const WorkloadSpec& spec) {
  FAIRLEAD_TRY(check_spec(spec));
  Result<void> result;
  {
    const std::size_t resources_before = resources_.size();
    const ShapeHold shape(shapes_, spec);
    if (resources_.size() != resources_before) queues_.refresh_entitlements();
    result = Explainer(*this).check_possible(shapes_.get(shape.id()), spec);
  }
  retire_classes();
  return result;
}

WorkloadId Core::add_workload(const WorkloadSpec& spec, ShapeId shape) {
  WorkloadRecord w;
  w.name = spec.name;
  w.queue = queues_.find(spec.queue);
  w.shape = shape;
  shapes_.hold(shape);
  w.kind = spec.kind;
  w.priority = spec.priority;
  w.order_key = spec.order_key;
  w.completions = spec.completions;
  w.backoff_limit = spec.backoff_limit;
  w.submitted = now_;
  w.sequence = next_sequence_++;
  w.expected_runtime = spec.expected_runtime;
  w.max_runtime = spec.max_runtime;
  w.grace_period = spec.grace_period;
  w.staleness_grace_period = spec.staleness_grace_period;
  w.user = spec.user;
  w.template_name = spec.template_name;
  w.roles.resize(spec.roles.size());
  ++queues_.get(w.queue).workloads;
  return workloads_.add(std::move(w));
}

void Core::observe(const Shape& shape) {
  for (const std::string& name : shape.pools) {
    const PoolId pool = find_pool(name);
    if (!pool.valid()) continue;
    for (std::size_t r = 0; r < shape.roles.size(); ++r) {
      pools_[pool.index()]->placement->scorer->observe(classes_.get(shape.classes[r]));
    }
    break;
  }
}

Result<void> Core::on(const WorkloadSubmitted& e) {
  FAIRLEAD_TRY(check_spec(e.workload));
  const std::size_t resources_before = resources_.size();
  const ShapeHold shape(shapes_, e.workload);
  if (resources_.size() != resources_before) queues_.refresh_entitlements();
  FAIRLEAD_TRY(Explainer(*this).check_possible(shapes_.get(shape.id()), e.workload));
  const WorkloadId id = add_workload(e.workload, shape.id());
  observe(shapes_.get(shape.id()));
  refresh_wants(id);
  return {};
}

Result<void> Core::on(const WorkloadAdopted& e) {
  const WorkloadEntry& entry = e.entry;
  FAIRLEAD_TRY(check_spec(entry.spec));
  for (const Instant at : {entry.submitted, entry.started.value_or(entry.submitted)}) {
    if (at.ms < -kMaxInstant.ms || at > kMaxInstant) {
      return fail(ErrorCode::kOutOfRange, "workload '" + entry.spec.name +
                                              "': submitted or started is " +
                                              std::to_string(at.ms) + " ms; allowed are ±2^53");
    }
  }
  // Check every task first, on copies of the rooms: nothing is half adopted.
  const std::size_t resources_before = resources_.size();
  const ShapeHold hold(shapes_, entry.spec);
  const Shape& shape = shapes_.get(hold.id());
  if (resources_.size() != resources_before) queues_.refresh_entitlements();
  std::map<NodeId, NodeRoom> rooms;
  std::vector<TaskPlacement> placements;
  PoolId pool_id;
  std::set<std::pair<std::int32_t, std::int32_t>> seen;
  for (const RunningTask& running : entry.running) {
    const std::string what = "workload '" + entry.spec.name + "', running task " + running.role +
                             "-" + std::to_string(running.index);
    const auto role = std::find_if(shape.roles.begin(), shape.roles.end(),
                                   [&](const RoleSpec& r) { return r.name == running.role; });
    if (role == shape.roles.end())
      return fail(ErrorCode::kNotFound, what + ": there is no such role");
    const std::int32_t most = entry.spec.independent_tasks() ? entry.spec.completions : role->count;
    if (running.index < 0 || running.index >= most) {
      return fail(ErrorCode::kOutOfRange,
                  what + ": task numbers go from 0 to " + std::to_string(most - 1));
    }
    const auto node_id = node_by_name_.find(running.node);
    if (node_id == node_by_name_.end())
      return fail(ErrorCode::kNotFound, what + ": no node is named '" + running.node + "'");
    const NodeState& node = nodes_[node_id->second.index()];
    if (!pool_id.valid()) pool_id = node.pool;
    if (pool_id != node.pool)
      return fail(ErrorCode::kConflict, what + ": a workload runs in one pool");
    const auto role_index = static_cast<std::int32_t>(role - shape.roles.begin());
    if (!seen.insert({role_index, running.index}).second)
      return fail(ErrorCode::kAlreadyExists, what + ": is named twice");
    NodeRoom& room = rooms.try_emplace(node_id->second, node.free).first->second;
    const TaskClass& task = classes_.get(shape.classes[static_cast<std::size_t>(role_index)]);
    // It runs there, so an unhealthy device or cores far away are facts, not reasons to refuse.
    NodeRoom visible = room;
    for (DeviceState& d : visible.devices) d.healthy = true;
    if (!running.devices.empty()) {
      for (std::size_t d = 0; d < visible.devices.size(); ++d) {
        const auto& ids = running.devices;
        const bool named = std::find(ids.begin(), ids.end(), node.spec.devices[d].id) != ids.end();
        if (!named) visible.devices[d].healthy = false;
      }
      for (const std::string& device : running.devices) {
        const bool there = std::any_of(node.spec.devices.begin(), node.spec.devices.end(),
                                       [&](const DeviceSpec& d) { return d.id == device; });
        if (!there) {
          return fail(ErrorCode::kNotFound,
                      what + ": node '" + running.node + "' has no device '" + device + "'");
        }
      }
    }
    auto placement = choose(task, visible, DeviceChoice::kBestFit);
    if (!placement && task.numa_required) {
      TaskClass anywhere = task;
      anywhere.numa_required = false;
      placement = choose(anywhere, visible, DeviceChoice::kBestFit);
    }
    if (!placement) {
      const Fit why = room_fit(task, visible);
      return fail(ErrorCode::kConflict, what + ": does not fit on node '" + running.node +
                                            "' as it is (" +
                                            std::string(filter_name(why.rejected_by)) + ")");
    }
    placement->role = role_index;
    placement->index = running.index;
    placement->node = node_id->second;
    room.take(*placement, task.host_claim(), task.extended);
    placements.push_back(std::move(*placement));
  }
  FAIRLEAD_TRY(check_succeeded(entry, shape, seen));
  const WorkloadId id = add_workload(entry.spec, hold.id());
  WorkloadRecord& w = workloads_.get(id);
  w.submitted = entry.submitted;
  w.failures = entry.failures;
  for (const SucceededTask& task : entry.succeeded) {
    const std::int32_t role = shape.role_named(task.role);
    task_slot(w, role, task.index).state = TaskState::kSucceeded;
    ++w.roles[static_cast<std::size_t>(role)].succeeded;
  }
  if (pool_id.valid()) ensure_ordered(*pools_[pool_id.index()]);
  for (TaskPlacement& placement : placements) {
    const TaskClass& task = classes_.get(shape.classes[static_cast<std::size_t>(placement.role)]);
    const RoleSpec& role = shape.roles[static_cast<std::size_t>(placement.role)];
    const bool non_preemptible =
        shape.preemptibility == Preemptibility::kNonPreemptible ||
        (shape.preemptibility == Preemptibility::kSemiPreemptible && !shape.independent &&
         w.roles[static_cast<std::size_t>(placement.role)].running < role.min);
    pools_[pool_id.index()]->state().take(placement.node, placement, task);
    start_task(id, pool_id, std::move(placement), non_preemptible);
  }
  for (const RunningTask& task : entry.running) {
    const std::int32_t role = shape.role_named(task.role);
    const auto started = task.started ? task.started : entry.started;
    if (!started) continue;
    task_slot(w, role, task.index).started = *started;
    expect_end(id, role, task.index);
  }
  observe(shape);
  refresh_wants(id);
  return {};
}

Result<void> Core::on(const WorkloadChanged& e) {
  const WorkloadId id = workloads_.find(e.workload);
  if (!id.valid()) return fail(ErrorCode::kNotFound, "no workload is named '" + e.workload + "'");
  WorkloadRecord& w = workloads_.get(id);
  const Shape& old_shape = shapes_.get(w.shape);
  WorkloadSpec spec;
  spec.name = w.name;
  spec.roles = old_shape.roles;
  spec.pools = old_shape.pools;
  spec.topology = old_shape.topology;
  spec.preemptibility = old_shape.preemptibility;
  spec.completions = old_shape.independent ? w.completions : 0;
  for (const RoleChange& change : e.roles) {
    const auto role = std::find_if(spec.roles.begin(), spec.roles.end(),
                                   [&](const RoleSpec& r) { return r.name == change.role; });
    if (role == spec.roles.end()) {
      return fail(ErrorCode::kNotFound,
                  "workload '" + e.workload + "' has no role '" + change.role + "'");
    }
    if (change.count) role->count = *change.count;
    if (change.min) role->min = *change.min;
  }
  if (old_shape.independent) spec.parallelism = spec.roles.front().count;
  FAIRLEAD_TRY(check_workload(spec));
  FAIRLEAD_TRY(check_priority(spec.name, e.priority.value_or(w.priority)));
  FAIRLEAD_TRY(check_countable(spec, w.queue));
  withdraw_wants(id);
  if (e.priority && *e.priority != w.priority) {
    std::int64_t preemptible = 0;
    for (const RoleProgress& role : w.roles) {
      preemptible += std::count_if(role.tasks.begin(), role.tasks.end(), [](const TaskSlot& t) {
        return t.state == TaskState::kRunning && !t.non_preemptible;
      });
    }
    if (preemptible > 0) count_preemptible(w, -preemptible);
    w.run_priority += *e.priority - w.priority;
    w.priority = *e.priority;
    if (preemptible > 0) count_preemptible(w, preemptible);
  }
  if (e.order_key) w.order_key = *e.order_key;
  // What may be taken of it, or by it, is another question now.
  for (auto& pool : pools_) {
    ++pool->claims_version;
    pool->claims_due = true;
  }
  const ShapeId old = std::exchange(w.shape, shapes_.acquire(spec));
  // 8.1: a lowered count gives back the highest task numbers. That is no loss (8.3.a).
  const bool lost_some = w.lost_some;
  Stopped stopped = stop_of(id, StopCause::kShrunk);
  for (std::size_t r = 0; r < spec.roles.size() && !old_shape.independent; ++r) {
    auto& tasks = w.roles[r].tasks;
    for (std::size_t i = tasks.size(); i-- > static_cast<std::size_t>(spec.roles[r].count);) {
      if (tasks[i].state != TaskState::kRunning) continue;
      stopped.tasks.emplace_back(static_cast<std::int32_t>(r), static_cast<std::int32_t>(i));
      stop_task(id, static_cast<std::int32_t>(r), static_cast<std::int32_t>(i),
                TaskState::kPending);
    }
    if (tasks.size() > static_cast<std::size_t>(spec.roles[r].count)) {
      for (std::size_t i = static_cast<std::size_t>(spec.roles[r].count); i < tasks.size(); ++i) {
        if (tasks[i].state == TaskState::kSucceeded) --w.roles[r].succeeded;
      }
      tasks.resize(static_cast<std::size_t>(spec.roles[r].count));
      w.roles[r].first_pending = std::min(w.roles[r].first_pending, spec.roles[r].count);
    }
  }
  w.lost_some = lost_some;
  if (!stopped.tasks.empty()) decisions_.push_back(std::move(stopped));
  shapes_.release(old);
  after_change(id);
  return {};
}

Result<void> Core::on(const WorkloadRemoved& e) {
  const WorkloadId id = workloads_.find(e.workload);
  if (!id.valid()) return fail(ErrorCode::kNotFound, "no workload is named '" + e.workload + "'");
  remove_workload(id);
  return {};
}

}  // namespace fairlead::sched
