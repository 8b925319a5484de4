// levels, class and pool statements.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/decimal.h"
#include "sim/scenario/once.h"
#include "sim/scenario/reading.h"

namespace fairlead::sim {
namespace {

bool has_prefix(const std::string& key, std::string_view prefix) {
  return key.size() > prefix.size() && key.starts_with(prefix);
}

}  // namespace

Result<void> read_levels(Cursor& cursor, Reading& reading) {
  if (!reading.symbols.nodes.empty() || reading.symbols.levels_defined) {
    return cursor.fail_here("levels must come once, above the first node");
  }
  std::vector<std::string> levels;
  while (!cursor.done()) {
    const Word word = cursor.take();
    for (std::string& level : split_list(word.text)) {
      if (level.empty() || level == "host" ||
          std::find(levels.begin(), levels.end(), level) != levels.end()) {
        return cursor.fail(word, fmt::format("'{}' cannot be a level", level),
                           "each level has a name of its own; 'host' is always there");
      }
      levels.push_back(std::move(level));
    }
  }
  if (levels.empty()) return cursor.fail_here("no level is named", "levels rack,switch");
  reading.add(cursor.line(), sched::TopologyDefined{std::move(levels)});
  return {};
}

Result<void> read_class(Cursor& cursor, Reading& reading) {
  FAIRLEAD_ASSIGN(const Word name, cursor.expect_word("the name of the device class"));
  DeviceClass device_class;
  device_class.name = name.text;
  const std::vector<std::string> known = {"memory", "mig-compute", "mig-memory"};
  Once stated;
  while (!cursor.done()) {
    if (cursor.accept("profile")) {
      FAIRLEAD_ASSIGN(const Word profile_name, cursor.expect_word("the name of the MIG profile"));
      MigProfile profile;
      profile.name = profile_name.text;
      FAIRLEAD_TRY(stated.note(cursor, profile_name, "profile " + profile.name));
      Once of_profile_stated;
      while (!cursor.done() && !cursor.at_keyword("profile")) {
        if (!cursor.at_setting()) {
          return cursor.fail(cursor.peek(),
                             fmt::format("'{}' is not a setting", cursor.peek().text),
                             "profile 1g.10gb compute=1 slices=1 memory=9856 starts=0,1,2");
        }
        const Setting s = cursor.take_setting();
        FAIRLEAD_TRY(of_profile_stated.note(cursor, s.word, s.key));
        if (s.key == "compute" || s.key == "slices") {
          FAIRLEAD_ASSIGN(const std::int64_t n, cursor.placed(s.word, parse_count(s.value, 0, 16)));
          (s.key == "compute" ? profile.compute_slices : profile.memory_slices) =
              static_cast<std::int32_t>(n);
        } else if (s.key == "memory") {
          FAIRLEAD_ASSIGN(profile.memory.value, cursor.placed(s.word, parse_mib(s.value)));
        } else if (s.key == "starts") {
          for (const std::string& part : split_list(s.value)) {
            FAIRLEAD_ASSIGN(const std::int64_t n, cursor.placed(s.word, parse_count(part, 0, 15)));
            profile.starts.push_back(static_cast<std::int32_t>(n));
          }
        } else {
          const std::vector<std::string> of_profile = {"compute", "slices", "memory", "starts"};
          return cursor.unknown_setting(s, "a MIG profile", of_profile);
        }
      }
      device_class.mig_profiles.push_back(std::move(profile));
      continue;
    }
    if (!cursor.at_setting()) {
      return cursor.fail(cursor.peek(), fmt::format("'{}' is not a setting", cursor.peek().text),
                         "class CARD memory=46068");
    }
    const Setting s = cursor.take_setting();
    FAIRLEAD_TRY(stated.note(cursor, s.word, s.key));
    if (s.key == "memory") {
      FAIRLEAD_ASSIGN(device_class.memory.value, cursor.placed(s.word, parse_mib(s.value)));
    } else if (s.key == "mig-compute" || s.key == "mig-memory") {
      FAIRLEAD_ASSIGN(const std::int64_t n, cursor.placed(s.word, parse_count(s.value, 0, 16)));
      (s.key == "mig-compute" ? device_class.mig_compute_slices : device_class.mig_memory_slices) =
          static_cast<std::int32_t>(n);
    } else {
      return cursor.unknown_setting(s, "a device class", known);
    }
  }
  if (device_class.memory.value <= 0) {
    return cursor.fail(name, fmt::format("class {} has no memory", name.text),
                       "state it in MiB: memory=46068");
  }
  reading.add(cursor.line(), sched::DeviceClassDefined{std::move(device_class)});
  return {};
}

Result<void> read_pool(Cursor& cursor, Reading& reading, bool change) {
  FAIRLEAD_ASSIGN(const Word name, cursor.expect_word("the name of the pool"));
  PoolSpec pool;
  pool.name = name.text;
  if (change) {
    const auto it = reading.symbols.pools.find(name.text);
    if (it != reading.symbols.pools.end()) {
      pool = it->second;
    } else if (name.text != "default") {
      return cursor.unknown(name, "a pool defined above", names_of(reading.symbols.pools));
    }
  }
  Once stated;
  while (!cursor.done()) {
    if (!cursor.at_setting()) {
      return cursor.fail(cursor.peek(), fmt::format("'{}' is not a setting", cursor.peek().text),
                         "pool default gpu=spread cpu=binpack rate.H100-80GB=2");
    }
    const Setting s = cursor.take_setting();
    FAIRLEAD_TRY(stated.note(cursor, s.word, s.key));
    const auto strategy = [&](Strategy& out) -> Result<void> {
      if (s.value != "binpack" && s.value != "spread") {
        return cursor.fail(s.word, fmt::format("'{}' is not a strategy", s.value),
                           "allowed: binpack, spread");
      }
      out = s.value == "spread" ? Strategy::kSpread : Strategy::kBinpack;
      return {};
    };
    const auto duration = [&](Duration& out) -> Result<void> {
      FAIRLEAD_ASSIGN(out, cursor.placed(s.word, parse_duration(s.value)));
      return {};
    };
    if (s.key == "gpu") {
      FAIRLEAD_TRY(strategy(pool.gpu_strategy));
    } else if (s.key == "cpu") {
      FAIRLEAD_TRY(strategy(pool.cpu_strategy));
    } else if (has_prefix(s.key, "rate.")) {
      FAIRLEAD_ASSIGN(pool.exchange_rates[s.key.substr(5)],
                      cursor.placed(s.word, parse_decimal(s.value, 3)));
    } else if (has_prefix(s.key, "price.")) {
      FAIRLEAD_ASSIGN(pool.prices[s.key.substr(6)],
                      cursor.placed(s.word, parse_decimal(s.value, 3)));
    } else if (s.key == "k") {
      FAIRLEAD_ASSIGN(pool.k_value_milli, cursor.placed(s.word, parse_decimal(s.value, 3)));
    } else if (s.key == "half-life") {
      FAIRLEAD_TRY(duration(pool.usage_half_life));
    } else if (s.key == "window") {
      if (s.value != "sliding" && s.value != "tumbling") {
        return cursor.fail(s.word, fmt::format("'{}' is not a window", s.value),
                           "allowed: sliding, tumbling");
      }
      pool.usage_window = s.value == "sliding" ? UsageWindow::kSliding : UsageWindow::kTumbling;
    } else if (s.key == "window-length") {
      FAIRLEAD_TRY(duration(pool.usage_window_length));
    } else if (s.key == "aging") {
      FAIRLEAD_TRY(duration(pool.aging_interval));
    } else if (s.key == "aging-max") {
      FAIRLEAD_ASSIGN(const std::int64_t n,
                      cursor.placed(s.word, parse_count(s.value, 0, 1'000'000)));
      pool.aging_max = static_cast<std::int32_t>(n);
    } else if (s.key == "reservations") {
      FAIRLEAD_ASSIGN(const std::int64_t n,
                      cursor.placed(s.word, parse_count(s.value, 0, kMostReservations)));
      pool.reservations = static_cast<std::int32_t>(n);
    } else if (s.key == "consolidate") {
      if (s.value != "yes" && s.value != "no") {
        return cursor.fail(s.word, fmt::format("'{}' is neither yes nor no", s.value),
                           "consolidate=no keeps running tasks where they are");
      }
      pool.consolidate = s.value == "yes";
    } else {
      const std::vector<std::string> known = {"gpu",   "cpu",       "rate.CLASS",   "price.CLASS",
                                              "k",     "half-life", "window",       "window-length",
                                              "aging", "aging-max", "reservations", "consolidate"};
      return cursor.unknown_setting(s, "a pool", known);
    }
  }
  reading.add(cursor.line(), sched::PoolDefined{std::move(pool)});
  return {};
}

}  // namespace fairlead::sim
