// What a workload waits for next, and what its queue is charged for as pending demand.
#include <algorithm>

#include "base/check.h"
#include "base/wide.h"
#include "sched/core/core.h"

namespace fairlead::sched {

// Tasks of a role that should be running now, the running ones included.
std::int32_t Core::wanted(const WorkloadRecord& w, const Shape& shape, std::size_t role) const {
  const RoleSpec& spec = shape.roles[role];
  const RoleProgress& progress = w.roles[role];
  if (shape.independent) return std::min(spec.count, w.completions - progress.succeeded);
  // Once tasks of a gang have succeeded it is ending: it no longer grows.
  const std::int32_t target = progress.succeeded > 0 ? spec.min : spec.count;
  return std::max(progress.running, target - progress.succeeded);
}

// The lowest pending task numbers of a role.
std::vector<std::int32_t> Core::pending_indices(const WorkloadRecord& w, const Shape& shape,
                                                std::size_t role, std::int32_t most) const {
  std::vector<std::int32_t> out;
  const RoleProgress& progress = w.roles[role];
  const std::int32_t end = shape.independent ? w.completions : shape.roles[role].count;
  for (std::int32_t i = progress.first_pending; i < end && std::ssize(out) < most; ++i) {
    if (static_cast<std::size_t>(i) >= progress.tasks.size() ||
        progress.tasks[static_cast<std::size_t>(i)].state == TaskState::kPending) {
      out.push_back(i);
    }
  }
  return out;
}

ResourceVector Core::amounts(const TaskClass& task, std::int64_t gpu) const {
  ResourceVector out;
  out.at(kGpuResource) = gpu;
  out.at(kCpuResource) = task.cpu;
  out.at(kMemoryResource) = task.memory;
  for (const auto& [resource, amount] : task.extended) out.at(resource) = amount;
  return out;
}

namespace {

std::int64_t charge_on(const PoolCore& pool, const TaskClass& task, std::size_t c) {
  const std::int64_t rate = c < pool.rates.size() ? pool.rates[c] : kMilli;
  return task.gpu_count *
         mul_div_ceil(task.on_device[c].charge_milli / task.gpu_count, rate, kMilli);
}

// Least and greatest charge of one task over the device classes that it may land on: those the pool
// has, or, if it has none of them, those that are known.
std::pair<std::int64_t, std::int64_t> charge_range(const PoolCore& pool, const TaskClass& task) {
  if (!task.needs_gpu()) return {0, 0};
  for (const bool present : {true, false}) {
    std::int64_t least = INT64_MAX;
    std::int64_t greatest = 0;
    for (std::size_t c = 0; c < task.on_device.size(); ++c) {
      if (!task.on_device[c].allowed) continue;
      if (present && (c >= pool.devices.size() || pool.devices[c] == 0)) continue;
      const std::int64_t charge = charge_on(pool, task, c);
      least = std::min(least, charge);
      greatest = std::max(greatest, charge);
    }
    if (least != INT64_MAX) return {least, greatest};
  }
  return {task.milli * task.gpu_count, task.milli * task.gpu_count};
}

}  // namespace

ResourceVector Core::least_charge(PoolCore& pool, TaskClassId task_class) const {
  const TaskClass& task = classes_.get(task_class);
  return amounts(task, charge_range(pool, task).first);
}

// Over all devices of the pool's nodes, also of those that are down.
ResourceVector Core::greatest_charge(const PoolCore& pool, TaskClassId task_class) const {
  const TaskClass& task = classes_.get(task_class);
  std::int64_t greatest = charge_range(pool, task).second;
  for (const NodeId id : pool.members) {
    for (const DeviceState& device : nodes_[id.index()].empty.devices) {
      const std::size_t c = device.device_class.index();
      if (!task.needs_gpu() || !task.on_device[c].allowed) continue;
      greatest = std::max(greatest, charge_on(pool, task, c));
    }
  }
  return amounts(task, greatest);
}

bool Core::charge_varies(const PoolCore& pool, TaskClassId task_class) const {
  const auto [least, greatest] = charge_range(pool, classes_.get(task_class));
  return least != greatest;
}

std::int64_t Core::gpu_charge(const PoolCore& pool, const TaskClass& task,
                              const TaskPlacement& placement) const {
  std::int64_t sum = 0;
  const NodeState& node = nodes_[placement.node.index()];
  for (const DeviceClaim& claim : placement.devices) {
    const std::size_t c = node.free.devices[claim.device].device_class.index();
    const std::int64_t rate = c < pool.rates.size() ? pool.rates[c] : kMilli;
    sum += mul_div_ceil(task.on_device[c].charge_milli / task.gpu_count, rate, kMilli);
  }
  return sum;
}

std::int64_t Core::cost_rate(const PoolCore& pool, const TaskClass& task,
                             const TaskPlacement& placement) const {
  const auto& prices = pool.state().spec.prices;
  if (prices.empty()) return 0;
  std::int64_t sum = 0;
  const NodeState& node = nodes_[placement.node.index()];
  for (const DeviceClaim& claim : placement.devices) {
    const std::size_t c = node.free.devices[claim.device].device_class.index();
    const auto price = prices.find(devices_.get(ClassId(c)).name);
    if (price == prices.end()) continue;
    sum += mul_div_ceil(task.on_device[c].charge_milli / task.gpu_count, price->second, kMilli);
  }
  return sum;
}

const ResourceVector& Core::demand_in(Requirement& requirement, PoolId pool_id) {
  PoolCore& pool = *pools_[pool_id.index()];
  Requirement::InPool& in = requirement.in(pool_id);
  if (in.demand_version != pool.charge_version) {
    in.demand_version = pool.charge_version;
    in.demand = ResourceVector{};
    for (const auto& [task_class, n] : requirement.needs)
      in.demand.add(least_charge(pool, task_class), n);
  }
  return in.demand;
}

std::int64_t Core::minus_priority(const WorkloadRecord& w, PoolId pool) const {
  std::int64_t priority = w.priority;
  const PoolSpec& spec = pools_[pool.index()]->state().spec;
  if (spec.aging_interval.ms > 0) {
    const std::int64_t waited = std::max<std::int64_t>(0, (now_ - w.submitted).ms);
    priority += std::min<std::int64_t>(spec.aging_max, waited / spec.aging_interval.ms);
  }
  return -priority;
}

EntryKey Core::entry_key(WorkloadId id, const Entry& entry) const {
  const WorkloadRecord& w = workloads_.get(id);
  return {entry.minus_priority,
          entry.kind,
          w.order_key,
          w.submitted.ms,
          w.sequence,
          id,
          pending_.requirement(entry.requirement).role};
}

void Core::add_entry(WorkloadId id, EntryKind kind, std::int32_t role, std::int32_t tasks,
                     bool alone, std::vector<std::pair<TaskClassId, std::int64_t>> needs,
                     bool non_preemptible) {
  WorkloadRecord& w = workloads_.get(id);
  const Shape& shape = shapes_.get(w.shape);
  Entry entry;
  entry.kind = kind;
  bool fresh = false;
  entry.requirement = pending_.intern(
      {kind, w.shape, role, tasks, alone ? id : WorkloadId{}, w.pool.valid()}, fresh);
  Requirement& requirement = pending_.requirement(entry.requirement);
  if (fresh) {
    requirement.kind = kind;
    requirement.shape = w.shape;
    requirement.role = role;
    requirement.tasks = tasks;
    requirement.only = alone ? id : WorkloadId{};
    requirement.non_preemptible = non_preemptible;
    requirement.needs = std::move(needs);
    shapes_.hold(w.shape);
  }
  std::vector<std::pair<PoolId, std::int32_t>> pools;
  if (w.pool.valid()) {
    pools.emplace_back(w.pool, 0);
  } else {
    for (std::size_t i = 0; i < shape.pools.size(); ++i) {
      const PoolId pool = find_pool(shape.pools[i]);
      if (pool.valid()) pools.emplace_back(pool, static_cast<std::int32_t>(i));
    }
  }
  if (!pools.empty()) entry.minus_priority = minus_priority(w, pools.front().first);
  const EntryKey key = entry_key(id, entry);
  for (const auto& [pool, stage] : pools) {
    Bucket& bucket = pending_.bucket(pending_.add(entry.requirement, w.queue, pool, stage, key));
    // It may end before what those that claimed in vain had to mind (9.2.b).
    const bool reserved = !pools_[pool.index()]->timeline.reservations().empty();
    if (reserved && planned_runtime(id) < bucket.claimed_for) bucket.claimed_at = UINT64_MAX;
    entry.pools.push_back(pool);
  }
  w.entries.push_back(std::move(entry));
}

void Core::withdraw_wants(WorkloadId id) {
  WorkloadRecord& w = workloads_.get(id);
  for (const Entry& entry : w.entries) {
    const EntryKey key = entry_key(id, entry);
    for (const PoolId pool : entry.pools) pending_.remove(entry.requirement, w.queue, pool, key);
    const ShapeId shape = pending_.requirement(entry.requirement).shape;
    if (pending_.drop_if_unused(entry.requirement)) shapes_.release(shape);
  }
  w.entries.clear();
}

// Requires: withdraw_wants() was called before the workload changed.
void Core::refresh_wants(WorkloadId id) {
  WorkloadRecord& w = workloads_.get(id);
  FAIRLEAD_CHECK(w.entries.empty(), "wants are withdrawn before a workload changes");
  const Shape& shape = shapes_.get(w.shape);
  const bool all_np = shape.preemptibility == Preemptibility::kNonPreemptible;
  const bool minimum_np = shape.preemptibility != Preemptibility::kPreemptible;
  refresh_demand(id);
  if (w.retry_at > now_) return;
  if (shape.independent) {
    if (wanted(w, shape, 0) > w.roles[0].running) {
      const bool alone = w.running > 0 && shape.tied(0);
      add_entry(id, EntryKind::kGang, 0, 1, alone, {{shape.classes[0], 1}}, all_np);
    }
    return;
  }
  std::vector<std::pair<TaskClassId, std::int64_t>> missing;
  bool started = false;
  for (std::size_t r = 0; r < shape.roles.size(); ++r) {
    const RoleProgress& progress = w.roles[r];
    started = started || progress.running > 0 || progress.succeeded > 0;
    const std::int32_t n = shape.roles[r].min - progress.running - progress.succeeded;
    if (n > 0) missing.emplace_back(shape.classes[r], n);
  }
  // 8.3: by a loss; a minimum that a person raises may be waited for.
  w.lost_some = w.lost_some && w.running > 0 && !missing.empty();
  note_staleness(id, w.lost_some);
  if (!missing.empty()) {
    add_entry(id, EntryKind::kGang, -1, started ? 1 : 0, started, std::move(missing), minimum_np);
    return;
  }
  for (std::size_t r = 0; r < shape.roles.size(); ++r) {
    const RoleProgress& progress = w.roles[r];
    if (wanted(w, shape, r) <= progress.running) continue;
    std::int32_t n = 1;
    const std::int32_t segment = shape.roles[r].segment_size;
    if (segment > 0) {
      // 8.1: a segment grows as one; of one that lost tasks, what it lost.
      const auto indices = pending_indices(w, shape, r, segment);
      n = static_cast<std::int32_t>(
          std::count_if(indices.begin(), indices.end(),
                        [&](std::int32_t i) { return i / segment == indices.front() / segment; }));
    }
    const bool alone = w.running > 0 && shape.tied(r);
    add_entry(id, EntryKind::kExtra, static_cast<std::int32_t>(r), n, alone,
              {{shape.classes[r], n}}, all_np);
  }
}

void Core::refresh_demand(WorkloadId id) {
  WorkloadRecord& w = workloads_.get(id);
  const Shape& shape = shapes_.get(w.shape);
  PoolId pool = w.pool;
  for (std::size_t i = 0; !pool.valid() && i < shape.pools.size(); ++i)
    pool = find_pool(shape.pools[i]);
  ResourceVector demand;
  if (pool.valid()) {
    for (std::size_t r = 0; r < shape.roles.size(); ++r) {
      const std::int32_t n = wanted(w, shape, r) - w.roles[r].running;
      if (n > 0) demand.add(least_charge(*pools_[pool.index()], shape.classes[r]), n);
    }
  }
  if (pool == w.demand_pool && demand == w.demand) return;
  if (w.demand_pool.valid()) {
    queues_.demand(w.demand_pool, w.queue, w.demand, -1);
    pools_[w.demand_pool.index()]->share_dirty = true;
  }
  w.demand_pool = pool;
  w.demand = demand;
  if (pool.valid()) {
    queues_.demand(pool, w.queue, demand, 1);
    pools_[pool.index()]->share_dirty = true;
  }
}

// 4.2 aging: keys move with time. Only pools that set it pay: O(waiting × log waiting).
void Core::rekey_aged(PoolId pool) {
  if (pools_[pool.index()]->state().spec.aging_interval.ms == 0) return;
  for (std::size_t i = 0; i < workloads_.slots(); ++i) {
    const WorkloadId id(i);
    const WorkloadRecord& w = workloads_.get(id);
    if (!w.alive || w.entries.empty() || w.entries.front().pools.empty()) continue;
    if (w.entries.front().pools.front() != pool) continue;
    if (minus_priority(w, pool) == w.entries.front().minus_priority) continue;
    withdraw_wants(id);
    refresh_wants(id);
  }
}

}  // namespace fairlead::sched
