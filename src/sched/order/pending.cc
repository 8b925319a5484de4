#include "sched/order/pending.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace fairlead::sched {
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

PendingSet::InPool& PendingSet::in(PoolId pool) {
  if (pool.index() >= pools_.size()) pools_.resize(pool.index() + 1);
  return pools_[pool.index()];
}

BucketId PendingSet::add(RequirementId requirement_id, QueueId queue, PoolId pool,
                         std::int32_t stage, const EntryKey& key) {
  Requirement& r = requirement(requirement_id);
  InPool& where = in(pool);
  if (queue.index() >= where.queues.size()) where.queues.resize(queue.index() + 1);
  WaitingQueue& waiting = where.queues[queue.index()];
  const auto [it, inserted] =
      waiting.by_requirement.try_emplace(requirement_id, BucketId(buckets_.size()));
  if (inserted) {
    if (!free_buckets_.empty()) {
      it->second = free_buckets_.back();
      free_buckets_.pop_back();
    } else {
      buckets_.emplace_back();
    }
    const bool known = r.find(pool) != nullptr;
    Requirement::InPool& of = r.in(pool);
    of.stage = stage;
    if (!known) {
      for (std::size_t i = 0; i + 1 < r.pools.size(); ++i)
        count_preference(r.pools[i], r.pools.back(), 1);
    }
    if (of.buckets.empty()) {
      of.position = where.requirements.size();
      where.requirements.push_back(requirement_id);
    }
    Bucket fresh;
    fresh.queue = queue;
    fresh.pool = pool;
    fresh.requirement = requirement_id;
    fresh.position = of.buckets.size();
    bucket(it->second) = std::move(fresh);
    of.buckets.push_back(it->second);
    ++r.buckets;
  }
  auto& entries = bucket(it->second).entries;
  if (entries.empty() || key < *entries.begin()) {
    if (!entries.empty()) waiting.heads.erase({*entries.begin(), it->second, requirement_id});
    waiting.heads.insert({key, it->second, requirement_id});
    bucket(it->second).claimed_at = UINT64_MAX;  // another claimant
  }
  entries.insert(key);
  where.fresh.push_back(it->second);
  return it->second;
}

void PendingSet::remove(RequirementId requirement_id, QueueId queue, PoolId pool,
                        const EntryKey& key) {
  InPool& where = in(pool);
  FAIRLEAD_CHECK(queue.index() < where.queues.size(), "a waiting workload stands in its bucket");
  auto& [heads, by_requirement] = where.queues[queue.index()];
  const auto it = by_requirement.find(requirement_id);
  FAIRLEAD_CHECK(it != by_requirement.end(), "a waiting workload stands in its bucket");
  const BucketId id = it->second;
  auto& entries = bucket(id).entries;
  const bool head = !entries.empty() && *entries.begin() == key;
  const std::size_t erased = entries.erase(key);
  FAIRLEAD_CHECK(erased == 1, "a waiting workload stands in its bucket");
  if (head) {
    heads.erase({key, id, requirement_id});
    if (!entries.empty()) heads.insert({*entries.begin(), id, requirement_id});
  }
  if (!entries.empty()) return;
  Requirement& r = requirement(requirement_id);
  Requirement::InPool& of = r.in(pool);
  const std::size_t position = bucket(id).position;
  of.buckets[position] = of.buckets.back();
  bucket(of.buckets[position]).position = position;
  of.buckets.pop_back();
  if (of.buckets.empty()) {
    const RequirementId last = where.requirements.back();
    where.requirements[of.position] = last;
    requirement(last).in(pool).position = of.position;
    where.requirements.pop_back();
  }
  --r.buckets;
  by_requirement.erase(it);
  free_buckets_.push_back(id);
}

bool PendingSet::drop_if_unused(RequirementId requirement_id) {
  const Requirement& r = requirement(requirement_id);
  if (r.buckets > 0) return false;
  for (std::size_t i = r.pools.size(); i-- > 0;) {
    for (std::size_t j = 0; j < i; ++j) count_preference(r.pools[j], r.pools[i], -1);
  }
  by_key_.erase(keys_[requirement_id.index()]);
  free_requirements_.push_back(requirement_id);
  return true;
}

std::vector<BucketId> PendingSet::take_fresh(PoolId pool) {
  std::vector<BucketId> out = std::exchange(in(pool).fresh, {});
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  // Ids are used again: what was given back, or is another pool's by now, is not meant.
  std::erase_if(out,
                [&](BucketId id) { return bucket(id).entries.empty() || bucket(id).pool != pool; });
  return out;
}

void PendingSet::count_preference(const Requirement::InPool& a, const Requirement::InPool& b,
                                  std::int64_t sign) {
  const auto& [first, second] =
      std::minmax(a, b, [](const auto& x, const auto& y) { return x.stage < y.stage; });
  auto& after = in(second.pool).after;
  const auto it = after.try_emplace(first.pool, 0).first;
  if (it->second == 0) order_dirty_ = true;
  it->second += sign;
  if (it->second > 0) return;
  after.erase(it);
  order_dirty_ = true;
}

const std::vector<PoolId>& PendingSet::pool_order(std::size_t pools) {
  if (!order_dirty_ && pool_order_.size() == pools) return pool_order_;
  order_dirty_ = false;
  pool_order_.clear();
  std::set<PoolId> left;
  for (std::size_t i = 0; i < pools; ++i) left.insert(PoolId(i));
  while (!left.empty()) {
    const auto ready = std::find_if(left.begin(), left.end(), [&](PoolId pool) {
      const auto& after = in(pool).after;
      return std::none_of(after.begin(), after.end(),
                          [&](const auto& other) { return left.count(other.first) > 0; });
    });
    const auto next = ready == left.end() ? left.begin() : ready;
    pool_order_.push_back(*next);
    left.erase(next);
  }
  return pool_order_;
}

std::vector<const Bucket*> PendingSet::all_buckets() const {
  std::vector<const Bucket*> out;
  for (const InPool& pool : pools_) {
    for (const WaitingQueue& waiting : pool.queues) {
      for (const auto& [requirement, id] : waiting.by_requirement)
        out.push_back(&buckets_[id.index()]);
    }
  }
  return out;
}

bool PendingSet::heads_agree() const {
  for (const InPool& pool : pools_) {
    for (const WaitingQueue& waiting : pool.queues) {
      boost::container::flat_set<Head> heads;
      for (const auto& [requirement, id] : waiting.by_requirement) {
        const auto& entries = buckets_[id.index()].entries;
        if (entries.empty()) return false;
        heads.insert({*entries.begin(), id, requirement});
      }
      if (heads != waiting.heads) return false;
    }
  }
  return true;
}

}  // namespace fairlead::sched
