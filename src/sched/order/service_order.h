// Service order among queues (rule 4.1), level by level of the tree.
//
// A queue is compared through the workload it would serve next. Keys hold exact ratios and are
// computed once per change of a queue, not per comparison.
#pragma once

#include <cstdint>

#include "base/wide.h"
#include "sched/state/queue_tree.h"

namespace fairlead::sched {

struct QueueKey {
  bool over_share = false;       // above its fair share in every resource it holds
  bool over_quota_with = false;  // would leave its quota with this workload
  std::int32_t rank = 0;
  Ratio share_with;  // dominant share counting the workload
  Ratio share_without;
  std::int64_t created = 0;
  QueueId queue;
};

// a is served before b.
bool served_before(const QueueKey& a, const QueueKey& b);

// The key of `queue` if the workload it would serve next asks for `demand`. `capacity` stands in
// for a quota that is unlimited. Cost: O(resources).
QueueKey queue_key(const QueueTree& tree, PoolId pool, QueueId queue, const ResourceVector& demand,
                   const ResourceVector& capacity);

}  // namespace fairlead::sched
