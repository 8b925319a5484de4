// Time as integers: Instant is milliseconds since the Unix epoch (UTC), Duration is milliseconds.
//
// Nothing here reads a clock: time always comes in from outside, so that the same events give the
// same decisions (law 1). In the simulator the epoch is the start of the trace.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead {

struct Duration {
  std::int64_t ms = 0;
  friend constexpr auto operator<=>(Duration, Duration) = default;
  friend constexpr Duration operator+(Duration a, Duration b) { return {a.ms + b.ms}; }
  friend constexpr Duration operator-(Duration a, Duration b) { return {a.ms - b.ms}; }
  friend constexpr Duration operator*(Duration a, std::int64_t n) { return {a.ms * n}; }
};

struct Instant {
  std::int64_t ms = 0;
  friend constexpr auto operator<=>(Instant, Instant) = default;
  friend constexpr Instant operator+(Instant t, Duration d) { return {t.ms + d.ms}; }
  friend constexpr Instant operator-(Instant t, Duration d) { return {t.ms - d.ms}; }
  friend constexpr Duration operator-(Instant a, Instant b) { return {a.ms - b.ms}; }
};

inline constexpr Instant kNever{std::numeric_limits<std::int64_t>::max()};

constexpr Duration milliseconds(std::int64_t n) {
  return {n};
}
constexpr Duration seconds(std::int64_t n) {
  return {n * 1000};
}
constexpr Duration minutes(std::int64_t n) {
  return {n * 60'000};
}
constexpr Duration hours(std::int64_t n) {
  return {n * 3'600'000};
}

// "250ms", "90s", "1.5h", "2h30m", "7d", "1w"; a bare "90" is seconds. Exact to the millisecond.
// Error: kInvalidArgument, naming the text and the forms allowed; kOutOfRange above 100 years.
Result<Duration> parse_duration(std::string_view text);

// The shortest exact form that parse_duration reads back: "1h30m", "250ms", "0s".
std::string to_text(Duration d);

// RFC 3339 in UTC: "2026-01-31T08:00:00Z", with ".250" if there are milliseconds.
std::string to_rfc3339(Instant t);

// Error: kInvalidArgument unless RFC 3339 with "Z" or a numeric offset.
Result<Instant> parse_rfc3339(std::string_view text);

}  // namespace fairlead
