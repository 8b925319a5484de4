// The queue tree and its ledgers: what each queue is entitled to, holds, and asks, per pool.
//
// Invariant: what a parent holds and asks is the sum over its children. charge() walks the
// ancestors, so it is O(depth × resources). Fair shares are divided anew only when something they
// depend on changed: O(queues × rounds) per resource (share/division.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/queue.h"
#include "sched/ids.h"
#include "sched/share/division.h"
#include "sched/state/resource_vector.h"
#include "sched/state/task_class.h"

namespace fairlead::sched {

struct QueueState {
  QueueSpec spec;
  QueueId parent;  // invalid: top level
  std::vector<QueueId> children;
  std::int64_t created = 0;  // order of creation: lower is older
  std::int64_t workloads = 0;
  std::int32_t depth = 0;  // 0: top level
  bool alive = false;
};

// One queue in one pool.
struct QueueLedger {
  std::vector<Entitlement> entitlements;  // by resource index
  ResourceVector allocated;
  ResourceVector non_preemptible;  // the part of allocated that counts for 5.2
  ResourceVector pending;          // demand of what waits
  ResourceVector reserved;         // demand of what waits and has a reservation (9.2)
  ResourceVector reserved_non_preemptible;
  ResourceVector fair_share;
  // Of leaves, for rule 7: running workloads; preemptible tasks by priority; workloads by the least
  // GPU that can be taken of them at once, if any.
  std::vector<WorkloadId> running;
  std::map<std::int32_t, std::int64_t> preemptible_by_priority;
  std::map<std::int64_t, std::int64_t> by_smallest_unit;
  // 5.4: what was used in the present budget period, GPU milli × ms and price × ms.
  Int128 budget_gpu = 0;
  Int128 budget_cost = 0;
  std::int64_t cost_rate = 0;  // price of all that is allocated, thousandths per hour
  Instant budget_updated;
};

// Where nothing is stated (2.6).
const Entitlement& entitlement_where_none_is_stated(std::size_t resource);

class QueueTree {
 public:
  explicit QueueTree(const ResourceNames& resources) : resources_(resources) {}

  // Errors: kNotFound (parent), kInvalidArgument (a cycle), kConflict (a parent that holds
  // workloads, or a leaf with workloads that would become a parent). What was spent up to `now` was
  // spent where the queue was, under the budget it had.
  Result<void> upsert(const QueueSpec& spec, Instant now);
  Result<void> remove(const std::string& name);

  void add_pool(PoolId pool, const std::string& name);
  // A resource got a name: entitlements stated for it come into force.
  void refresh_entitlements();

  QueueId find(const std::string& name) const;  // invalid if unknown
  QueueState& get(QueueId id) { return queues_[id.index()]; }
  const QueueState& get(QueueId id) const { return queues_[id.index()]; }
  bool leaf(QueueId id) const { return queues_[id.index()].children.empty(); }
  std::size_t size() const { return queues_.size(); }
  const std::vector<QueueId>& parents_first() const { return order_; }
  const std::vector<QueueId>& roots() const { return roots_; }

  QueueLedger& ledger(PoolId pool, QueueId queue) { return ledgers_[pool.index()][queue.index()]; }
  const QueueLedger& ledger(PoolId pool, QueueId queue) const {
    return ledgers_[pool.index()][queue.index()];
  }
  const Entitlement& entitlement(PoolId pool, QueueId queue, std::size_t resource) const {
    const auto& all = ledger(pool, queue).entitlements;
    return resource < all.size() ? all[resource] : entitlement_where_none_is_stated(resource);
  }

  // Adds `amounts × times` to a leaf and its ancestors.
  void charge(PoolId pool, QueueId leaf, const ResourceVector& amounts, std::int64_t times,
              bool non_preemptible, std::int64_t cost_rate, Instant now);
  void demand(PoolId pool, QueueId leaf, const ResourceVector& amounts, std::int64_t times);

  // The same for what is reserved: it counts at gates like what is allocated.
  void reserve(PoolId pool, QueueId leaf, const ResourceVector& amounts, std::int64_t times,
               bool non_preemptible);

  // 3.2 over the whole tree of one pool; usage in parts per billion by queue and resource comes
  // from `usage` (may be empty). True if some share changed.
  bool divide(PoolId pool, const ResourceVector& capacity, std::int64_t k_milli,
              const std::vector<std::vector<std::int64_t>>& usage);

  // Brings what was spent up to `now`, beginning a new period if one began.
  void settle_budget(PoolId pool, QueueId queue, Instant now);

  // What a queue has spent in the present period over all pools: (milli-GPU × ms, thousandths of
  // money per hour × ms).
  std::pair<Int128, Int128> budget_spent(QueueId queue, Instant now);

 private:
  void rebuild_order();
  void fill_entitlements(PoolId pool, QueueId queue);

  const ResourceNames& resources_;
  std::vector<QueueState> queues_;
  std::map<std::string, QueueId> by_name_;
  std::vector<std::string> pool_names_;            // by PoolId
  std::vector<std::vector<QueueLedger>> ledgers_;  // [pool][queue]
  std::vector<QueueId> order_;
  std::vector<QueueId> roots_;
  std::int64_t next_created_ = 0;
  Divider divider_;
  std::vector<DivisionQueue> division_;
  std::vector<std::int64_t> shares_;
};

// Start of the budget period that holds `t`, and of the next one.
std::pair<Instant, Instant> budget_period(BudgetPeriod period, Instant t);

}  // namespace fairlead::sched
