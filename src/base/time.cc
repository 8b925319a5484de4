#include "base/time.h"

#include <array>

#include "base/wide.h"

namespace fairlead {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t ms;
};

// "ms" before "m" and "s": the longest name that matches is meant.
constexpr std::array<Unit, 6> kUnits{{{"ms", 1},
                                      {"s", 1'000},
                                      {"m", 60'000},
                                      {"h", 3'600'000},
                                      {"d", 86'400'000},
                                      {"w", 604'800'000}}};
constexpr std::int64_t kLongest = std::int64_t{100} * 366 * 86'400'000;
constexpr std::int64_t kDayMs = 86'400'000;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::unexpected<Error> not_a_duration(std::string_view text) {
  return fail(ErrorCode::kInvalidArgument, "\"" + std::string(text) + "\" is not a duration",
              "write it as 250ms, 90s, 1.5h, 2h30m, 7d or 1w; a bare number is seconds");
}

// Days since 1970-01-01 of a date of the proleptic Gregorian calendar, and back (Howard Hinnant,
// "chrono-compatible low-level date algorithms").
std::int64_t days_from_civil(std::int64_t y, int m, int d) {
  y -= m <= 2;
  const std::int64_t era = (y >= 0 ? y : y - 399) / 400;
  const std::int64_t yoe = y - era * 400;
  const std::int64_t doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
  const std::int64_t doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
  return era * 146'097 + doe - 719'468;
}

struct Date {
  std::int64_t year;
  int month;
  int day;
};

Date civil_from_days(std::int64_t z) {
  z += 719'468;
  const std::int64_t era = (z >= 0 ? z : z - 146'096) / 146'097;
  const std::int64_t doe = z - era * 146'097;
  const std::int64_t yoe = (doe - doe / 1460 + doe / 36'524 - doe / 146'096) / 365;
  const std::int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  const std::int64_t mp = (5 * doy + 2) / 153;
  const int day = static_cast<int>(doy - (153 * mp + 2) / 5 + 1);
  const int month = static_cast<int>(mp < 10 ? mp + 3 : mp - 9);
  return {yoe + era * 400 + (month <= 2), month, day};
}

int days_in_month(int year, int month) {
  constexpr std::array<int, 12> kDays{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : kDays[static_cast<std::size_t>(month - 1)];
}

// Reads fixed-width numbers and single characters off the front; `ok` stays false after a miss.
struct Cursor {
  std::string_view rest;
  bool ok = true;

  int number(std::size_t width) {
    int value = 0;
    for (std::size_t i = 0; i < width; ++i) {
      if (rest.size() <= i || !is_digit(rest[i])) {
        ok = false;
        return 0;
      }
      value = value * 10 + (rest[i] - '0');
    }
    rest.remove_prefix(width);
    return value;
  }
  bool take(std::string_view any_of) {
    if (rest.empty() || any_of.find(rest.front()) == std::string_view::npos) return false;
    rest.remove_prefix(1);
    return true;
  }
  void expect(std::string_view any_of) { ok = take(any_of) && ok; }
};

void append_number(std::string& out, std::int64_t value, std::size_t width) {
  std::string digits = std::to_string(value);
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  out += digits;
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  std::string_view rest = text;
  if (rest.empty()) return not_a_duration(text);
  Int128 total = 0;
  std::int64_t last_unit = 0;
  while (!rest.empty()) {
    Int128 value = 0;
    Int128 scale = 1;
    std::size_t i = 0;
    bool fraction = false;
    std::size_t digits = 0;
    for (; i < rest.size() && (is_digit(rest[i]) || (rest[i] == '.' && !fraction)); ++i) {
      if (rest[i] == '.') {
        fraction = true;
        continue;
      }
      if (++digits > 18) return not_a_duration(text);
      value = value * 10 + (rest[i] - '0');
      if (fraction) scale *= 10;
    }
    if (i == 0 || digits == 0 || !is_digit(rest[0]) || rest[i - 1] == '.')
      return not_a_duration(text);
    rest.remove_prefix(i);
    std::int64_t unit = 0;
    if (rest.empty() && last_unit == 0) unit = 1'000;
    for (const Unit& candidate : kUnits) {
      if (unit != 0 || !rest.starts_with(candidate.name)) continue;
      unit = candidate.ms;
      rest.remove_prefix(candidate.name.size());
    }
    // Units go down: "30m2h" and "2h2h" are slips, not durations.
    if (unit == 0 || (last_unit != 0 && unit >= last_unit)) return not_a_duration(text);
    last_unit = unit;
    if (value * unit % scale != 0) {
      return fail(ErrorCode::kInvalidArgument,
                  "\"" + std::string(text) + "\" is not a whole number of milliseconds");
    }
    total += value * unit / scale;
    if (total > kLongest) {
      return fail(ErrorCode::kOutOfRange, "\"" + std::string(text) + "\" is more than 100 years");
    }
  }
  return Duration{static_cast<std::int64_t>(total)};
}

std::string to_text(Duration d) {
  if (d.ms == 0) return "0s";
  std::string out = d.ms < 0 ? "-" : "";
  std::uint64_t left = static_cast<std::uint64_t>(d.ms);
  if (d.ms < 0) left = 0 - left;
  constexpr std::array<Unit, 5> kPrinted{
      {{"d", kDayMs}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};
  for (const Unit& unit : kPrinted) {
    const auto size = static_cast<std::uint64_t>(unit.ms);
    if (left < size) continue;
    out += std::to_string(left / size);
    out += unit.name;
    left %= size;
  }
  return out;
}

std::string to_rfc3339(Instant t) {
  std::int64_t days = t.ms / kDayMs;
  std::int64_t rest = t.ms % kDayMs;
  if (rest < 0) {
    rest += kDayMs;
    --days;
  }
  const Date date = civil_from_days(days);
  std::string out;
  append_number(out, date.year, 4);
  out += '-';
  append_number(out, date.month, 2);
  out += '-';
  append_number(out, date.day, 2);
  out += 'T';
  append_number(out, rest / 3'600'000, 2);
  out += ':';
  append_number(out, rest / 60'000 % 60, 2);
  out += ':';
  append_number(out, rest / 1'000 % 60, 2);
  if (rest % 1'000 != 0) {
    out += '.';
    append_number(out, rest % 1'000, 3);
  }
  return out + 'Z';
}

Result<Instant> parse_rfc3339(std::string_view text) {
  const auto bad = [&](const std::string& why) {
    return fail(ErrorCode::kInvalidArgument, "\"" + std::string(text) + "\" is not a time" + why,
                "write it as 2026-01-31T08:00:00Z or with an offset, 2026-01-31T09:00:00+01:00");
  };
  Cursor in{text};
  const int year = in.number(4);
  in.expect("-");
  const int month = in.number(2);
  in.expect("-");
  const int day = in.number(2);
  in.expect("Tt ");
  const int hour = in.number(2);
  in.expect(":");
  const int minute = in.number(2);
  in.expect(":");
  const int second = in.number(2);
  if (!in.ok) return bad("");
  std::int64_t ms = 0;
  if (in.take(".")) {
    std::size_t digits = 0;
    for (; !in.rest.empty() && is_digit(in.rest.front()); ++digits) {
      const int digit = in.number(1);
      if (digits < 3) ms = ms * 10 + digit;
      if (digits >= 3 && digit != 0) return bad(" of whole milliseconds");
    }
    if (digits == 0) return bad("");
    for (; digits < 3; ++digits) ms *= 10;
  }
  std::int64_t offset_minutes = 0;
  if (!in.take("Zz")) {
    const bool west = in.rest.starts_with('-');
    in.expect("+-");
    const int offset_hours = in.number(2);
    in.expect(":");
    const int offset_rest = in.number(2);
    if (!in.ok || offset_hours > 23 || offset_rest > 59) return bad(" with a time zone");
    offset_minutes = offset_hours * 60 + offset_rest;
    if (west) offset_minutes = -offset_minutes;
  }
  if (!in.ok || !in.rest.empty()) return bad("");
  if (month < 1 || month > 12 || day < 1 || day > days_in_month(year, month) || hour > 23 ||
      minute > 59 || second > 59) {
    return bad(" of the calendar");
  }
  const std::int64_t minutes_of_day = std::int64_t{hour} * 60 + minute - offset_minutes;
  return Instant{days_from_civil(year, month, day) * kDayMs + minutes_of_day * 60'000 +
                 std::int64_t{second} * 1'000 + ms};
}

}  // namespace fairlead
