// What a log keeps of random histories: told to a new core it comes out byte for byte, and it can
// be played again with a change.
#include <cmath>
#include <sstream>
#include <utility>

#include <gtest/gtest.h>

#include "for_all.h"
#include "play.h"
#include "sim/log/replayer.h"
#include "sim/log/writer.h"
#include "sim/whatif/comparison.h"

namespace fairlead::property {
namespace {

std::string log_of(const History& history, bool taking_back) {
  std::string log;
  sim::LogWriter writer("property", [&](std::string_view record) { log += record; });
  sched::SchedulerOptions options;
  options.reclaim = options.preempt = options.consolidate = taking_back;
  auto core = sim::create_recorded(options, &writer);
  for (const Moment& moment : history) {
    if (moment.event) {
      (void)sim::apply_recorded(*core, &writer, moment.at, *moment.event);
    } else {
      (void)sim::decide_recorded(*core, &writer, moment.at);
    }
  }
  return log;
}

template <bool kTakingBack>
std::string replays(Play& play) {
  std::istringstream in(log_of(play.driver().history(), kTakingBack));
  auto replayer = sim::Replayer::open(in, "log");
  if (!replayer) return replayer.error().text();
  while (true) {
    const auto next = replayer->step();
    if (!next) return next.error().text();
    if (!*next) break;
  }
  if (const auto& d = replayer->difference()) {
    return "record " + std::to_string(d->record) + " came out differently";
  }
  const auto played = static_cast<std::int64_t>(play.driver().history().size());
  if (replayer->counts().records - replayer->counts().refused == played) return {};
  return "records are missing";
}

// I8.
TEST(Recording, RandomHistoriesComeOutByteForByte) {
  for_all(0, 200, &replays<false>);
}

TEST(Recording, RandomHistoriesWithTakingBackComeOutByteForByte) {
  for_all(0, 200, &replays<true>, true);
}

// Any change of any history can be played; each GPU second is some workload's, and none is used
// that there is not.
TEST(WhatIf, OfRandomHistoriesKeepsItsBooks) {
  for_all(
      0, 150,
      [](Play& play) -> std::string {
        std::istringstream in(log_of(play.driver().history(), true));
        const auto history = sim::read_history(in, "log");
        if (!history) return history.error().text();
        const auto nodes = play.driver().scheduler().node_names();
        sim::Change change;
        change.at = history->start + Duration{(history->end - history->start).ms / 2};
        if (!nodes.empty() && nodes.size() % 2 == 0) change.added.push_back({nodes.back(), 2});
        change.preempt = nodes.size() % 3 != 0;
        for (const sim::Change* one :
             {static_cast<const sim::Change*>(nullptr), &std::as_const(change)}) {
          const auto outcome = sim::run_history(*history, one);
          // A node that joins in the second half is not there yet.
          if (!outcome && outcome.error().code == ErrorCode::kNotFound) continue;
          if (!outcome) return outcome.error().text();
          double used = 0;
          for (const sim::Fate& fate : outcome->fates)
            used += static_cast<double>(fate.gpu_milli_ms);
          if (std::abs(used / kMilli - outcome->used_gpu_ms) > 1) {
            return "workloads used " + std::to_string(used / kMilli) + " GPU ms, all together " +
                   std::to_string(outcome->used_gpu_ms);
          }
          (void)sim::compare(*history, *outcome, *outcome);
        }
        return {};
      },
      true);
}

}  // namespace
}  // namespace fairlead::property
