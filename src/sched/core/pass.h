// One pass over a pool: tries waiting buckets in service order (rule 4) until none is left.
//
// Queues with candidates form a tree of heaps; the key of a queue is that of the workload it would
// serve next. A start changes the keys on one path from leaf to root only.
// Cost: O(candidate buckets) to set up, O(depth × log siblings) per try beside the try itself.
#pragma once

#include <vector>

#include "sched/core/core.h"

namespace fairlead::sched {

class Pass {
 public:
  Pass(Core& core, PoolCore& pool) : core_(core), pool_(pool) {}

  // Tries the buckets whose pool is the stage-th of their workloads' lists. Started tasks are added
  // to the core's decisions.
  void run(const std::vector<BucketId>& candidates, std::int32_t stage);

 private:
  struct Candidate {
    EntryKey head;
    BucketId bucket;
    std::uint64_t stamp = 0;
  };
  struct Place {                     // one queue of the tree in this pass
    std::vector<Candidate> buckets;  // leaves: heap, first in order on top
    std::vector<QueueId> children;   // others: heap, first served on top
    QueueKey key;
    ResourceVector demand;  // of the workload it would serve next
    bool listed = false;    // is in its parent's heap
    bool touched = false;
  };

  void offer(BucketId bucket, std::int32_t stage);
  bool settle_leaf(QueueId leaf);
  void refresh_path(QueueId leaf);
  void build();
  bool has_candidate(QueueId q) const;
  void refresh_key(QueueId q);
  Place& place(QueueId q) { return places_[q.index()]; }
  std::vector<QueueId>& siblings(QueueId q);

  Core& core_;
  PoolCore& pool_;
  std::vector<Place> places_;
  std::vector<QueueId> roots_;
  std::vector<QueueId> touched_;
};

}  // namespace fairlead::sched
