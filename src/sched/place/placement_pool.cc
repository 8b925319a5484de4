#include "sched/place/placement_pool.h"

#include <algorithm>

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

void PlacementPool::drop_index(TaskClassId task_class) {
  if (task_class.index() >= indices_.size()) return;
  auto& index = indices_[task_class.index()];
  if (index) dropped_evaluations_ += index->evaluations();
  index.reset();
}

std::size_t PlacementPool::index_count() const {
  return static_cast<std::size_t>(
      std::count_if(indices_.begin(), indices_.end(), [](const auto& i) { return i != nullptr; }));
}

void PlacementPool::replace_scorer(std::unique_ptr<Scorer> other) {
  dropped_evaluations_ = evaluations();
  indices_.clear();
  scorer = std::move(other);
}

std::int64_t PlacementPool::evaluations() const {
  std::int64_t sum = dropped_evaluations_;
  for (const auto& index : indices_) {
    if (index) sum += index->evaluations();
  }
  return sum;
}

}  // namespace fairlead::sched
