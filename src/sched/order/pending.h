// What waits: requirements, and per (queue, pool, requirement) a bucket of workloads in order.
//
// Workloads of one queue that ask the same of one pool stand or fall together, so a pass tries one
// head per bucket, not every workload; and a requirement that failed stays failed until something
// in the pool is released (PoolState::release_version).
//
// Cost: add() and remove() O(log n). Memory: one tree node per waiting workload and pool.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "sched/ids.h"
#include "sched/state/workload_table.h"

namespace fairlead::sched {

using BucketId = Id<struct BucketIdTag>;

// Order inside a queue (4.2): priority, gangs before extras, the site's own key, time, sequence.
struct EntryKey {
  std::int64_t minus_priority = 0;
  EntryKind kind = EntryKind::kGang;
  std::int64_t order_key = 0;
  std::int64_t submitted_ms = 0;
  std::int64_t sequence = 0;
  WorkloadId workload;
  std::int32_t role = -1;  // of an extra: earlier roles of a workload grow first
  friend auto operator<=>(const EntryKey&, const EntryKey&) = default;
};

// What one start of an entry needs. Interned: workloads of one shape share it, except where running
// tasks confine it (`only`).
struct Requirement {
  EntryKind kind = EntryKind::kGang;
  ShapeId shape;
  std::int32_t role = -1;        // −1: the whole gang's minimum
  std::int32_t tasks = 0;        // of that role
  WorkloadId only;               // valid: this workload's alone, never remembered as failed
  bool non_preemptible = false;  // counts against 5.2
  std::vector<std::pair<TaskClassId, std::int64_t>> needs;

  struct InPool {
    PoolId pool;
    std::int32_t stage = 0;  // position of the pool in the workload's list
    ResourceVector demand;   // least charge of one start
    std::uint64_t demand_version = UINT64_MAX;
    std::uint64_t failed_at = UINT64_MAX;  // release_version of the pool at the last failure
    bool ran_out = false;                  // the failure was one of steps, not a proof
    std::vector<BucketId> buckets;
  };
  boost::container::small_vector<InPool, 1> pools;
  std::int32_t buckets = 0;

  InPool& in(PoolId pool);
  InPool* find(PoolId pool);
};

struct Bucket {
  QueueId queue;
  PoolId pool;
  RequirementId requirement;
  std::uint64_t stamp = 0;  // tells one use of a bucket id from the next
  std::set<EntryKey> entries;
};

class PendingSet {
 public:
  // Kind, shape, role, tasks, the workload if alone, and whether a pool is chosen already: such a
  // workload is not tried in the order of its pool list any more.
  using Key = std::tuple<EntryKind, ShapeId, std::int32_t, std::int32_t, WorkloadId, bool>;

  // The requirement of this key; `fresh` tells that its needs have to be filled in.
  RequirementId intern(const Key& key, bool& fresh);
  Requirement& requirement(RequirementId id) { return requirements_[id.index()]; }
  const Requirement& requirement(RequirementId id) const { return requirements_[id.index()]; }

  void add(RequirementId requirement, QueueId queue, PoolId pool, std::int32_t stage,
           const EntryKey& key);
  void remove(RequirementId requirement, QueueId queue, PoolId pool, const EntryKey& key);
  // Gives the requirement back if nothing waits on it; true if it did.
  bool drop_if_unused(RequirementId requirement);

  Bucket& bucket(BucketId id) { return buckets_[id.index()]; }
  const std::vector<RequirementId>& requirements_in(PoolId pool);
  // Buckets that got a new head or member since the last call.
  std::vector<BucketId> take_fresh(PoolId pool);

  // For verify(): every bucket that is not empty.
  std::vector<const Bucket*> all_buckets() const;

 private:
  std::map<Key, RequirementId> by_key_;
  std::deque<Requirement> requirements_;
  std::vector<Key> keys_;
  std::vector<RequirementId> free_requirements_;
  std::deque<Bucket> buckets_;
  std::uint64_t next_stamp_ = 1;
  std::vector<BucketId> free_buckets_;
  std::map<std::tuple<QueueId, PoolId, RequirementId>, BucketId> bucket_of_;
  std::vector<std::vector<RequirementId>> in_pool_;  // requirements with buckets, by PoolId
  std::vector<std::vector<BucketId>> fresh_;         // by PoolId
};

}  // namespace fairlead::sched
