#include "sched/evict/share_guard.h"

#include <algorithm>

namespace fairlead::sched {

ShareGuard::ShareGuard(const QueueTree& tree, PoolId pool, QueueId claimant,
                       const ResourceVector& demand)
    : tree_(tree), pool_(pool) {
  bool entitled = true;
  for (QueueId q = claimant; q.valid(); q = tree.get(q).parent) {
    path_.push_back(q);
    const QueueLedger& ledger = tree.ledger(pool, q);
    for (std::size_t r = 0; r < demand.size() && entitled; ++r) {
      if (demand[r] == 0 || tree.entitlement(pool, q, r).quota == kUnlimited) continue;
      entitled = ledger.allocated[r] + demand[r] <= ledger.fair_share[r];
    }
    if (entitled) reach_ = path_.size();
  }
}

std::size_t ShareGuard::meeting(QueueId victim, QueueId& below) const {
  for (QueueId q = victim; q.valid(); q = tree_.get(q).parent) {
    below = q;
    const QueueId parent = tree_.get(q).parent;
    if (!parent.valid()) break;
    const auto it = std::find(path_.begin(), path_.end(), parent);
    if (it != path_.end()) return static_cast<std::size_t>(it - path_.begin()) - 1;
  }
  return path_.size() - 1;
}

QueueId ShareGuard::compared(QueueId victim) const {
  QueueId below;
  meeting(victim, below);
  return below;
}

bool ShareGuard::reaches(QueueId victim, const ResourceVector& amounts,
                         const ResourceSet& lacking) const {
  if (path_.empty() || victim == path_.front()) return false;
  QueueId below;
  if (meeting(victim, below) >= reach_) return false;
  for (QueueId q = victim;; q = tree_.get(q).parent) {
    bool through_one = false;
    for (std::size_t r = 0; r < amounts.size() && !through_one; ++r) {
      through_one =
          amounts[r] > 0 && lacking.has(r) && tree_.entitlement(pool_, q, r).quota != kUnlimited;
    }
    if (!through_one) return false;
    if (q == below) return true;
  }
}

bool ShareGuard::keeps(QueueId victim, const ResourceVector& amounts, const ResourceSet& resources,
                       Ledgers ledgers) const {
  QueueId below;
  meeting(victim, below);
  for (QueueId q = victim;; q = tree_.get(q).parent) {
    const QueueLedger& ledger = tree_.ledger(pool_, q);
    for (std::size_t r = 0; r < amounts.size(); ++r) {
      if (amounts[r] == 0 || !resources.has(r)) continue;
      if (tree_.entitlement(pool_, q, r).quota == kUnlimited) continue;
      const std::int64_t left =
          ledger.allocated[r] - (ledgers == Ledgers::kBefore ? amounts[r] : 0);
      if (left < ledger.fair_share[r]) return false;
    }
    if (q == below) return true;
  }
}

}  // namespace fairlead::sched
