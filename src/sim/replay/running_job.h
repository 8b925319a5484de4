// One job during a replay: where it is, what is left, what its last interval brought.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/time.h"
#include "sim/cluster/fragmentation.h"
#include "sim/replay/policy.h"

namespace fairlead::sim {

// What a job holds on one node.
struct Hold {
  std::size_t node = 0;
  std::int64_t cpu_milli = 0;
  std::vector<DeviceShare> devices;
};

enum class JobPhase : std::uint8_t { kToCome, kWaiting, kRunning, kGone };

struct RunningJob {
  JobPhase phase = JobPhase::kToCome;
  std::int64_t milli = 0;
  Duration remaining;    // work to do
  Duration cost_left;    // of the present start, before work goes on
  Duration attained;     // time on devices, all runs
  Duration since_start;  // work done since the present start
  Instant submitted;
  Instant updated;       // up to when the above is counted
  bool stalled = false;  // a silent fault: time passes, no work is done
  bool started_before = false;
  std::int64_t sequence = 0;
  std::int64_t arrival = 0;
  std::int64_t order_key = 0;  // as the core knows it
  std::uint32_t version = 0;   // timed events of an older version are void
  int level = 0;
  std::vector<Hold> holds;

  // Counts time up to `now`. Returns the time that went into the start, not into work.
  Duration advance(Instant now) {
    const Duration passed = now - updated;
    updated = now;
    if (phase != JobPhase::kRunning) return {};
    attained = attained + passed;
    if (stalled) return passed;
    const Duration cost = std::min(passed, cost_left);
    const Duration work = std::min(passed - cost, remaining);
    cost_left = cost_left - cost;
    remaining = remaining - work;
    since_start = since_start + work;
    return cost;
  }

  Instant projected_end() const { return updated + cost_left + remaining; }

  JobProgress progress() const {
    return JobProgress{milli > 0 ? milli : 1000,    remaining, attained, sequence, arrival,
                       phase == JobPhase::kRunning, submitted};
  }

  bool on_same_nodes(const std::vector<Hold>& other) const {
    if (holds.size() != other.size()) return false;
    for (std::size_t i = 0; i < holds.size(); ++i) {
      if (holds[i].node != other[i].node) return false;
    }
    return true;
  }
};

}  // namespace fairlead::sim
