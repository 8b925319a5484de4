// When what waits will start, about (9.4): by counting compute, cores and memory, not devices.
//
// Two plays of what waits, in its service order, against what ends: the early one lets tasks take
// as long as is usual and fills every hole; the late one lets them take as long as they may and
// lets nobody pass. What needs room of which nobody knows when it will be free has no time.
//
// Cost: O((running + waiting) × (log + kLookAhead)); nothing is placed. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"

namespace fairlead::sched {

// Room of one pool, GPU compute apart by kind of node.
struct ForecastRoom {
  std::vector<std::int64_t> milli;  // by group
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
};

class Forecast {
 public:
  static constexpr std::size_t kLookAhead = 64;  // kinds of needs that may wait while others pass

  struct Need {
    std::vector<bool> groups;  // where its GPUs may be
    std::int64_t milli = 0;
    std::int64_t cpu = 0;
    std::int64_t memory = 0;
    friend auto operator<=>(const Need&, const Need&) = default;
  };
  struct Range {
    std::optional<Instant> earliest;
    std::optional<Instant> latest;
  };

  Forecast(Instant now, ForecastRoom free) : now_(now), free_(std::move(free)) {}

  // A task that runs and will give back its room: about when, and when at the latest.
  void ends(Instant likely, Instant most, std::size_t group, std::int64_t milli, std::int64_t cpu,
            std::int64_t memory);
  // In the order of service. Unset: nobody knows how long it will run.
  void waits(std::size_t need, std::optional<Duration> likely, std::optional<Duration> most);
  std::size_t need(Need need);

  // By the order of waits().
  std::vector<Range> play() const;

 private:
  struct End {
    Instant at;
    std::vector<std::pair<std::size_t, std::int64_t>> milli;
    std::int64_t cpu = 0;
    std::int64_t memory = 0;
    bool operator>(const End& other) const { return at > other.at; }
  };
  struct Wait {
    std::size_t need = 0;
    std::optional<Duration> likely;
    std::optional<Duration> most;
  };
  class Play;

  Instant now_;
  ForecastRoom free_;
  std::vector<std::pair<End, Instant>> running_;  // likely, and when at the latest
  std::vector<Need> needs_;
  std::vector<Wait> waiting_;
};

}  // namespace fairlead::sched
