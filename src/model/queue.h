// Departments and projects: the queue tree (semantics 1 and 3.1). Only leaves hold workloads.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace fairlead {

inline constexpr std::int64_t kUnlimited = -1;

// What a queue is entitled to of one resource of one pool. GPU in milli (of exchange units, 2.7),
// CPU in milli, host memory in bytes, others in units.
struct Entitlement {
  std::int64_t quota = 0;                 // deserved; kUnlimited; 0 nothing guaranteed
  std::int64_t limit = kUnlimited;        // kUnlimited: none
  std::int64_t over_quota_weight = 1000;  // in thousandths; 0: nothing beyond quota

  friend bool operator==(const Entitlement&, const Entitlement&) = default;
};

// Resource names "gpu", "cpu", "memory", or an extended resource. What is not named has the
// defaults of default_entitlement(): for GPU as above, for every other quota = kUnlimited.
using Entitlements = std::map<std::string, Entitlement>;

Entitlement default_entitlement(const std::string& resource);

enum class BudgetPeriod : std::uint8_t { kDay, kWeek, kMonth, kTotal };

// 5.4: at most `gpu_milli_ms` GPU time (milli-GPU × ms) and/or `cost_milli` money (thousandths) per
// period. Periods begin at UTC midnight; weeks on Monday; months on the first.
struct Budget {
  BudgetPeriod period = BudgetPeriod::kMonth;
  std::optional<std::int64_t> gpu_milli_hours;
  std::optional<std::int64_t> cost_milli;
  friend bool operator==(const Budget&, const Budget&) = default;
};

// 5.4: an interval of the week in which the project's workloads may start, minutes since Monday
// 00:00 UTC, [from, to). Wraps past Sunday if to <= from.
struct TimeWindow {
  std::int32_t from_minute = 0;
  std::int32_t to_minute = 0;
  friend bool operator==(const TimeWindow&, const TimeWindow&) = default;
};

struct QueueSpec {
  std::string name;
  std::string parent;                         // empty: a child of the root
  std::int32_t rank = 100;                    // queue priority: higher is served first
  std::map<std::string, Entitlements> pools;  // by pool name
  std::optional<Duration> reclaim_min_runtime;
  std::optional<Duration> preempt_min_runtime;
  std::optional<Budget> budget;
  std::vector<TimeWindow> windows;  // empty: always
  std::optional<Duration> default_expected_runtime;

  friend bool operator==(const QueueSpec&, const QueueSpec&) = default;
};

}  // namespace fairlead
