#include "sched/share/usage.h"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace fairlead::sched {
namespace {

constexpr Instant at(Duration d) {
  return Instant{} + d;
}

// Within `slack` billionths.
void expect_near(std::int64_t ppb, double expected, double slack = 20) {
  EXPECT_NEAR(static_cast<double>(ppb), expected * 1e9, slack);
}

TEST(DecayFactor, HalvesEveryHalfLife) {
  EXPECT_EQ(decay_factor(hours(0), hours(7)), kDecayOne);
  EXPECT_EQ(decay_factor(hours(7), hours(7)), kDecayOne / 2);
  EXPECT_EQ(decay_factor(hours(21), hours(7)), kDecayOne / 8);
  EXPECT_EQ(decay_factor(hours(7 * 63), hours(7)), 0U);
}

TEST(DecayFactor, IsTheSameNumberEverywhere) {
  // floor(2^62 / sqrt 2) = 3260954456333195553: the golden value that every machine must give.
  EXPECT_EQ(decay_factor(minutes(30), hours(1)), 3260954456333195553U);
}

RC_GTEST_PROP(DecayFactor, IsRightToFifteenDigits, ()) {
  const auto half_life = *rc::gen::inRange<std::int64_t>(1, 1'000'000'000);
  const auto elapsed = *rc::gen::inRange<std::int64_t>(0, 4'000'000'000);
  const long double exact =
      std::exp2(-static_cast<long double>(elapsed) / static_cast<long double>(half_life));
  const long double factor =
      static_cast<long double>(decay_factor({elapsed}, {half_life})) / 0x1p62L;
  RC_ASSERT(std::abs(factor - exact) < 1e-15L);
}

RC_GTEST_PROP(DecayFactor, NeverGrowsWithTime, ()) {
  const auto half_life = *rc::gen::inRange<std::int64_t>(1, 1'000'000'000);
  const auto elapsed = *rc::gen::inRange<std::int64_t>(0, 4'000'000'000);
  const auto more = *rc::gen::inRange<std::int64_t>(0, 1000);
  // The last bits of a product of five factors may wobble; a billionth of a billionth.
  RC_ASSERT(decay_factor({elapsed + more}, {half_life}) <=
            decay_factor({elapsed}, {half_life}) + 8);
}

UsageHistory history(UsageWindow window = UsageWindow::kSliding, Duration length = hours(168),
                     Duration half_life = hours(168)) {
  return UsageHistory(UsageRule(half_life, window, length));
}

TEST(UsageHistory, HalfThePoolForEverIsAHalf) {
  UsageHistory usage = history();
  usage.set_capacity(at(hours(0)), 0, 100'000);
  usage.set_held(at(hours(0)), 3, 0, 50'000);
  // Whatever the half-life and however young the history is (3.3.a).
  expect_near(usage.usage_ppb(at(seconds(1)), 3, 0), 0.5);
  expect_near(usage.usage_ppb(at(hours(1)), 3, 0), 0.5);
  expect_near(usage.usage_ppb(at(hours(168)), 3, 0), 0.5);
  expect_near(usage.usage_ppb(at(hours(100'000)), 3, 0), 0.5);
}

TEST(UsageHistory, WhatIsLongAgoCountsLess) {
  // Window tumbling once a year, half-life one day. All of the pool for day 1, nothing on day 2.
  // With a = 1 − 2^−1 = 1/2 for a day: after day 2 the queue's average is 1/2 · 1/2 = 1/4, the
  // pool's 1 − 2^−2 = 3/4: u = 1/3. The day that is one half-life old counts half as much.
  UsageHistory usage = history(UsageWindow::kTumbling, hours(24 * 365), hours(24));
  usage.set_capacity(at(hours(0)), 0, 8000);
  usage.set_held(at(hours(0)), 0, 0, 8000);
  usage.set_held(at(hours(24)), 0, 0, 0);
  expect_near(usage.usage_ppb(at(hours(24)), 0, 0), 1.0);
  expect_near(usage.usage_ppb(at(hours(48)), 0, 0), 1.0 / 3);
  // After day 3: 1/8 over 7/8.
  expect_near(usage.usage_ppb(at(hours(72)), 0, 0), 1.0 / 7);
}

TEST(UsageHistory, WithoutDecayItIsTheMean) {
  // 1 h of all, 3 h of nothing: a quarter.
  UsageHistory usage = history(UsageWindow::kTumbling, hours(100), Duration{0});
  usage.set_capacity(at(hours(0)), 0, 1000);
  usage.set_held(at(hours(0)), 0, 0, 1000);
  usage.set_held(at(hours(1)), 0, 0, 0);
  expect_near(usage.usage_ppb(at(hours(4)), 0, 0), 0.25, 2000);
}

TEST(UsageHistory, ASlidingWindowForgetsWhatLeavesIt) {
  // Window 64 h, so steps of 1 h; no decay. All of the pool in the first hour only.
  UsageHistory usage = history(UsageWindow::kSliding, hours(64), Duration{0});
  usage.set_capacity(at(hours(0)), 0, 1000);
  usage.set_held(at(hours(0)), 0, 0, 1000);
  usage.set_held(at(hours(1)), 0, 0, 0);
  // At 32 h it is 1 of 32 hours.
  expect_near(usage.usage_ppb(at(hours(32)), 0, 0), 1.0 / 32, 2000);
  // At 63.5 h the window holds the hours 0 to 63.5; at 64 h hour 0 has left it.
  expect_near(usage.usage_ppb(at(minutes(63 * 60 + 30)), 0, 0), 1.0 / 63.5, 2000);
  EXPECT_EQ(usage.usage_ppb(at(hours(64)), 0, 0), 0);
  EXPECT_EQ(usage.usage_ppb(at(hours(1000)), 0, 0), 0);
}

TEST(UsageHistory, ATumblingWindowForgetsAtItsMultiples) {
  UsageHistory usage = history(UsageWindow::kTumbling, hours(24), hours(24));
  usage.set_capacity(at(hours(0)), 0, 1000);
  usage.set_held(at(hours(0)), 0, 0, 500);
  usage.set_held(at(hours(23)), 0, 0, 0);
  EXPECT_GT(usage.usage_ppb(at(hours(24) - milliseconds(1)), 0, 0), 400'000'000);
  EXPECT_EQ(usage.usage_ppb(at(hours(24)), 0, 0), 0);
  // What is held across the boundary counts from there on.
  usage.set_held(at(hours(47)), 0, 0, 1000);
  expect_near(usage.usage_ppb(at(hours(49)), 0, 0), 1.0);
}

TEST(UsageHistory, CapacityThatGrowsIsWeighedByTime) {
  // No decay. 10 GPUs for 1 h, then 30 for 1 h; the queue holds 10 all along: 20 of 40 GPU-hours.
  UsageHistory usage = history(UsageWindow::kTumbling, hours(100), Duration{0});
  usage.set_capacity(at(hours(0)), 0, 10'000);
  usage.set_held(at(hours(0)), 0, 0, 10'000);
  usage.set_capacity(at(hours(1)), 0, 30'000);
  expect_near(usage.usage_ppb(at(hours(2)), 0, 0), 0.5, 2000);
}

TEST(UsageHistory, ResourcesAndQueuesAreApart) {
  UsageHistory usage = history();
  usage.set_capacity(at(hours(0)), 0, 1000);
  usage.set_capacity(at(hours(0)), 2, std::int64_t{1} << 50);
  usage.set_held(at(hours(0)), 0, 0, 1000);
  usage.set_held(at(hours(0)), 1, 2, std::int64_t{1} << 48);
  expect_near(usage.usage_ppb(at(hours(5)), 0, 0), 1.0);
  expect_near(usage.usage_ppb(at(hours(5)), 1, 2), 0.25);
  EXPECT_EQ(usage.usage_ppb(at(hours(5)), 0, 2), 0);
  EXPECT_EQ(usage.usage_ppb(at(hours(5)), 9, 9), 0);
  usage.remove_queue(0);
  EXPECT_EQ(usage.usage_ppb(at(hours(5)), 0, 0), 0);
}

TEST(UsageHistory, WithoutCapacityWhatIsHeldIsAll) {
  UsageHistory usage = history();
  usage.set_held(at(hours(0)), 0, 0, 1000);
  EXPECT_EQ(usage.usage_ppb(at(hours(1)), 0, 0), 1'000'000'000);
}

TEST(UsageHistory, ANewHalfLifeHoldsFromItsChangeOn) {
  UsageHistory usage = history(UsageWindow::kTumbling, hours(24 * 365), hours(24));
  usage.set_capacity(at(hours(0)), 0, 8000);
  usage.set_held(at(hours(0)), 0, 0, 8000);
  usage.set_held(at(hours(24)), 0, 0, 0);
  usage.set_rule(at(hours(24)), UsageRule(hours(12), UsageWindow::kTumbling, hours(24 * 365)));
  // Another day is two half-lives now: 1/2 · 1/4 = 1/8 over 1/8 + 3/4 = 7/8.
  expect_near(usage.usage_ppb(at(hours(48)), 0, 0), 1.0 / 7);
  // A new window begins a new history: the queue holds nothing since.
  usage.set_rule(at(hours(48)), UsageRule(hours(12), UsageWindow::kSliding, hours(24)));
  EXPECT_EQ(usage.usage_ppb(at(hours(49)), 0, 0), 0);
}

struct Change {
  std::int64_t after_ms;
  std::int64_t amount;
};

RC_GTEST_PROP(UsageHistory, AgreesWithTheIntegral, ()) {
  const auto window = *rc::gen::element(UsageWindow::kSliding, UsageWindow::kTumbling);
  const Duration length{*rc::gen::inRange<std::int64_t>(64, 1'000'000)};
  const Duration half_life{*rc::gen::inRange<std::int64_t>(100, 1'000'000)};
  const UsageRule rule(half_life, window, length);
  UsageHistory usage(rule);
  usage.set_capacity({0}, 0, 1'000'000);
  struct Piece {
    std::int64_t from;
    std::int64_t amount;
  };
  std::vector<Piece> pieces;
  std::int64_t now = 0;
  const auto changes = *rc::gen::inRange(1, 20);
  for (int i = 0; i < changes; ++i) {
    const auto amount = *rc::gen::inRange<std::int64_t>(0, 1'000'001);
    pieces.push_back({now, amount});
    usage.set_held({now}, 0, 0, amount);
    now += *rc::gen::inRange<std::int64_t>(0, 300'000);
    // 3.3.d: asking in between changes nothing.
    if (i % 3 == 0) RC_ASSERT(usage.usage_ppb({now}, 0, 0) >= 0);
  }
  ++now;
  std::int64_t from = rule.slot_begin(rule.slot_of({now})).ms;
  if (window == UsageWindow::kSliding) from -= 63 * rule.slot_length().ms;
  from = std::max<std::int64_t>(from, 0);
  // ∫ over [a, b) of 2^(−(now − t)/h) dt, without the common factor h/ln 2.
  const auto weight = [&](std::int64_t a, std::int64_t b) {
    const auto power = [&](std::int64_t t) {
      return std::exp2(-static_cast<long double>(now - t) / static_cast<long double>(half_life.ms));
    };
    return a < b ? power(b) - power(a) : 0.0L;
  };
  long double held = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::int64_t end = i + 1 < pieces.size() ? pieces[i + 1].from : now;
    held += static_cast<long double>(pieces[i].amount) *
            weight(std::max(pieces[i].from, from), std::max(end, from));
  }
  const long double all = 1'000'000.0L * weight(from, now);
  if (all == 0) RC_DISCARD("the window began just now");
  const auto ppb = static_cast<long double>(usage.usage_ppb({now}, 0, 0));
  RC_ASSERT(std::abs(ppb - held / all * 1e9L) < 50.0L);
}

// 3.3.e: 50 of 100, then 80, then 50; five hours later the history is told to another core.
TEST(UsageHistory, GoesOnInAnotherCore) {
  for (const UsageWindow window : {UsageWindow::kSliding, UsageWindow::kTumbling}) {
    UsageHistory before = history(window);
    before.set_capacity(at(hours(1)), 0, 100);
    before.set_held(at(hours(1)), 2, 0, 50);
    before.set_held(at(hours(3)), 2, 0, 80);
    before.set_held(at(hours(4)), 2, 0, 50);
    UsageHistory after = history(window);
    after.set_capacity(at(hours(9)), 0, 100);
    after.set_held(at(hours(9)), 2, 0, 50);
    ASSERT_TRUE(after.restore(at(hours(9)), std::nullopt, 0, before.text(std::nullopt, 0)));
    ASSERT_TRUE(after.restore(at(hours(9)), 2, 0, before.text(2, 0)));
    before.set_capacity(at(hours(9)), 0, 100);
    before.set_held(at(hours(9)), 2, 0, 50);
    for (const Duration later : {hours(9), hours(20), hours(400)}) {
      EXPECT_EQ(after.usage_ppb(at(later), 2, 0), before.usage_ppb(at(later), 2, 0));
    }
  }
}

// One slot of a sliding week is 9,450 s.
TEST(UsageHistory, WhatIsNoHistoryOfItsIsRefusedAndChangesNothing) {
  UsageHistory usage = history();
  usage.set_held(at(hours(5)), 0, 0, 50);
  usage.set_held(at(hours(50)), 0, 0, 50);
  const std::string good = usage.text(0, 0);
  ASSERT_TRUE(usage.restore(at(hours(50)), 0, 0, good));
  UsageHistory other = history(UsageWindow::kTumbling);
  other.set_held(at(hours(5)), 0, 0, 50);
  for (const std::string& text :
       {std::string("x"), good + " 1", good.substr(0, good.rfind(' ')), other.text(0, 0),
        std::string("9450000 -1 18000000 1 0 0"), std::string("9450000 1 18000000 7 0 0"),
        "9450000 1 18000000 1 0 " + std::string(26, 'f')}) {
    EXPECT_FALSE(usage.restore(at(hours(50)), 0, 0, text)) << text;
  }
  EXPECT_FALSE(usage.restore(at(hours(49)), 0, 0, good)) << "of a time to come";
  EXPECT_EQ(usage.text(0, 0), good);
}

}  // namespace
}  // namespace fairlead::sched
