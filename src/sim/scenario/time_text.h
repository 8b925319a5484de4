// Times of a scenario as a person writes them: the week's windows, and instants as an offset from
// the scenario's start or in full.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "model/queue.h"

namespace fairlead::sim {

// "mon@08:00..fri@18:00", UTC.
Result<TimeWindow> parse_window(std::string_view text);
std::string window_text(const TimeWindow& window);

// "10m" after `start`, "-2h" before it, or "2026-01-05T08:00:00Z".
Result<Instant> parse_instant(std::string_view text, Instant start);
// The offset from `start`.
std::string instant_text(Instant at, Instant start);

}  // namespace fairlead::sim
