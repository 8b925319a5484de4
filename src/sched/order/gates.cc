#include "sched/order/gates.h"

#include <algorithm>
#include <optional>

#include "base/decimal.h"
#include "sched/explain/text.h"

namespace fairlead::sched {
namespace {

constexpr std::int64_t kMsPerMinute = 60'000;
constexpr std::int64_t kMinutesPerWeek = 7 * 24 * 60;

// Minutes since Monday 00:00 UTC. The epoch was a Thursday.
std::int64_t minute_of_week(Instant t) {
  const std::int64_t minutes = t.ms / kMsPerMinute - (t.ms % kMsPerMinute < 0 ? 1 : 0);
  const std::int64_t shifted = (minutes + 3 * 24 * 60) % kMinutesPerWeek;
  return shifted < 0 ? shifted + kMinutesPerWeek : shifted;
}

bool inside(const TimeWindow& w, std::int64_t minute) {
  if (w.from_minute < w.to_minute) return minute >= w.from_minute && minute < w.to_minute;
  return minute >= w.from_minute || minute < w.to_minute;
}

bool window_open(const std::vector<TimeWindow>& windows, Instant now) {
  if (windows.empty()) return true;
  const std::int64_t minute = minute_of_week(now);
  return std::any_of(windows.begin(), windows.end(),
                     [&](const TimeWindow& w) { return inside(w, minute); });
}

Instant next_opening(const std::vector<TimeWindow>& windows, Instant now) {
  Instant best = kNever;
  const std::int64_t minute = minute_of_week(now);
  const std::int64_t start = now.ms - ((now.ms % kMsPerMinute) + kMsPerMinute) % kMsPerMinute;
  for (const TimeWindow& w : windows) {
    std::int64_t wait = w.from_minute - minute;
    if (wait <= 0) wait += kMinutesPerWeek;
    best = std::min(best, Instant{start + wait * kMsPerMinute});
  }
  return best;
}

// Milli-GPU × ms of `milli_hours` GPU-hours × 1000, or price-thousandths × ms likewise.
Int128 per_hour(std::int64_t amount) {
  return Int128{amount} * 3'600'000;
}

}  // namespace

std::optional<Instant> windows_open_from(const QueueTree& tree, QueueId queue, Instant t) {
  const Instant end = t + hours(24 * 7);
  while (t <= end) {
    Instant next = t;
    for (QueueId q = queue; q.valid(); q = tree.get(q).parent) {
      const auto& windows = tree.get(q).spec.windows;
      if (!window_open(windows, t)) next = std::max(next, next_opening(windows, t));
    }
    if (next == t) return t;
    t = next;
  }
  return std::nullopt;
}

namespace {

struct GateCheck {
  QueueTree& tree;
  const ResourceNames& resources;
  const GateRequest& request;
  Instant now;
  std::vector<Reason>* reasons;

  // 5.1
  bool limits(QueueId q) {
    bool open = true;
    const QueueLedger& l = tree.ledger(request.pool, q);
    for (std::size_t r = 0; r < request.demand->size(); ++r) {
      const std::int64_t asked = (*request.demand)[r];
      if (asked == 0) continue;
      const Entitlement e = tree.entitlement(request.pool, q, r);
      const std::int64_t held = l.allocated[r] + (request.past_reservations ? 0 : l.reserved[r]);
      if (e.limit == kUnlimited || held + asked <= e.limit) continue;
      open = false;
      if (!reasons) return false;
      Reason reason = queue_reason(ReasonCode::kOverLimit, "5.1", q, r, asked,
                                   std::max<std::int64_t>(0, e.limit - held));
      reason.text = over_limit_text(reason, e.limit, l.allocated[r]) + reserved_text(r, l.reserved);
      reason.cheapest = raise(ChangeKind::kRaiseLimit, q, r, e.limit, held + asked);
      reasons->push_back(std::move(reason));
    }
    return open;
  }

  // 5.2, 5.3
  bool quotas(QueueId q) {
    bool open = true;
    const QueueLedger& l = tree.ledger(request.pool, q);
    for (std::size_t r = 0; r < request.demand->size(); ++r) {
      const std::int64_t asked = (*request.demand)[r];
      if (asked == 0) continue;
      const Entitlement e = tree.entitlement(request.pool, q, r);
      const std::int64_t held =
          l.non_preemptible[r] + (request.past_reservations ? 0 : l.reserved_non_preemptible[r]);
      if (e.quota == kUnlimited || held + asked <= e.quota) continue;
      open = false;
      if (!reasons) return false;
      Reason reason = queue_reason(ReasonCode::kNonPreemptibleQuota, "5.2", q, r, asked,
                                   std::max<std::int64_t>(0, e.quota - held));
      reason.text = over_quota_text(reason, e.quota, l.non_preemptible[r]) +
                    reserved_text(r, l.reserved_non_preemptible);
      reason.cheapest = raise(ChangeKind::kRaiseQuota, q, r, e.quota, held + asked);
      reasons->push_back(std::move(reason));
    }
    return open;
  }

  // 5.4
  bool window(QueueId q) {
    const auto& windows = tree.get(q).spec.windows;
    if (window_open(windows, now)) return true;
    if (!reasons) return false;
    const Instant opens = next_opening(windows, now);
    Reason reason = queue_reason(ReasonCode::kOutsideWindow, "5.4", q, kGpuResource, 0, 0);
    reason.resource.clear();
    reason.text = "project " + reason.subject +
                  " may start workloads only in its time windows; the next opens at " +
                  to_rfc3339(opens);
    if (const auto all = windows_open_from(tree, request.queue, opens)) {
      const std::string at = to_rfc3339(*all);
      reason.cheapest =
          Change{ChangeKind::kWaitUntil, reason.subject, {}, 0, *all, "wait until " + at};
    }
    reasons->push_back(std::move(reason));
    return false;
  }

  bool budget(QueueId q) {
    const auto& budget = tree.get(q).spec.budget;
    if (!budget) return true;
    const auto [gpu, cost] = tree.budget_spent(q, now);
    const bool gpu_spent = budget->gpu_milli_hours && gpu >= per_hour(*budget->gpu_milli_hours);
    const bool cost_spent = budget->cost_milli && cost >= per_hour(*budget->cost_milli);
    if (!gpu_spent && !cost_spent) return true;
    if (!reasons) return false;
    const Instant renews = budget_period(budget->period, now).second;
    Reason reason = queue_reason(ReasonCode::kBudgetSpent, "5.4", q, kGpuResource, 0, 0);
    if (gpu_spent) {
      reason.asked = *budget->gpu_milli_hours;
      reason.resource = "gpu-hours";
    } else {
      reason.asked = *budget->cost_milli;
      reason.resource = "cost";
    }
    reason.text = "the budget of " + reason.subject +
                  " is spent: " + decimal_text(reason.asked, 3) +
                  (gpu_spent ? " GPU-hours" : " of money") + " per period";
    if (renews != kNever) {
      reason.text += "; it renews at " + to_rfc3339(renews);
      reason.cheapest = Change{ChangeKind::kWaitUntil,
                               reason.subject,
                               {},
                               0,
                               renews,
                               "wait until " + to_rfc3339(renews)};
    }
    reasons->push_back(std::move(reason));
    return false;
  }

  // 9.2: what waits with a reservation counts too.
  std::string reserved_text(std::size_t resource, const ResourceVector& reserved) const {
    if (reserved[resource] == 0) return {};
    const std::string name = resources.name(Id<struct ResourceTag>(resource));
    return "; " + amount_text(name, reserved[resource]) + " more are reserved for what waits";
  }

  Reason queue_reason(ReasonCode code, const char* rule, QueueId q, std::size_t resource,
                      std::int64_t asked, std::int64_t available) const {
    Reason reason;
    reason.code = code;
    reason.rule = rule;
    reason.subject = tree.get(q).spec.name;
    reason.resource = resources.name(Id<struct ResourceTag>(resource));
    reason.asked = asked;
    reason.available = available;
    return reason;
  }

  Change raise(ChangeKind kind, QueueId q, std::size_t resource, std::int64_t from,
               std::int64_t to) const {
    const std::string name = resources.name(Id<struct ResourceTag>(resource));
    Change change{kind, tree.get(q).spec.name, name, to, {}, {}};
    change.text = std::string("raise the ") + resource_label(name) +
                  (kind == ChangeKind::kRaiseLimit ? " limit of " : " quota of ") + change.target +
                  " from " + amount_text(name, from) + " to " + amount_text(name, to);
    return change;
  }
};

}  // namespace

bool gates_open(QueueTree& tree, const ResourceNames& resources, const GateRequest& request,
                Instant now, std::vector<Reason>* reasons) {
  GateCheck check{tree, resources, request, now, reasons};
  bool open = true;
  for (QueueId q = request.queue; q.valid(); q = tree.get(q).parent) {
    open = check.limits(q) && open;
    if (!open && !reasons) return false;
    if (request.non_preemptible) open = check.quotas(q) && open;
    if (!open && !reasons) return false;
    open = check.window(q) && open;
    open = check.budget(q) && open;
    if (!open && !reasons) return false;
  }
  return open;
}

Instant next_gate_change(const QueueTree& tree, QueueId queue, Instant now) {
  Instant best = kNever;
  for (QueueId q = queue; q.valid(); q = tree.get(q).parent) {
    const QueueSpec& spec = tree.get(q).spec;
    if (!spec.windows.empty() && !window_open(spec.windows, now)) {
      best = std::min(best, next_opening(spec.windows, now));
    }
    if (spec.budget) best = std::min(best, budget_period(spec.budget->period, now).second);
  }
  return best;
}

}  // namespace fairlead::sched
