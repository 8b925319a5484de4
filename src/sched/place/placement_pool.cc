#include "sched/place/placement_pool.h"

namespace fairlead::sched {

const ClassIndex& PlacementPool::index(TaskClassId task_class) {
  if (task_class.index() >= indices_.size()) indices_.resize(task_class.index() + 1);
  auto& index = indices_[task_class.index()];
  if (!index)
    index = std::make_unique<ClassIndex>(classes_.get(task_class), state, *scorer, &alike_);
  index->catch_up();
  return *index;
}

const ClassIndex* PlacementPool::find_index(TaskClassId task_class) {
  if (task_class.index() >= indices_.size() || !indices_[task_class.index()]) return nullptr;
  return &index(task_class);
}

std::int64_t PlacementPool::evaluations() const {
  std::int64_t sum = 0;
  for (const auto& index : indices_) {
    if (index) sum += index->evaluations();
  }
  return sum;
}

}  // namespace fairlead::sched
