#include "sched/order/pending.h"

#include <algorithm>

#include "base/check.h"

namespace fairlead::sched {
namespace {

template <class T>
std::vector<T>& at_pool(std::vector<std::vector<T>>& by_pool, PoolId pool) {
  if (pool.index() >= by_pool.size()) by_pool.resize(pool.index() + 1);
  return by_pool[pool.index()];
}

}  // namespace

Requirement::InPool* Requirement::find(PoolId pool) {
  for (InPool& p : pools) {
    if (p.pool == pool) return &p;
  }
  return nullptr;
}

Requirement::InPool& Requirement::in(PoolId pool) {
  if (InPool* p = find(pool)) return *p;
  pools.emplace_back();
  pools.back().pool = pool;
  return pools.back();
}

RequirementId PendingSet::intern(const Key& key, bool& fresh) {
  const auto it = by_key_.find(key);
  fresh = it == by_key_.end();
  if (!fresh) return it->second;
  RequirementId id(requirements_.size());
  if (!free_requirements_.empty()) {
    id = free_requirements_.back();
    free_requirements_.pop_back();
    requirements_[id.index()] = Requirement{};
    keys_[id.index()] = key;
  } else {
    requirements_.emplace_back();
    keys_.push_back(key);
  }
  by_key_.emplace(key, id);
  return id;
}

void PendingSet::add(RequirementId requirement_id, QueueId queue, PoolId pool, std::int32_t stage,
                     const EntryKey& key) {
  Requirement& r = requirement(requirement_id);
  const auto [it, inserted] =
      bucket_of_.try_emplace({queue, pool, requirement_id}, BucketId(buckets_.size()));
  if (inserted) {
    if (!free_buckets_.empty()) {
      it->second = free_buckets_.back();
      free_buckets_.pop_back();
    } else {
      buckets_.emplace_back();
    }
    bucket(it->second) = Bucket{queue, pool, requirement_id, next_stamp_++, {}};
    Requirement::InPool& in = r.in(pool);
    in.stage = stage;
    if (in.buckets.empty()) at_pool(in_pool_, pool).push_back(requirement_id);
    in.buckets.push_back(it->second);
    ++r.buckets;
  }
  bucket(it->second).entries.insert(key);
  at_pool(fresh_, pool).push_back(it->second);
}

void PendingSet::remove(RequirementId requirement_id, QueueId queue, PoolId pool,
                        const EntryKey& key) {
  const auto it = bucket_of_.find({queue, pool, requirement_id});
  FAIRLEAD_CHECK(it != bucket_of_.end(), "a waiting workload stands in its bucket");
  const BucketId id = it->second;
  const std::size_t erased = bucket(id).entries.erase(key);
  FAIRLEAD_CHECK(erased == 1, "a waiting workload stands in its bucket");
  if (!bucket(id).entries.empty()) return;
  Requirement& r = requirement(requirement_id);
  auto& buckets = r.in(pool).buckets;
  buckets.erase(std::find(buckets.begin(), buckets.end(), id));
  if (buckets.empty()) {
    auto& in_pool = at_pool(in_pool_, pool);
    in_pool.erase(std::find(in_pool.begin(), in_pool.end(), requirement_id));
  }
  --r.buckets;
  bucket_of_.erase(it);
  free_buckets_.push_back(id);
}

bool PendingSet::drop_if_unused(RequirementId requirement_id) {
  if (requirement(requirement_id).buckets > 0) return false;
  by_key_.erase(keys_[requirement_id.index()]);
  free_requirements_.push_back(requirement_id);
  return true;
}

const std::vector<RequirementId>& PendingSet::requirements_in(PoolId pool) {
  return at_pool(in_pool_, pool);
}

std::vector<BucketId> PendingSet::take_fresh(PoolId pool) {
  std::vector<BucketId> out = std::move(at_pool(fresh_, pool));
  at_pool(fresh_, pool).clear();
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  // Ids are used again: what was given back, or is another pool's by now, is not meant.
  std::erase_if(out,
                [&](BucketId id) { return bucket(id).entries.empty() || bucket(id).pool != pool; });
  return out;
}

std::vector<const Bucket*> PendingSet::all_buckets() const {
  std::vector<const Bucket*> out;
  for (const auto& [key, id] : bucket_of_) out.push_back(&buckets_[id.index()]);
  return out;
}

}  // namespace fairlead::sched
