// Claims (rule 7): who may claim, in which order and how often; how much there is to take, and the
// proof by counting that it is too little. What a claim takes is found in take_back.cc.
#include <algorithm>
#include <utility>

#include "sched/core/pass.h"

namespace fairlead::sched {

// Whether the queue runs something preemptible of lower priority (7.2).
bool Core::runs_below(PoolId pool, QueueId queue, std::int64_t priority) const {
  const auto& running = queues_.ledger(pool, queue).preemptible_by_priority;
  return options_.preempt && !running.empty() && running.begin()->first < priority;
}

Core::Chances Core::chances(const PoolCore& pool, RequirementId id) {
  Chances out;
  Requirement& requirement = pending_.requirement(id);
  out.scattered = options_.consolidate && free_in_all(pool, requirement);
  if (!options_.reclaim || pool.losers.empty()) return out;
  std::int64_t need = 0;
  for (const auto& [task_class, tasks] : requirement.needs) {
    const TaskClass& task = classes_.get(task_class);
    need += tasks * task.milli * task.gpu_count;
  }
  out.reclaimable =
      !one_to_one(pool) || need <= pool.takeable_gpu + pool.state().free_milli(pool.state().all());
  return out;
}

Core::Standing Core::standing(PoolCore& pool, QueueId queue) {
  // Limits need not be open: what is taken back below them counts no more.
  Standing out;
  const PoolId id = pool.state().id;
  const ResourceVector nothing;
  out.gates_open = gates_open(queues_, resources_, {id, queue, &nothing, false}, now_, nullptr);
  const QueueLedger& ledger = queues_.ledger(id, queue);
  out.lowest_priority = INT64_MAX;
  if (options_.preempt && !ledger.preemptible_by_priority.empty())
    out.lowest_priority = ledger.preemptible_by_priority.begin()->first;
  const bool unlimited = queues_.entitlement(id, queue, kGpuResource).quota == kUnlimited;
  out.gpu_below_share =
      unlimited ? INT64_MAX : ledger.fair_share[kGpuResource] - ledger.allocated[kGpuResource];
  return out;
}

// 5.2
bool Core::within_non_preemptible_quota(const PoolCore& pool, QueueId queue,
                                        const ResourceVector& demand, bool non_preemptible) const {
  const PoolId id = pool.state().id;
  for (QueueId q = queue; non_preemptible && q.valid(); q = queues_.get(q).parent) {
    const QueueLedger& ledger = queues_.ledger(id, q);
    for (std::size_t r = 0; r < demand.size(); ++r) {
      const std::int64_t quota = queues_.entitlement(id, q, r).quota;
      if (quota != kUnlimited && ledger.non_preemptible[r] + demand[r] > quota && demand[r] > 0)
        return false;
    }
  }
  return true;
}

// 7.3.b: a search among many for what to move was in vain just now.
bool Core::moves_pause(const PoolCore& pool, RequirementId id) {
  return pending_.requirement(id).in(pool.state().id).no_move_before > now_;
}

// It may be served now, but is looked at later, with the next decision that looks at it or when
// time has come.
void Core::put_off(PoolCore& pool, BucketId bucket, Instant until) {
  if (pending_.bucket(bucket).put_off_at == pool.claims_version) return;
  pending_.bucket(bucket).put_off_at = pool.claims_version;
  pool.put_off.push_back(bucket);
  pool.put_off_until = std::min(pool.put_off_until, until);
}

// What was put off is looked at as if it had come up now.
void Core::look_again(PoolCore& pool) {
  pool.put_off_until = kNever;
  for (const BucketId id : pool.put_off) {
    // Served by no other rule meanwhile, or there is a change since.
    Bucket& bucket = pending_.bucket(id);
    if (bucket.claimed_at == pool.claims_version) bucket.claimed_at = UINT64_MAX;
    bucket.put_off_at = UINT64_MAX;
  }
  auto& fresh = pool.fresh_claims;
  fresh.insert(fresh.end(), pool.put_off.begin(), pool.put_off.end());
  pool.put_off.clear();
  pool.claims_due = true;
}

// The bucket's head, and where waiting ages those behind it that have a higher priority of their
// own: with that they claim (7.2.a). Ascending by it.
std::vector<WorkloadId> Core::by_own_priority(const PoolCore& pool, const Bucket& bucket) const {
  const auto& entries = bucket.entries;
  std::vector<WorkloadId> out{entries.begin()->workload};
  if (pool.state().spec.aging_interval.ms == 0) return out;
  for (const EntryKey& key : entries) {
    if (workloads_.get(key.workload).priority > workloads_.get(out.back()).priority)
      out.push_back(key.workload);
  }
  return out;
}

// Those of the bucket that claim: and where something is reserved, those who may use what the head
// may not (9.2.b). Of many of these the first, and the one that ends soonest.
std::vector<WorkloadId> Core::claimants(PoolCore& pool, const Bucket& bucket) {
  constexpr std::size_t kMostPassing = 8;
  std::vector<WorkloadId> out = by_own_priority(pool, bucket);
  if (pool.timeline.reservations().empty()) return out;
  std::vector<WorkloadId> passing = who_may_pass(pool, bucket);
  if (passing.size() > kMostPassing)
    passing.erase(passing.begin() + kMostPassing - 1, passing.end() - 1);
  for (const WorkloadId id : passing) {
    if (std::find(out.begin(), out.end(), id) == out.end()) out.push_back(id);
  }
  return out;
}

// The highest priority with which one of the bucket claims.
std::int64_t Core::claim_priority(const PoolCore& pool, const Head& head) const {
  if (pool.state().spec.aging_interval.ms == 0) return workloads_.get(head.key.workload).priority;
  return workloads_.get(by_own_priority(pool, pending_.bucket(head.bucket)).back()).priority;
}

// Whether the pool as a whole has the GPUs free: then they are only scattered (7.3).
bool Core::free_in_all(const PoolCore& pool, const Requirement& requirement) const {
  const PoolSpec& spec = pool.state().spec;
  if (!spec.consolidate || spec.gpu_strategy == Strategy::kSpread) return false;
  std::int64_t milli = 0;  // of devices, whatever they count for a queue (2.7)
  bool any = false;
  for (const auto& [task_class, tasks] : requirement.needs) {
    const TaskClass& task = classes_.get(task_class);
    milli += tasks * task.milli * task.gpu_count;
    any = any || task.needs_gpu();
  }
  const std::int64_t free = pool.state().free_milli(pool.state().all());
  return any && free > 0 && free >= milli;
}

// Whether queues are charged for devices what devices give (2.7).
bool Core::one_to_one(const PoolCore& pool) const {
  return std::all_of(pool.rates.begin(), pool.rates.end(),
                     [](std::int64_t rate) { return rate == kMilli; });
}

// GPU that the queue may lose to others at most: what it holds above its share, as far as its tasks
// are preemptible. Where another resource has a quota too, its tasks may go for that one, and the
// GPU share need not be compared (7.1.a): then all that is preemptible.
std::int64_t Core::takeable_gpu(PoolId pool, QueueId queue, std::int64_t of_children) const {
  const QueueLedger& ledger = queues_.ledger(pool, queue);
  const std::int64_t below =
      queues_.leaf(queue) ? ledger.allocated[kGpuResource] - ledger.non_preemptible[kGpuResource]
                          : of_children;
  for (std::size_t r = 0; r < ledger.allocated.size(); ++r) {
    if (r != kGpuResource && queues_.entitlement(pool, queue, r).quota != kUnlimited) return below;
  }
  if (queues_.entitlement(pool, queue, kGpuResource).quota == kUnlimited) return 0;
  const std::int64_t above = ledger.allocated[kGpuResource] - ledger.fair_share[kGpuResource];
  return std::max<std::int64_t>(0, std::min(above, below));
}

// Cost: O(queues), once per state of the ledgers.
void Core::count_takeable(PoolCore& pool) {
  PoolCore::Takeable& out = pool.takeable;
  if (out.version == pool.claims_version) return;
  out.version = pool.claims_version;
  out.of_queue.assign(queues_.size(), 0);
  out.of_children.assign(queues_.size(), 0);
  out.of_roots = 0;
  const std::vector<QueueId>& order = queues_.parents_first();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const std::size_t q = it->index();
    out.of_queue[q] = takeable_gpu(pool.state().id, *it, out.of_children[q]);
    const QueueId parent = queues_.get(*it).parent;
    (parent.valid() ? out.of_children[parent.index()] : out.of_roots) += out.of_queue[q];
  }
}

// 7.6: proves that no legal set of victims of other queues would do: what is free and what they may
// lose is less GPU than the gang needs. Cost: O(depth).
bool Core::surely_too_little(PoolCore& pool, QueueId queue, const GangRequest& request) {
  if (!one_to_one(pool)) return false;
  std::int64_t need = 0;
  for (const GangRole& role : request.roles) {
    const TaskClass& task = classes_.get(role.task_class);
    if (task.gpu_kind != GpuRequestKind::kDevices && task.gpu_kind != GpuRequestKind::kPortion)
      continue;
    need += std::ssize(role.indices) * task.milli * task.gpu_count;
  }
  std::int64_t most = pool.state().free_milli(pool.state().all());
  if (most >= need) return false;
  count_takeable(pool);
  for (QueueId q = queue; q.valid(); q = queues_.get(q).parent) {
    const QueueId parent = queues_.get(q).parent;
    most += parent.valid() ? pool.takeable.of_children[parent.index()] : pool.takeable.of_roots;
    most -= pool.takeable.of_queue[q.index()];
  }
  return most < need;
}

// Leaf queues above their share by as much as can be taken of them at once.
std::vector<QueueId> Core::losers(const PoolCore& pool) const {
  std::vector<QueueId> out;
  const PoolId id = pool.state().id;
  for (const QueueId q : queues_.parents_first()) {
    const QueueLedger& ledger = queues_.ledger(id, q);
    if (!queues_.leaf(q) || ledger.running.empty()) continue;
    for (std::size_t r = 0; r < ledger.allocated.size(); ++r) {
      if (queues_.entitlement(id, q, r).quota == kUnlimited) continue;
      std::int64_t unit = 1;
      if (r == kGpuResource) {
        if (ledger.by_smallest_unit.empty()) continue;
        unit = ledger.by_smallest_unit.begin()->first;
      }
      if (ledger.allocated[r] - ledger.fair_share[r] < unit) continue;
      out.push_back(q);
      break;
    }
  }
  return out;
}

// Workloads of the queue that hold something that it can lose and keep its share. What
// starts while claims are looked at counts in the next round.
void Core::note_losable(PoolId pool, QueueId queue, std::vector<WorkloadId>& out) const {
  const QueueLedger& ledger = queues_.ledger(pool, queue);
  std::int64_t gpu = 0;  // above its share
  for (std::size_t r = 0; r < ledger.allocated.size(); ++r) {
    if (queues_.entitlement(pool, queue, r).quota == kUnlimited) continue;
    const std::int64_t above = ledger.allocated[r] - ledger.fair_share[r];
    if (r == kGpuResource) {
      gpu = above;
    } else if (above > 0) {
      gpu = INT64_MAX;  // through this one anything may go
      break;
    }
  }
  for (const WorkloadId id : ledger.running) {
    const std::int64_t unit = workloads_.get(id).smallest_unit;
    if (gpu == INT64_MAX || (unit > 0 && unit <= gpu)) out.push_back(id);
  }
}

// Takes back what blocked workloads are entitled to (7). True if something started.
bool Core::claim_all() {
  const std::int64_t before = placements_;
  if (!options_.reclaim && !options_.preempt && !options_.consolidate) return false;
  for (const PoolId id : pending_.pool_order(pools_.size())) {
    PoolCore& pool = *pools_[id.index()];
    if (pool.unprotected_at <= now_ || (pool.spared_in != 0 && pool.spared_in != outside_events_)) {
      ++pool.claims_version;
      pool.claims_due = true;
      pool.unprotected_at = kNever;
      pool.spared_in = 0;
    }
    if (pool.put_off_until <= now_) look_again(pool);
    if (!pool.claims_due && !pool.share_dirty) continue;
    if (pending_.requirements_in(id).empty()) continue;
    ensure_ordered(pool);
    divide(pool);
    pool.claims_due = false;
    pool.losers = losers(pool);
    pool.takeable_gpu = 0;
    for (const QueueId q : pool.losers) pool.takeable_gpu += takeable_gpu(id, q, 0);
    ++pool.turn;
    // What was in vain before stays so while nothing changed that could serve it.
    const std::uint64_t version = pool.claims_version;
    const bool same = version == pool.claims_seen;
    const auto fresh = std::exchange(pool.fresh_claims, {});
    if (!same) {  // then all that was put off is looked at anyway
      pool.put_off.clear();
      pool.put_off_until = kNever;
    }
    pass_->run(pool, same ? Pass::Scope::kFresh : Pass::Scope::kAll, Pass::Claims::kYes, fresh,
               done_);
    // What started or stopped among them may help one that was in vain before.
    pool.claims_seen = version;
    pool.claims_due = pool.claims_due || pool.claims_version != version;
    pool.of_losers = {};
    pool.of_queue.clear();
  }
  return placements_ != before;
}

}  // namespace fairlead::sched
