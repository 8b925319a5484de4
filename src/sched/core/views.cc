// Read-only views by name.
#include <algorithm>
#include <set>

#include "sched/core/core.h"

namespace fairlead::sched {
namespace {

Amounts named(const ResourceVector& amounts, const ResourceNames& names) {
  Amounts out;
  for (std::size_t r = 0; r < names.size(); ++r)
    out[names.name(Id<struct ResourceTag>(r))] = amounts[r];
  return out;
}

}  // namespace

std::optional<ReservationView> Core::reservation_view(WorkloadId id) const {
  for (const auto& pool : pools_) {
    const Reservation* r = pool->timeline.of(id);
    if (!r) continue;
    ReservationView view;
    view.pool = pool->state().spec.name;
    view.start = r->start;
    view.promised = r->promised;
    view.declared = r->declared;
    std::set<std::string> nodes;
    for (const PlannedTask& t : r->tasks) nodes.insert(nodes_[t.placement.node.index()].spec.name);
    view.nodes.assign(nodes.begin(), nodes.end());
    view.tasks = std::ssize(r->tasks);
    return view;
  }
  return std::nullopt;
}

std::optional<WorkloadView> Core::workload_view(const std::string& name) const {
  const WorkloadId id = workloads_.find(name);
  if (!id.valid()) return std::nullopt;
  const WorkloadRecord& w = workloads_.get(id);
  const Shape& shape = shapes_.get(w.shape);
  WorkloadView view;
  view.name = w.name;
  view.queue = queues_.get(w.queue).spec.name;
  view.state = w.running > 0 ? WorkloadState::kRunning : WorkloadState::kPending;
  if (w.pool.valid()) view.pool = pool_name(w.pool);
  view.running = w.running;
  view.failures = w.failures;
  view.submitted = w.submitted;
  view.reservation = reservation_view(id);
  for (std::size_t r = 0; r < shape.roles.size(); ++r) {
    view.wanted += wanted(w, shape, r);
    view.succeeded += w.roles[r].succeeded;
    const auto& tasks = w.roles[r].tasks;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (tasks[i].state != TaskState::kRunning) continue;
      const TaskPlacement& p = tasks[i].placement;
      const NodeState& node = nodes_[p.node.index()];
      TaskView task;
      task.role = shape.roles[r].name;
      task.index = static_cast<std::int32_t>(i);
      task.running = true;
      task.node = node.spec.name;
      for (const DeviceClaim& claim : p.devices) {
        task.devices.push_back(node.spec.devices[claim.device].id);
        task.milli.push_back(claim.milli.value);
        task.mib.push_back(claim.memory.value);
        task.mig_start.push_back(claim.mig_start);
      }
      for (const CpuClaim& claim : p.cpus) task.cpu_cells.push_back(claim.cell);
      view.tasks.push_back(std::move(task));
    }
  }
  return view;
}

std::optional<QueueView> Core::queue_view(const std::string& name,
                                          const std::string& pool_name_text) {
  const QueueId id = queues_.find(name);
  const PoolId pool = find_pool(pool_name_text);
  if (!id.valid() || !pool.valid()) return std::nullopt;
  divide(*pools_[pool.index()]);
  const QueueLedger& ledger = queues_.ledger(pool, id);
  QueueView view;
  view.name = name;
  const QueueId parent = queues_.get(id).parent;
  if (parent.valid()) view.parent = queues_.get(parent).spec.name;
  view.allocated = named(ledger.allocated, resources_);
  view.non_preemptible = named(ledger.non_preemptible, resources_);
  ResourceVector requested = ledger.allocated;
  requested.add(ledger.pending);
  view.requested = named(requested, resources_);
  view.fair_share = named(ledger.fair_share, resources_);
  for (std::size_t r = 0; r < resources_.size(); ++r) {
    const std::string& resource = resources_.name(Id<struct ResourceTag>(r));
    const Entitlement e = queues_.entitlement(pool, id, r);
    view.quota[resource] = e.quota;
    view.limit[resource] = e.limit;
  }
  return view;
}

std::optional<NodeView> Core::node_view(const std::string& name) const {
  const auto found = node_by_name_.find(name);
  if (found == node_by_name_.end()) return std::nullopt;
  const NodeState& node = nodes_[found->second.index()];
  NodeView view;
  view.name = name;
  view.pool = pool_name(node.pool);
  view.ready = node.spec.ready;
  view.schedulable = node.spec.schedulable;
  view.free_cpu_milli = node.free.cpu;
  view.free_memory = node.free.memory;
  for (std::size_t e = 0; e < node.free.extended.size(); ++e) {
    view.free_extended[resources_.name(Id<struct ResourceTag>(kFirstExtended + e))] =
        node.free.extended[e];
  }
  std::vector<std::set<std::string>> holders(node.free.devices.size());
  for (const TaskRef& ref : node.tasks) {
    const WorkloadRecord& w = workloads_.get(ref.workload);
    const TaskSlot& slot =
        w.roles[static_cast<std::size_t>(ref.role)].tasks[static_cast<std::size_t>(ref.index)];
    for (const DeviceClaim& claim : slot.placement.devices) holders[claim.device].insert(w.name);
  }
  for (std::size_t d = 0; d < node.free.devices.size(); ++d) {
    const DeviceState& state = node.free.devices[d];
    DeviceView device;
    device.id = node.spec.devices[d].id;
    device.device_class = node.spec.devices[d].device_class;
    device.healthy = state.healthy;
    device.free_milli = state.free_milli;
    device.free_mib = state.free_mib;
    device.holders.assign(holders[d].begin(), holders[d].end());
    view.devices.push_back(std::move(device));
  }
  return view;
}

std::optional<PoolView> Core::pool_view(const std::string& name) const {
  const PoolId id = find_pool(name);
  if (!id.valid()) return std::nullopt;
  PoolView view;
  view.name = name;
  view.capacity = named(pools_[id.index()]->state().capacity, resources_);
  ResourceVector allocated;
  for (const QueueId q : queues_.roots()) allocated.add(queues_.ledger(id, q).allocated);
  view.allocated = named(allocated, resources_);
  return view;
}

std::vector<std::string> Core::workload_names() const {
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (std::size_t i = 0; i < workloads_.slots(); ++i) {
    const WorkloadRecord& w = workloads_.get(WorkloadId(i));
    if (w.alive) order.emplace_back(w.sequence, w.name);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::string> out;
  for (auto& [sequence, name] : order) out.push_back(std::move(name));
  return out;
}

std::vector<std::string> Core::queue_names() const {
  std::vector<std::string> out;
  for (const QueueId q : queues_.parents_first()) out.push_back(queues_.get(q).spec.name);
  return out;
}

std::vector<std::string> Core::node_names() const {
  std::vector<std::string> out;
  for (const auto& pool : pools_) {
    for (const NodeId n : pool->members) out.push_back(nodes_[n.index()].spec.name);
  }
  return out;
}

std::vector<std::string> Core::pool_names() const {
  std::vector<std::string> out;
  for (const auto& pool : pools_) out.push_back(pool->state().spec.name);
  return out;
}

std::vector<std::pair<std::string, std::int64_t>> Core::counters() const {
  std::int64_t evaluations = 0;
  std::size_t indices = 0;
  for (const auto& pool : pools_) {
    evaluations += pool->placement->evaluations();
    indices += pool->placement->index_count();
  }
  return {{"attempts", attempts_},
          {"claim_steps", claim_steps_},
          {"claims", claims_},
          {"claims_served", served_claims_},
          {"class_indices", static_cast<std::int64_t>(indices)},
          {"workloads_hit", evictions_},
          {"node_evaluations", evaluations},
          {"starts_unsaid", unsaid_},
          {"shapes", static_cast<std::int64_t>(shapes_.size())},
          {"task_classes", static_cast<std::int64_t>(classes_.size())},
          {"tasks_started", placements_}};
}

}  // namespace fairlead::sched
