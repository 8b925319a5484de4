#include "sched/state/workload_table.h"

#include "base/check.h"

namespace fairlead::sched {

ShapeId Shapes::intern(const WorkloadSpec& spec, TaskClasses& classes) {
  Key key{spec.roles, spec.pools, spec.topology, spec.preemptibility, spec.independent_tasks()};
  const auto [it, inserted] = by_key_.try_emplace(std::move(key), ShapeId(shapes_.size()));
  if (!inserted) return it->second;
  Shape shape;
  shape.id = it->second;
  shape.roles = spec.roles;
  for (const RoleSpec& role : spec.roles) {
    shape.classes.push_back(classes.intern(role.request, role.constraints));
  }
  shape.pools = spec.pools;
  shape.topology = spec.topology;
  shape.preemptibility = spec.preemptibility;
  shape.independent = spec.independent_tasks();
  shapes_.push_back(std::move(shape));
  return it->second;
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
