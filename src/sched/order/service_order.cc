#include "sched/order/service_order.h"

#include <algorithm>

namespace fairlead::sched {

bool served_before(const QueueKey& a, const QueueKey& b) {
  if (a.over_share != b.over_share) return !a.over_share;
  if (a.over_quota_with != b.over_quota_with) return !a.over_quota_with;
  if (a.rank != b.rank) return a.rank > b.rank;
  if (const auto c = a.share_with <=> b.share_with; c != 0) return c < 0;
  if (const auto c = a.share_without <=> b.share_without; c != 0) return c < 0;
  if (a.created != b.created) return a.created < b.created;
  return a.queue < b.queue;
}

QueueKey queue_key(const QueueTree& tree, PoolId pool, QueueId queue, const ResourceVector& demand,
                   const ResourceVector& capacity) {
  const QueueLedger& ledger = tree.ledger(pool, queue);
  QueueKey key;
  key.rank = tree.get(queue).spec.rank;
  key.created = tree.get(queue).created;
  key.queue = queue;
  bool holds = false;
  bool all_over = true;
  const std::size_t n =
      std::max({ledger.allocated.size(), demand.size(), ledger.entitlements.size()});
  for (std::size_t r = 0; r < n; ++r) {
    const std::int64_t held = ledger.allocated[r];
    const std::int64_t asked = demand[r];
    if (held == 0 && asked == 0) continue;
    const Entitlement e = tree.entitlement(pool, queue, r);
    if (held > 0) {
      holds = true;
      all_over = all_over && held > ledger.fair_share[r];
    }
    if (asked > 0 && e.quota != kUnlimited && held + asked > e.quota) key.over_quota_with = true;
    std::int64_t allocatable =
        e.quota == kUnlimited ? capacity[r] : std::max(e.quota, ledger.fair_share[r]);
    if (e.limit != kUnlimited) allocatable = std::min(allocatable, e.limit);
    key.share_with = std::max(key.share_with, Ratio{held + asked, allocatable});
    key.share_without = std::max(key.share_without, Ratio{held, allocatable});
  }
  key.over_share = holds && all_over;
  return key;
}

}  // namespace fairlead::sched
