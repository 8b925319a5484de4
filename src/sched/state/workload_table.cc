#include "sched/state/workload_table.h"

#include "base/check.h"

namespace fairlead::sched {

std::int32_t Shape::role_named(const std::string& name) const {
  for (std::size_t r = 0; r < roles.size(); ++r) {
    if (roles[r].name == name) return static_cast<std::int32_t>(r);
  }
  return -1;
}

ShapeId Shapes::acquire(const WorkloadSpec& spec) {
  Key key{spec.roles, spec.pools, spec.topology, spec.preemptibility, spec.independent_tasks()};
  const ShapeId next = free_.empty() ? ShapeId(slots_.size()) : free_.back();
  const auto [it, inserted] = by_key_.try_emplace(std::move(key), next);
  if (!inserted) {
    hold(it->second);
    return it->second;
  }
  if (free_.empty()) {
    slots_.emplace_back();
  } else {
    free_.pop_back();
  }
  Slot& slot = slots_[next.index()];
  slot.holds = 1;
  slot.place = it;
  Shape& shape = slot.shape;
  shape.id = next;
  shape.roles = spec.roles;
  for (const RoleSpec& role : spec.roles) {
    shape.classes.push_back(classes_.intern(role.request, role.constraints));
    classes_.hold(shape.classes.back());
  }
  shape.pools = spec.pools;
  shape.topology = spec.topology;
  shape.preemptibility = spec.preemptibility;
  shape.independent = spec.independent_tasks();
  return next;
}

void Shapes::release(ShapeId id) {
  Slot& slot = slots_[id.index()];
  FAIRLEAD_CHECK(slot.holds > 0, "what is released was held");
  if (--slot.holds > 0) return;
  for (const TaskClassId c : slot.shape.classes) classes_.release(c);
  by_key_.erase(slot.place);
  slot.shape = Shape{};
  free_.push_back(id);
}

WorkloadId WorkloadTable::add(WorkloadRecord state) {
  WorkloadId id(table_.size());
  if (!free_.empty()) {
    id = free_.back();
    free_.pop_back();
  } else {
    table_.emplace_back();
  }
  state.alive = true;
  const bool inserted = by_name_.emplace(state.name, id).second;
  FAIRLEAD_CHECK(inserted, "workload names are unique");
  table_[id.index()] = std::move(state);
  return id;
}

void WorkloadTable::remove(WorkloadId id) {
  by_name_.erase(get(id).name);
  table_[id.index()] = WorkloadRecord{};
  free_.push_back(id);
}

WorkloadId WorkloadTable::find(const std::string& name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? WorkloadId{} : it->second;
}

}  // namespace fairlead::sched
