// Weekly windows as people write them: "Mon-Fri 08:00-18:00", "Sat,Sun 00:00-24:00", "always".
#include <array>
#include <vector>

#include "model/readers.h"

namespace fairlead {
namespace {

constexpr std::array<std::string_view, 7> kDays{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
constexpr std::int32_t kDay = 24 * 60;
constexpr std::int32_t kWeek = 7 * kDay;

int day_of(std::string_view text) {
  for (std::size_t i = 0; i < kDays.size(); ++i) {
    if (text == kDays[i]) return static_cast<int>(i);
  }
  return -1;
}

// "08:00" as minutes, up to "24:00"; -1 if it is none.
std::int32_t minute_of(std::string_view text) {
  if (text.size() != 5 || text[2] != ':') return -1;
  for (const std::size_t i : {0U, 1U, 3U, 4U}) {
    if (text[i] < '0' || text[i] > '9') return -1;
  }
  const std::int32_t hour = (text[0] - '0') * 10 + (text[1] - '0');
  const std::int32_t minute = (text[3] - '0') * 10 + (text[4] - '0');
  if (minute > 59 || hour * 60 + minute > kDay) return -1;
  return hour * 60 + minute;
}

std::string clock_text(std::int32_t minute) {
  const auto two = [](std::int32_t n) { return (n < 10 ? "0" : "") + std::to_string(n); };
  return two(minute / 60) + ":" + two(minute % 60);
}

std::unexpected<Error> bad(std::string_view text) {
  return fail(ErrorCode::kInvalidArgument, "\"" + std::string(text) + "\" is not a weekly window",
              "write it as \"Mon-Fri 08:00-18:00\", \"Sat,Sun 00:00-24:00\" or "
              "\"Fri 18:00-Mon 08:00\" (UTC)");
}

}  // namespace

Result<std::vector<TimeWindow>> parse_windows(std::string_view text) {
  const std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos) return bad(text);
  const std::string_view days = text.substr(0, blank);
  const std::string_view hours = text.substr(blank + 1);

  // "Fri 18:00-Mon 08:00": one window over several days.
  if (hours.size() == 15 && hours[5] == '-' && hours[9] == ' ') {
    const int from_day = day_of(days);
    const int to_day = day_of(hours.substr(6, 3));
    const std::int32_t from = minute_of(hours.substr(0, 5));
    const std::int32_t to = minute_of(hours.substr(10, 5));
    if (from_day < 0 || to_day < 0 || from < 0 || to < 0 || from == kDay) return bad(text);
    return std::vector<TimeWindow>{{from_day * kDay + from, (to_day * kDay + to) % kWeek}};
  }

  if (hours.size() != 11 || hours[5] != '-') return bad(text);
  const std::int32_t from = minute_of(hours.substr(0, 5));
  const std::int32_t to = minute_of(hours.substr(6, 5));
  if (from < 0 || to < 0 || from == kDay) return bad(text);
  std::array<bool, 7> chosen{};
  std::string_view rest = days;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const int first = day_of(part.substr(0, 3));
    const int last = part.size() == 3                     ? first
                     : part.size() == 7 && part[3] == '-' ? day_of(part.substr(4))
                                                          : -1;
    if (first < 0 || last < 0 || (comma != std::string_view::npos && rest.empty()))
      return bad(text);
    for (int day = first;; day = (day + 1) % 7) {
      chosen[static_cast<std::size_t>(day)] = true;
      if (day == last) break;
    }
  }
  std::vector<TimeWindow> out;
  for (std::int32_t day = 0; day < 7; ++day) {
    if (!chosen[static_cast<std::size_t>(day)]) continue;
    const std::int32_t end = day * kDay + to + (to <= from ? kDay : 0);
    out.push_back({day * kDay + from, end % kWeek});
  }
  if (out.empty()) return bad(text);
  return out;
}

std::string window_text(const TimeWindow& window) {
  const auto day = [](std::int32_t minute) {
    return std::string(kDays[static_cast<std::size_t>(minute / kDay)]);
  };
  const std::int32_t from = window.from_minute;
  const std::int32_t to = window.to_minute;
  const std::string begin = day(from) + " " + clock_text(from % kDay) + "-";
  // Within one day, or up to its end.
  if (to > from && to / kDay == from / kDay) return begin + clock_text(to % kDay);
  if (to % kDay == 0 && (from / kDay + 1) % 7 == to / kDay) return begin + "24:00";
  return begin + day(to) + " " + clock_text(to % kDay);
}

}  // namespace fairlead
