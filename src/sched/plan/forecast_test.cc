#include "sched/plan/forecast.h"

#include <gtest/gtest.h>

namespace fairlead::sched {
namespace {

// Two kinds of nodes with GPUs (groups 1 and 2), and as many cores as there may be.
constexpr std::int64_t kCores = 1'000'000;
ForecastRoom room(std::int64_t first, std::int64_t second) {
  return {{0, first, second}, kCores, kCores};
}
Forecast::Need need(std::int64_t milli, bool first = true, bool second = true) {
  return {{false, first, second}, milli, 0, 0};
}
Instant at(std::int64_t h) {
  return Instant{0} + hours(h);
}

TEST(Forecast, WhatFitsStartsAtOnce) {
  Forecast forecast(at(0), room(1000, 0));
  forecast.waits(forecast.need(need(1000)), hours(1), hours(2));
  const auto ranges = forecast.play();
  EXPECT_EQ(ranges[0].earliest, at(0));
  EXPECT_EQ(ranges[0].latest, at(0));
}

// The long one waits for both devices; the short one fills the hole if it may pass.
TEST(Forecast, TheEarlyPlayFillsHolesAndTheLateOneKeepsTheOrder) {
  Forecast forecast(at(0), room(1000, 0));
  forecast.ends(at(2), at(4), 1, 1000, 0, 0);
  forecast.waits(forecast.need(need(2000)), hours(1), hours(2));
  forecast.waits(forecast.need(need(1000)), hours(1), hours(3));
  const auto ranges = forecast.play();
  EXPECT_EQ(ranges[0].earliest, at(2));
  EXPECT_EQ(ranges[0].latest, at(4));
  EXPECT_EQ(ranges[1].earliest, at(0));
  EXPECT_EQ(ranges[1].latest, at(6));  // when the first has ended, at the latest
}

TEST(Forecast, RoomOfOtherKindsDoesNotHelp) {
  Forecast forecast(at(0), room(0, 4000));
  forecast.ends(at(3), at(3), 1, 1000, 0, 0);
  forecast.waits(forecast.need(need(1000, true, false)), hours(1), hours(1));
  EXPECT_EQ(forecast.play()[0].latest, at(3));
}

// What runs for nobody knows how long never gives its room back; what comes behind it may still
// have a time, and does not have the latest.
TEST(Forecast, WhatNobodyKnowsTheEndOfGivesNothingBack) {
  Forecast forecast(at(0), room(1000, 0));
  forecast.waits(forecast.need(need(1000)), std::nullopt, std::nullopt);
  forecast.waits(forecast.need(need(1000)), hours(1), hours(1));
  const auto ranges = forecast.play();
  EXPECT_EQ(ranges[0].latest, at(0));
  EXPECT_FALSE(ranges[1].earliest);
  EXPECT_FALSE(ranges[1].latest);
}

}  // namespace
}  // namespace fairlead::sched
