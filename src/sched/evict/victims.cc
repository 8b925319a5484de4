#include "sched/evict/victims.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace fairlead::sched {

Int128 disruption(const TaskSlot& slot, const TaskClass& task, const WorkloadRecord& w, Instant now,
                  Duration restart_cost) {
  const Instant since = std::max(slot.started, slot.saved);
  const std::int64_t lost = std::max<std::int64_t>(0, (now - since).ms) + restart_cost.ms;
  const std::int64_t size = slot.charge_gpu + task.cpu / 64 + 1;
  return Int128{lost} * size * (1 + std::max(0, w.priority));
}

Victims::Victims(const PoolState& pool, const std::vector<WorkloadId>& ids,
                 const WorkloadTable& workloads, const Shapes& shapes, const TaskClasses& classes,
                 Instant now, Duration restart_cost)
    : pool_(pool),
      workloads_(workloads),
      shapes_(shapes),
      classes_(classes),
      now_(now),
      restart_cost_(restart_cost) {
  units_.reserve(ids.size());
  of_.reserve(ids.size());
  for (const WorkloadId id : ids) {
    const WorkloadRecord& w = workloads.get(id);
    if (w.pool == pool.id) collect(id, w, shapes.get(w.shape));
  }
  by_cost_.resize(units_.size());
  std::iota(by_cost_.begin(), by_cost_.end(), 0);
  std::sort(by_cost_.begin(), by_cost_.end(), [this](Id a, Id b) { return cheaper(a, b); });
  for (const Id id : by_cost_) index(id);
}

bool Victims::cheaper(Id a, Id b) const {
  const VictimUnit& first = units_[a];
  const VictimUnit& second = units_[b];
  if (first.cost != second.cost) return first.cost < second.cost;
  if (first.sequence != second.sequence) return first.sequence > second.sequence;
  // A gang comes behind its extras, which are part of what goes with it.
  return first.whole != second.whole ? second.whole : a > b;
}

// Adds the unit to those of its slots, in its place.
void Victims::index(Id id) {
  of_[units_[id].workload].push_back(id);
  const Slots& slots = units_[id].slots;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const auto before = slots.begin() + static_cast<std::ptrdiff_t>(i);
    if (slots[i] == VictimUnit::kElsewhere || std::find(slots.begin(), before, slots[i]) != before)
      continue;
    auto& here = at_[slots[i]];
    here.insert(std::upper_bound(here.begin(), here.end(), id,
                                 [this](Id a, Id b) { return cheaper(a, b); }),
                id);
  }
}

void Victims::changed(WorkloadId id) {
  for (const Id unit : of_[id]) units_[unit].gone = true;
  of_[id].clear();
  const WorkloadRecord& w = workloads_.get(id);
  const std::size_t known = units_.size();
  if (w.alive && w.running > 0 && w.pool == pool_.id) collect(id, w, shapes_.get(w.shape));
  for (std::size_t i = known; i < units_.size(); ++i) {
    const auto unit = static_cast<Id>(i);
    index(unit);
    by_cost_.insert(std::upper_bound(by_cost_.begin(), by_cost_.end(), unit,
                                     [this](Id a, Id b) { return cheaper(a, b); }),
                    unit);
  }
}

std::pair<std::size_t, std::size_t> Victims::hit(const std::vector<Id>& units) const {
  std::set<WorkloadId> workloads;
  std::size_t whole = 0;
  for (const Id id : units) {
    workloads.insert(units_[id].workload);
    whole += units_[id].whole ? 1 : 0;
  }
  return {workloads.size(), whole};
}

namespace {

bool alike_in_charge(const RoleProgress& role) {
  std::int64_t charge = -1;
  for (const TaskSlot& slot : role.tasks) {
    if (slot.state != TaskState::kRunning) continue;
    if (charge >= 0 && slot.charge_gpu != charge) return false;
    charge = slot.charge_gpu;
  }
  return true;
}

// 8.1.a: over as soon as nothing of it runs.
bool ending(const WorkloadRecord& w, const Shape& shape) {
  if (shape.independent) return false;
  bool some = false;
  for (std::size_t r = 0; r < w.roles.size(); ++r) {
    if (w.roles[r].succeeded < shape.roles[r].min) return false;
    some = some || w.roles[r].succeeded > 0;
  }
  return some;
}

}  // namespace

void Victims::collect(WorkloadId id, const WorkloadRecord& w, const Shape& shape) {
  if (shape.preemptibility == Preemptibility::kNonPreemptible || ending(w, shape)) return;
  VictimUnit rest;
  rest.workload = id;
  rest.queue = w.queue;
  rest.priority = std::max(w.priority, w.run_priority);
  rest.sequence = w.sequence;
  rest.whole = true;
  rest.started = kNever;
  bool comes_back = true;
  for (std::size_t r = 0; r < w.roles.size(); ++r) {
    const RoleSpec& role = shape.roles[r];
    const RoleProgress& progress = w.roles[r];
    const std::int32_t minimum = shape.independent ? 0 : std::max(0, role.min - progress.succeeded);
    // 7.4.c, 8.1.a: what would not be wanted again does not go, for it could not come back.
    const bool ends = !shape.independent && progress.succeeded > 0 && progress.running > minimum;
    comes_back = comes_back && !ends;
    const std::int32_t beyond = ends ? 0 : progress.running - minimum;
    std::int32_t segment = -1;  // 8.1: of the unit that was made last; it shrinks as one
    std::int32_t spare = -1;
    if (beyond > 0) {
      spare = static_cast<std::int32_t>(spares_.size());
      spares_.push_back(beyond);
    }
    const TaskClass& task = classes_.get(shape.classes[r]);
    const bool alike = alike_in_charge(progress);
    for (std::size_t i = 0; i < progress.tasks.size(); ++i) {
      const TaskSlot& slot = progress.tasks[i];
      if (slot.state != TaskState::kRunning) continue;
      const TaskRef ref{id, static_cast<std::int32_t>(r), static_cast<std::int32_t>(i)};
      ResourceVector amounts;
      amounts.at(kGpuResource) = slot.charge_gpu;
      amounts.at(kCpuResource) = task.cpu;
      amounts.at(kMemoryResource) = task.memory;
      for (const auto& [resource, amount] : task.extended) amounts.at(resource) = amount;
      const Int128 cost = disruption(slot, task, w, now_, restart_cost_);
      const NodeState& node = pool_.node(slot.placement.node);
      const std::uint32_t where = node.pool == pool_.id ? node.slot : VictimUnit::kElsewhere;
      const auto extend = [&](VictimUnit& unit) {
        unit.tasks.push_back(ref);
        unit.slots.push_back(where);
        unit.amounts.add(amounts);
        unit.cost += cost;
        unit.started = std::min(unit.started, slot.started);
      };
      extend(rest);
      // 5.3: any task may be an extra, unless the minimum would be charged more without it.
      const bool fixed = slot.non_preemptible && !alike;
      if (spare < 0 || fixed) continue;
      const auto of = role.segment_size > 0 ? static_cast<std::int32_t>(i) / role.segment_size : -1;
      if (of < 0 || of != segment) {
        segment = of;
        VictimUnit& one = units_.emplace_back();
        one.workload = id;
        one.queue = w.queue;
        one.priority = rest.priority;
        one.sequence = w.sequence;
        one.started = kNever;
        one.spare = spare;
      }
      extend(units_.back());
    }
  }
  // 5.3: the minimum of a semi-preemptible gang stays.
  const bool minimum_goes = shape.preemptibility == Preemptibility::kPreemptible;
  if (minimum_goes && !shape.independent && comes_back && !rest.tasks.empty())
    units_.push_back(std::move(rest));
}

}  // namespace fairlead::sched
