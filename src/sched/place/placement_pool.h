// A pool with what placement keeps about it: its scorer and one index per task class asked so far.
//
// Cost: index() O(nodes changed since this class was last asked); the first time O(nodes). An index
// takes about 50 bytes per node; drop_index() gives it back.
#pragma once

#include <memory>
#include <vector>

#include "base/rng.h"
#include "sched/place/alike_nodes.h"
#include "sched/place/class_index.h"
#include "sched/place/scorer.h"
#include "sched/state/pool_state.h"
#include "sched/state/task_class.h"

namespace fairlead::sched {

class PlacementPool {
 public:
  PlacementPool(PoolId id, PoolSpec spec, std::vector<NodeState>& nodes, const TaskClasses& classes,
                std::unique_ptr<Scorer> pool_scorer, std::uint64_t seed)
      : state(id, std::move(spec), nodes),
        scorer(std::move(pool_scorer)),
        rng(seed),
        classes_(classes),
        alike_(state) {}

  PoolState state;
  std::unique_ptr<Scorer> scorer;
  Rng rng;  // drawn from by the "random" scorer only

  // Up to date. Requires: state.ordered().
  const ClassIndex& index(TaskClassId task_class);
  // Up to date if it exists; nullptr if this class was never asked.
  const ClassIndex* find_index(TaskClassId task_class);
  // The class is no longer asked, or its id will be another's.
  void drop_index(TaskClassId task_class);
  bool has_index(TaskClassId task_class) const {
    return task_class.index() < indices_.size() && indices_[task_class.index()];
  }
  std::size_t index_count() const;

  // Another strategy: every index is void.
  void replace_scorer(std::unique_ptr<Scorer> other);
  const TaskClasses& classes() const { return classes_; }
  std::int64_t evaluations() const;  // of all indices that were ever there

 private:
  const TaskClasses& classes_;
  AlikeNodes alike_;
  std::vector<std::unique_ptr<ClassIndex>> indices_;  // by TaskClassId
  std::int64_t dropped_evaluations_ = 0;
};

}  // namespace fairlead::sched
