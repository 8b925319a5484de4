// Invariants: what is kept incrementally against a rebuild from the tasks (I1, I11).
#include <algorithm>
#include <map>
#include <set>

#include "sched/core/core.h"

namespace fairlead::sched {
namespace {

std::unexpected<Error> differs(const std::string& what) {
  return fail(ErrorCode::kFailed, "invariant broken: " + what);
}

bool same_room(const NodeRoom& a, const NodeRoom& b) {
  if (a.cpu != b.cpu || a.memory != b.memory || a.devices.size() != b.devices.size() ||
      a.cells.size() != b.cells.size()) {
    return false;
  }
  for (std::size_t c = 0; c < a.cells.size(); ++c) {
    if (a.cells[c].free_cpu != b.cells[c].free_cpu) return false;
  }
  for (std::size_t e = 0; e < std::max(a.extended.size(), b.extended.size()); ++e) {
    if (a.extended_free(kFirstExtended + e) != b.extended_free(kFirstExtended + e)) return false;
  }
  for (std::size_t d = 0; d < a.devices.size(); ++d) {
    const DeviceState& x = a.devices[d];
    const DeviceState& y = b.devices[d];
    if (x.free_milli != y.free_milli || x.free_mib != y.free_mib ||
        x.mig_free_slices != y.mig_free_slices || x.mig_free_compute != y.mig_free_compute) {
      return false;
    }
  }
  return true;
}

}  // namespace

Result<void> Core::verify() {
  std::map<NodeId, NodeRoom> rooms;
  for (const auto& [name, id] : node_by_name_) {
    NodeRoom room = nodes_[id.index()].empty;
    for (std::size_t d = 0; d < room.devices.size(); ++d) {
      room.devices[d].healthy = nodes_[id.index()].free.devices[d].healthy;
    }
    rooms.emplace(id, std::move(room));
  }
  struct Held {
    ResourceVector allocated, non_preemptible, pending, reserved, reserved_non_preemptible;
    std::map<std::int32_t, std::int64_t> preemptible;
    std::map<std::int64_t, std::int64_t> units;
    std::size_t running = 0;
  };
  std::map<std::pair<PoolId, QueueId>, Held> held;
  std::size_t running = 0;
  std::map<QueueId, std::int64_t> counts;
  std::map<PoolId, Timeline::Ends> ends;
  std::set<std::pair<RequirementId, WorkloadId>> waiting;
  std::set<std::pair<Instant, WorkloadId>> stale;
  for (std::size_t i = 0; i < workloads_.slots(); ++i) {
    const WorkloadId id(i);
    const WorkloadRecord& w = workloads_.get(id);
    if (!w.alive) continue;
    const Shape& shape = shapes_.get(w.shape);
    ++counts[w.queue];
    std::int32_t tasks_running = 0;
    for (std::size_t r = 0; r < w.roles.size(); ++r) {
      std::int32_t role_running = 0;
      const TaskClass& task = classes_.get(shape.classes[r]);
      for (std::size_t t = 0; t < w.roles[r].tasks.size(); ++t) {
        const TaskSlot& slot = w.roles[r].tasks[t];
        if (slot.state != TaskState::kRunning) continue;
        ++role_running;
        if (slot.ends != kNever) {
          ends[w.pool].emplace(
              slot.ends, TaskRef{id, static_cast<std::int32_t>(r), static_cast<std::int32_t>(t)});
        }
        const auto room = rooms.find(slot.placement.node);
        if (room == rooms.end()) return differs(w.name + " runs on a node that is gone");
        if (!room->second.holds(slot.placement, task.host_claim(), task.extended)) {
          return differs("node " + nodes_[slot.placement.node.index()].spec.name +
                         " is over-committed by " + w.name + " (I1)");
        }
        room->second.take(slot.placement, task.host_claim(), task.extended);
        for (QueueId q = w.queue; q.valid(); q = queues_.get(q).parent) {
          Held& h = held[{w.pool, q}];
          h.allocated.add(amounts(task, slot.charge_gpu));
          if (slot.non_preemptible) h.non_preemptible.add(amounts(task, slot.charge_gpu));
        }
        if (!slot.non_preemptible) ++held[{w.pool, w.queue}].preemptible[w.priority];
      }
      if (role_running != w.roles[r].running)
        return differs("running tasks of " + w.name + " are miscounted");
      tasks_running += role_running;
    }
    if (tasks_running != w.running)
      return differs("running tasks of " + w.name + " are miscounted");
    if (w.running > 0) {
      ++running;
      Held& h = held[{w.pool, w.queue}];
      ++h.running;
      if (const std::int64_t smallest = smallest_unit(w)) ++h.units[smallest];
      const auto& beside = queues_.ledger(w.pool, w.queue).running;
      if (w.run_position >= beside.size() || beside[w.run_position] != id)
        return differs(w.name + " is not in its queue's list of what runs");
    }
    if (w.stale_at != kNever) stale.emplace(w.stale_at, id);
    if (w.demand_pool.valid()) {
      for (QueueId q = w.queue; q.valid(); q = queues_.get(q).parent)
        held[{w.demand_pool, q}].pending.add(w.demand);
    }
    for (const Entry& e : w.entries) waiting.insert({e.requirement, id});
  }
  if (stale != stale_) return differs("gangs below their minimum (I11)");
  if (running != running_workloads_) return differs("running workloads are miscounted");
  for (const auto& [name, id] : node_by_name_) {
    if (!same_room(rooms.at(id), nodes_[id.index()].free))
      return differs("free room of node " + name + " (I11)");
  }
  for (const auto& pool : pools_) {
    const PoolId p = pool->state().id;
    if (pool->timeline.ends() != ends[p]) return differs("ends in pool " + pool_name(p) + " (I11)");
    for (const Reservation& r : pool->timeline.reservations()) {
      for (QueueId q = r.queue; q.valid(); q = queues_.get(q).parent) {
        held[{p, q}].reserved.add(r.demand);
        if (r.non_preemptible) held[{p, q}].reserved_non_preemptible.add(r.demand);
      }
    }
    for (const QueueId q : queues_.parents_first()) {
      const QueueLedger& l = queues_.ledger(p, q);
      const Held& h = held[{p, q}];
      if (l.running.size() != h.running || l.by_smallest_unit != h.units)
        return differs("what may be taken of queue " + queues_.get(q).spec.name + " (I11)");
      if (l.preemptible_by_priority != h.preemptible)
        return differs("preemptible tasks of queue " + queues_.get(q).spec.name + " (I11)");
      if (!(l.allocated == h.allocated) || !(l.non_preemptible == h.non_preemptible) ||
          !(l.pending == h.pending) || !(l.reserved == h.reserved) ||
          !(l.reserved_non_preemptible == h.reserved_non_preemptible)) {
        return differs("ledger of queue " + queues_.get(q).spec.name + " in pool " + pool_name(p) +
                       " (I11)");
      }
      if (queues_.leaf(q) && counts[q] != queues_.get(q).workloads) {
        return differs("workloads of queue " + queues_.get(q).spec.name + " are miscounted");
      }
    }
    ResourceVector capacity;
    std::swap(capacity, pool->state().capacity);
    const ResourceVector kept = capacity;
    std::vector<std::int64_t> devices;
    std::swap(devices, pool->devices);
    const std::uint64_t version = pool->charge_version;
    for (const NodeId n : pool->members) count_capacity(nodes_[n.index()], 1);
    const bool same = pool->state().capacity == kept;
    std::swap(devices, pool->devices);
    const auto of = [](const std::vector<std::int64_t>& per_class, std::size_t c) {
      return c < per_class.size() ? per_class[c] : 0;
    };
    for (std::size_t c = 0; c < std::max(devices.size(), pool->devices.size()); ++c) {
      if (of(devices, c) != of(pool->devices, c))
        return differs("devices of pool " + pool_name(p) + " (I11)");
    }
    pool->state().capacity = kept;
    pool->charge_version = version;
    if (!same) return differs("capacity of pool " + pool_name(p) + " (I11)");
    if (!pool->state().ordered()) continue;
    for (std::size_t c = 0; c < classes_.slots(); ++c) {
      const ClassIndex* index = pool->placement->find_index(TaskClassId(c));
      if (!index) continue;
      std::int64_t total = 0;
      for (std::uint32_t s = 0; s < pool->state().slot_count(); ++s) {
        const std::int32_t slots =
            fit(classes_.get(TaskClassId(c)), pool->state().node_at(s)).slots;
        total += slots;
        if (slots != index->slots_at(s))
          return differs("index of node " + pool->state().node_at(s).spec.name + " (I11)");
      }
      if (total != index->total()) return differs("index total of pool " + pool_name(p) + " (I11)");
    }
    for (Level level = 0; level < pool->state().host_level(); ++level) {
      for (const Domain& d : pool->state().domains(level, pool->state().all())) {
        std::int64_t milli = 0;
        for (std::uint32_t s = d.slots.begin; s < d.slots.end; ++s) {
          const NodeState& node = pool->state().node_at(s);
          if (node.usable()) milli += node.free.free_gpu_milli();
        }
        if (milli != d.free_milli) return differs("free GPUs of domain " + d.name + " (I11)");
      }
    }
  }
  std::set<std::pair<RequirementId, WorkloadId>> bucketed;
  for (const Bucket* b : pending_.all_buckets()) {
    for (const EntryKey& key : b->entries) bucketed.insert({b->requirement, key.workload});
  }
  if (!pending_.heads_agree()) return differs("heads of waiting queues (I11)");
  if (bucketed != waiting) return differs("waiting workloads and their buckets (I11)");
  std::set<RequirementId> requirements;
  for (const auto& [requirement, workload] : waiting) requirements.insert(requirement);
  return verify_holds({requirements.begin(), requirements.end()});
}

// Shapes and task classes are held as often as they are used, and not there if they are not.
Result<void> Core::verify_holds(const std::vector<RequirementId>& requirements) {
  std::vector<std::int64_t> shapes(shapes_.slots(), 0);
  for (std::size_t i = 0; i < workloads_.slots(); ++i) {
    const WorkloadRecord& w = workloads_.get(WorkloadId(i));
    if (w.alive) ++shapes[w.shape.index()];
  }
  for (const RequirementId r : requirements) ++shapes[pending_.requirement(r).shape.index()];
  std::vector<std::int64_t> classes(classes_.slots(), 0);
  std::size_t live = 0;
  for (std::size_t s = 0; s < shapes.size(); ++s) {
    if (shapes[s] != shapes_.holds(ShapeId(s)))
      return differs("shape " + std::to_string(s) + " is held by more or fewer than use it (I11)");
    if (shapes[s] == 0) continue;
    ++live;
    for (const TaskClassId c : shapes_.get(ShapeId(s)).classes) ++classes[c.index()];
  }
  if (live != shapes_.size()) return differs("a shape that nothing uses is still there (I11)");
  std::vector<std::int64_t> mixes(classes_.slots(), 0);
  for (const auto& pool : pools_) {
    const RequestMix* mix = pool->placement->scorer->mix();
    if (!mix) continue;
    for (const TaskClassId c : mix->classes()) ++mixes[c.index()];
  }
  std::size_t unused = 0;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const TaskClassId c(i);
    const std::string name = "task class " + std::to_string(i);
    if (!classes_.alive(c)) {
      if (classes[i] > 0 || mixes[i] > 0) return differs(name + " is used and not there (I11)");
      for (auto& pool : pools_) {
        if (pool->placement->has_index(c)) return differs(name + " is gone, its index not (I11)");
      }
      continue;
    }
    if (classes[i] != classes_.holds(c) || mixes[i] != classes_.remembered(c))
      return differs(name + " is held by more or fewer than use it (I11)");
    if (classes[i] == 0 && mixes[i] == 0) ++unused;
  }
  if (unused > TaskClasses::kKeptUnused)
    return differs(std::to_string(unused) + " task classes are kept that nothing uses");
  return {};
}

}  // namespace fairlead::sched
