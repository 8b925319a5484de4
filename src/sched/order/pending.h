// What waits: requirements, and per (queue, pool, requirement) a bucket of workloads in order.
//
// Workloads of one queue that ask the same of one pool stand or fall together, so a pass tries one
// head per bucket, not every workload; and a requirement that failed stays failed until something
// in the pool is released (PoolState::release_version). Each queue keeps the heads of its buckets
// in the order of service, so that its next workload is found without a walk over all of them.
//
// Cost: add() and remove() O(log n), and O(buckets of the queue) moved bytes if a head changes.
// Memory: one tree node per waiting workload and pool; a head and a tree node per bucket.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/container/flat_set.hpp>
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
    Instant no_move_before{INT64_MIN};     // 7.3: the last search for what to move was in vain
    Instant no_plan_before{INT64_MIN};     // 9.2: the last search for a start was in vain
    std::vector<BucketId> buckets;
    std::size_t position = 0;  // in requirements_in() while it has buckets
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
  std::size_t position = 0;               // among the buckets of its requirement in its pool
  std::uint64_t claimed_at = UINT64_MAX;  // pool's claims_version at the last search in vain
  std::int64_t claimed_with = 0;          // the highest priority that claimed then
  Duration claimed_for;                   // the shortest runtime of those that claimed then
  bool claim_ran_out = false;             // that search was not to the end (7.6)
  std::uint64_t put_off_at = UINT64_MAX;  // pool's claims_version when a claim was put off
  std::uint64_t shut_in = 0;  // the last decision that met a shut gate at the real charge (Pass)
  // The last decisions that found none of it to pass reservations, and none to plan (Pass).
  std::uint64_t behind_in = 0;
  std::uint64_t planned_in = 0;
  std::set<EntryKey> entries;
};

// The head of a bucket: the workload that is tried for all of it.
struct Head {
  EntryKey key;
  BucketId bucket;
  RequirementId requirement;
  friend auto operator<=>(const Head&, const Head&) = default;
};

// What waits in one leaf queue for one pool.
struct WaitingQueue {
  boost::container::flat_set<Head> heads;  // side by side: passes run over many
  std::map<RequirementId, BucketId> by_requirement;
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

  // In which bucket it is then.
  BucketId add(RequirementId requirement, QueueId queue, PoolId pool, std::int32_t stage,
               const EntryKey& key);
  void remove(RequirementId requirement, QueueId queue, PoolId pool, const EntryKey& key);
  // Gives the requirement back if nothing waits on it; true if it did.
  bool drop_if_unused(RequirementId requirement);

  Bucket& bucket(BucketId id) { return buckets_[id.index()]; }
  const Bucket& bucket(BucketId id) const { return buckets_[id.index()]; }
  const std::vector<RequirementId>& requirements_in(PoolId pool) { return in(pool).requirements; }
  // By QueueId, as far as there ever was something: what waits for the pool.
  const std::vector<WaitingQueue>& queues_in(PoolId pool) { return in(pool).queues; }
  // Buckets that got a new member since the last call.
  std::vector<BucketId> take_fresh(PoolId pool);
  // Counts a bucket that was taken among them again.
  void renew(PoolId pool, BucketId id) { in(pool).fresh.push_back(id); }

  // Pools so ordered that, wherever possible, each comes after those that the workloads waiting for
  // it would rather have. A circle is cut before its pool of the lowest id.
  const std::vector<PoolId>& pool_order(std::size_t pools);

  // For verify(): every bucket that is not empty; whether the heads are those of the buckets.
  std::vector<const Bucket*> all_buckets() const;
  bool heads_agree() const;

 private:
  struct InPool {
    std::vector<RequirementId> requirements;
    std::vector<WaitingQueue> queues;
    std::vector<BucketId> fresh;
    std::map<PoolId, std::int64_t> after;  // pools that requirements here would rather have
  };
  InPool& in(PoolId pool);
  // Of two pools that a requirement waits for, the one of the earlier stage goes first.
  void count_preference(const Requirement::InPool& a, const Requirement::InPool& b,
                        std::int64_t sign);

  std::map<Key, RequirementId> by_key_;
  std::deque<Requirement> requirements_;
  std::vector<Key> keys_;
  std::vector<RequirementId> free_requirements_;
  std::deque<Bucket> buckets_;
  std::vector<BucketId> free_buckets_;
  std::deque<InPool> pools_;  // by PoolId
  std::vector<PoolId> pool_order_;
  bool order_dirty_ = true;
};

}  // namespace fairlead::sched
