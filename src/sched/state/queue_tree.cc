#include "sched/state/queue_tree.h"

#include <algorithm>
#include <chrono>

#include "base/check.h"

namespace fairlead::sched {

const Entitlement& entitlement_where_none_is_stated(std::size_t resource) {
  static const Entitlement gpu = default_entitlement("gpu");
  static const Entitlement other = default_entitlement("cpu");
  return resource == kGpuResource ? gpu : other;
}

std::pair<Instant, Instant> budget_period(BudgetPeriod period, Instant t) {
  using namespace std::chrono;
  const sys_days day =
      floor<days>(sys_time<std::chrono::milliseconds>(std::chrono::milliseconds(t.ms)));
  const auto instant = [](sys_days d) {
    return Instant{duration_cast<std::chrono::milliseconds>(d.time_since_epoch()).count()};
  };
  switch (period) {
    case BudgetPeriod::kDay:
      return {instant(day), instant(day + days(1))};
    case BudgetPeriod::kWeek: {
      const sys_days monday = day - (weekday(day) - Monday);
      return {instant(monday), instant(monday + days(7))};
    }
    case BudgetPeriod::kMonth: {
      const year_month_day ymd(day);
      const sys_days first{ymd.year() / ymd.month() / 1};
      const sys_days next{(ymd.year() / ymd.month() + months(1)) / 1};
      return {instant(first), instant(next)};
    }
    case BudgetPeriod::kTotal:
      return {Instant{INT64_MIN}, kNever};
  }
  return {Instant{INT64_MIN}, kNever};
}

Result<void> QueueTree::upsert(const QueueSpec& spec, Instant now) {
  QueueId parent;
  if (!spec.parent.empty()) {
    parent = find(spec.parent);
    if (!parent.valid()) {
      return fail(
          ErrorCode::kNotFound,
          "queue '" + spec.name + "' names the parent '" + spec.parent + "', which does not exist",
          "create '" + spec.parent + "' first");
    }
    if (leaf(parent) && get(parent).workloads > 0) {
      return fail(ErrorCode::kConflict,
                  "queue '" + spec.parent + "' holds workloads, so it cannot become a parent",
                  "only leaves hold workloads: move or remove them first");
    }
  }
  const QueueId present = find(spec.name);
  if (present.valid()) {
    for (QueueId up = parent; up.valid(); up = get(up).parent) {
      if (up == present) {
        return fail(
            ErrorCode::kInvalidArgument,
            "queue '" + spec.name + "' under '" + spec.parent + "' would be its own ancestor",
            "choose a parent that does not lie below it");
      }
    }
  }
  for (std::size_t p = 0; present.valid() && p < ledgers_.size(); ++p) {
    for (const QueueId from : {present, parent}) {
      for (QueueId up = from; up.valid(); up = get(up).parent) settle_budget(PoolId(p), up, now);
    }
  }
  QueueId id = present;
  if (!present.valid()) {
    id = QueueId(queues_.size());
    queues_.emplace_back();
    queues_.back().created = next_created_++;
    queues_.back().alive = true;
    by_name_.emplace(spec.name, id);
    for (auto& pool : ledgers_) pool.emplace_back();
  }
  QueueState& queue = get(id);
  const QueueId old_parent = queue.parent;
  if (present.valid() && old_parent != parent) {
    // What it holds and asks moves with it.
    for (std::size_t p = 0; p < ledgers_.size(); ++p) {
      const QueueLedger& own = ledgers_[p][id.index()];
      for (const auto& [from, sign] : {std::pair{old_parent, -1}, std::pair{parent, 1}}) {
        for (QueueId up = from; up.valid(); up = get(up).parent) {
          QueueLedger& ledger = ledgers_[p][up.index()];
          ledger.allocated.add(own.allocated, sign);
          ledger.non_preemptible.add(own.non_preemptible, sign);
          ledger.pending.add(own.pending, sign);
          ledger.reserved.add(own.reserved, sign);
          ledger.reserved_non_preemptible.add(own.reserved_non_preemptible, sign);
          ledger.cost_rate += sign * own.cost_rate;
        }
      }
    }
  }
  queue.spec = spec;
  queue.parent = parent;
  rebuild_order();
  for (std::size_t p = 0; p < ledgers_.size(); ++p) fill_entitlements(PoolId(p), id);
  return {};
}

Result<void> QueueTree::remove(const std::string& name) {
  const QueueId id = find(name);
  if (!id.valid()) return fail(ErrorCode::kNotFound, "no queue is named '" + name + "'");
  const QueueState& queue = get(id);
  if (!queue.children.empty()) {
    return fail(ErrorCode::kConflict, "queue '" + name + "' has child queues", "remove them first");
  }
  if (queue.workloads > 0) {
    return fail(ErrorCode::kConflict,
                "queue '" + name + "' holds " + std::to_string(queue.workloads) + " workloads",
                "remove or move them first");
  }
  get(id).alive = false;
  by_name_.erase(name);
  rebuild_order();
  return {};
}

void QueueTree::rebuild_order() {
  order_.clear();
  roots_.clear();
  for (QueueState& q : queues_) q.children.clear();
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    if (!queues_[i].alive) continue;
    if (queues_[i].parent.valid()) {
      get(queues_[i].parent).children.push_back(QueueId(i));
    } else {
      roots_.push_back(QueueId(i));
    }
  }
  order_ = roots_;
  for (const QueueId root : roots_) get(root).depth = 0;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const QueueState& q = get(order_[i]);
    for (const QueueId child : q.children) get(child).depth = q.depth + 1;
    order_.insert(order_.end(), q.children.begin(), q.children.end());
  }
}

void QueueTree::add_pool(PoolId pool, const std::string& name) {
  FAIRLEAD_CHECK(pool.index() == ledgers_.size(), "pools get ids in order");
  pool_names_.push_back(name);
  ledgers_.emplace_back(queues_.size());
  for (std::size_t q = 0; q < queues_.size(); ++q) fill_entitlements(pool, QueueId(q));
}

void QueueTree::refresh_entitlements() {
  for (std::size_t p = 0; p < ledgers_.size(); ++p) {
    for (std::size_t q = 0; q < queues_.size(); ++q) fill_entitlements(PoolId(p), QueueId(q));
  }
}

void QueueTree::fill_entitlements(PoolId pool, QueueId queue) {
  auto& out = ledger(pool, queue).entitlements;
  out.clear();
  for (std::size_t r = 0; r < resources_.size(); ++r)
    out.push_back(entitlement_where_none_is_stated(r));
  const auto& pools = get(queue).spec.pools;
  const auto stated = pools.find(pool_names_[pool.index()]);
  if (stated == pools.end()) return;
  for (const auto& [name, entitlement] : stated->second) {
    if (const auto r = resources_.find(name)) out[r->index()] = entitlement;
  }
}

QueueId QueueTree::find(const std::string& name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? QueueId{} : it->second;
}

void QueueTree::charge(PoolId pool, QueueId leaf_queue, const ResourceVector& amounts,
                       std::int64_t times, bool non_preemptible, std::int64_t cost_rate,
                       Instant now) {
  for (QueueId q = leaf_queue; q.valid(); q = get(q).parent) {
    settle_budget(pool, q, now);
    QueueLedger& l = ledger(pool, q);
    l.allocated.add(amounts, times);
    if (non_preemptible) l.non_preemptible.add(amounts, times);
    l.cost_rate += cost_rate * times;
  }
}

void QueueTree::reserve(PoolId pool, QueueId leaf, const ResourceVector& amounts,
                        std::int64_t times, bool non_preemptible) {
  for (QueueId q = leaf; q.valid(); q = get(q).parent) {
    QueueLedger& l = ledger(pool, q);
    l.reserved.add(amounts, times);
    if (non_preemptible) l.reserved_non_preemptible.add(amounts, times);
  }
}

void QueueTree::demand(PoolId pool, QueueId leaf_queue, const ResourceVector& amounts,
                       std::int64_t times) {
  for (QueueId q = leaf_queue; q.valid(); q = get(q).parent)
    ledger(pool, q).pending.add(amounts, times);
}

void QueueTree::settle_budget(PoolId pool, QueueId queue, Instant now) {
  const auto& budget = get(queue).spec.budget;
  QueueLedger& l = ledger(pool, queue);
  if (budget) {
    Instant from = l.budget_updated;
    const Instant begin = budget_period(budget->period, now).first;
    if (from < begin) {
      l.budget_gpu = 0;
      l.budget_cost = 0;
      from = begin;
    }
    const std::int64_t ms = (now - from).ms;
    l.budget_gpu += Int128{l.allocated[kGpuResource]} * ms;
    l.budget_cost += Int128{l.cost_rate} * ms;
  }
  l.budget_updated = now;
}

std::pair<Int128, Int128> QueueTree::budget_spent(QueueId queue, Instant now) {
  std::pair<Int128, Int128> spent{0, 0};
  for (std::size_t p = 0; p < ledgers_.size(); ++p) {
    settle_budget(PoolId(p), queue, now);
    const QueueLedger& l = ledger(PoolId(p), queue);
    spent.first += l.budget_gpu;
    spent.second += l.budget_cost;
  }
  return spent;
}

bool QueueTree::divide(PoolId pool, const ResourceVector& capacity, std::int64_t k_milli,
                       const std::vector<std::vector<std::int64_t>>& usage) {
  bool changed = false;
  std::vector<std::int32_t> position(queues_.size(), -1);
  division_.resize(order_.size());
  shares_.resize(order_.size());
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const QueueState& q = get(order_[i]);
    position[order_[i].index()] = static_cast<std::int32_t>(i);
    division_[i].parent = q.parent.valid() ? position[q.parent.index()] : -1;
    division_[i].rank = q.spec.rank;
    division_[i].created = q.created;
    division_[i].id = static_cast<std::int64_t>(order_[i].index());
  }
  for (std::size_t r = 0; r < resources_.size(); ++r) {
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const QueueLedger& l = ledger(pool, order_[i]);
      const Entitlement e = entitlement(pool, order_[i], r);
      DivisionQueue& d = division_[i];
      d.quota = e.quota;
      d.limit = e.limit;
      d.over_quota_weight = e.over_quota_weight;
      d.requested = leaf(order_[i]) ? l.allocated[r] + l.pending[r] : kSumOfChildren;
      const bool known = r < usage.size() && order_[i].index() < usage[r].size();
      d.usage_ppb = known ? usage[r][order_[i].index()] : 0;
    }
    divider_.divide({capacity[r], r == kGpuResource ? kMilli : 1, k_milli, division_}, shares_);
    for (std::size_t i = 0; i < order_.size(); ++i) {
      std::int64_t& share = ledger(pool, order_[i]).fair_share.at(r);
      changed = changed || share != shares_[i];
      share = shares_[i];
    }
  }
  return changed;
}

}  // namespace fairlead::sched
