// Node pools: each node is in exactly one; quotas, shares and strategies are per pool.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/time.h"

namespace fairlead {

inline constexpr std::int32_t kMostReservations = 1000;

enum class Strategy : std::uint8_t { kBinpack, kSpread };

// How usage is remembered for phase 2 of the division (3.3).
enum class UsageWindow : std::uint8_t { kSliding, kTumbling };

struct PoolSpec {
  std::string name = "default";
  Strategy gpu_strategy = Strategy::kBinpack;
  Strategy cpu_strategy = Strategy::kBinpack;
  // 2.7: how many quota units one device of a class counts, in thousandths (2000 = 2.0).
  // A class that is not named counts 1000.
  std::map<std::string, std::int64_t> exchange_rates;
  // 5.4: price of one device-hour of a class, in thousandths of the site's currency.
  std::map<std::string, std::int64_t> prices;
  std::int64_t k_value_milli = 0;  // 3.2 k, in thousandths; 0: history does not count
  Duration usage_half_life = hours(24 * 7);
  UsageWindow usage_window = UsageWindow::kSliding;
  Duration usage_window_length = hours(24 * 7);  // tumbling: usage is forgotten at each multiple
  // 4.2 aging: each `aging_interval` of waiting raises effective priority by 1, at most
  // `aging_max`; interval 0 is off.
  Duration aging_interval{0};
  std::int32_t aging_max = 0;
  // 9.2: so many blocked workloads hold reservations; 0: none, every hole is filled.
  std::int32_t reservations = 8;  // 0 to kMostReservations
  bool consolidate = true;        // 7.3: running tasks may be moved; never where GPUs are spread

  friend bool operator==(const PoolSpec&, const PoolSpec&) = default;
};

}  // namespace fairlead
