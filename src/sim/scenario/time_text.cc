#include "sim/scenario/time_text.h"

#include <array>

#include <fmt/format.h>

#include "sim/scenario/cursor.h"

namespace fairlead::sim {
namespace {

constexpr std::array<const char*, 7> kDays = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};

// "mon@08:00" as minutes since Monday 00:00; "sun@24:00" is the end of the week.
Result<std::int32_t> parse_minute(std::string_view text) {
  for (std::size_t day = 0; day < kDays.size(); ++day) {
    if (text.size() != 9 || text.substr(0, 3) != kDays[day] || text[3] != '@' || text[6] != ':') {
      continue;
    }
    FAIRLEAD_ASSIGN(const std::int64_t hour, parse_count(text.substr(4, 2), 0, 24));
    FAIRLEAD_ASSIGN(const std::int64_t minute,
                    parse_count(text.substr(7, 2), 0, hour == 24 ? 0 : 59));
    return static_cast<std::int32_t>((static_cast<std::int64_t>(day) * 24 + hour) * 60 + minute);
  }
  return fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is not a time of the week", text),
              "write a day and a time, UTC: mon@08:00");
}

std::string minute_text(std::int32_t minute) {
  std::int32_t day = minute / (24 * 60);
  if (day > 6) day = 6;
  const std::int32_t rest = minute - day * 24 * 60;
  return fmt::format("{}@{:02}:{:02}", kDays[static_cast<std::size_t>(day)], rest / 60, rest % 60);
}

}  // namespace

Result<TimeWindow> parse_window(std::string_view text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is not a window", text),
                "write mon@08:00..fri@18:00");
  }
  TimeWindow window;
  FAIRLEAD_ASSIGN(window.from_minute, parse_minute(text.substr(0, dots)));
  FAIRLEAD_ASSIGN(window.to_minute, parse_minute(text.substr(dots + 2)));
  return window;
}

std::string window_text(const TimeWindow& window) {
  return minute_text(window.from_minute) + ".." + minute_text(window.to_minute);
}

Result<Instant> parse_instant(std::string_view text, Instant start) {
  if (text.find('T') != std::string_view::npos) return parse_rfc3339(text);
  const bool before = text.starts_with('-');
  FAIRLEAD_ASSIGN(const Duration offset, parse_duration(before ? text.substr(1) : text));
  return before ? Instant{start.ms - offset.ms} : start + offset;
}

std::string instant_text(Instant at, Instant start) {
  return at < start ? "-" + to_text(start - at) : to_text(at - start);
}

}  // namespace fairlead::sim
