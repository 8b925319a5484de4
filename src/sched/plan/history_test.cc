#include "sched/plan/history.h"

#include <gtest/gtest.h>

namespace fairlead::sched {
namespace {

TEST(RuntimeHistory, ConcludesNothingFromFewerThanThree) {
  RuntimeHistory history;
  history.note("ann", "nightly", hours(1));
  history.note("ann", "nightly", hours(1));
  EXPECT_FALSE(history.of("ann", "nightly"));
  history.note("ann", "nightly", hours(1));
  EXPECT_TRUE(history.of("ann", "nightly"));
}

// Of 10, 20, … 100 minutes the median is 50, and nine of ten took at most 90.
TEST(RuntimeHistory, SaysTheMedianAndWhatNineOfTenTookAtMost) {
  RuntimeHistory history;
  for (const int m : {70, 10, 100, 30, 50, 20, 90, 40, 80, 60})
    history.note("ann", "nightly", minutes(m));
  const auto seen = history.of("ann", "nightly");
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->likely, minutes(50));
  EXPECT_EQ(seen->most, minutes(90));
}

TEST(RuntimeHistory, ForgetsAllButTheLast) {
  RuntimeHistory history;
  for (std::size_t i = 0; i < 100; ++i) history.note("ann", "nightly", hours(9));
  for (std::size_t i = 0; i < RuntimeHistory::kKept; ++i) history.note("ann", "nightly", hours(1));
  EXPECT_EQ(history.of("ann", "nightly")->most, hours(1));
}

TEST(RuntimeHistory, TellsUsersAndTemplatesApartAndNeedsOneOfThem) {
  RuntimeHistory history;
  for (int i = 0; i < 5; ++i) {
    history.note("ann", "nightly", hours(1));
    history.note("", "", hours(1));
  }
  EXPECT_FALSE(history.of("bob", "nightly"));
  EXPECT_FALSE(history.of("ann", ""));
  EXPECT_FALSE(history.of("", ""));
}

TEST(RuntimeHistory, KeepsSoManyKeysAndForgetsTheOneNotedLongestAgo) {
  RuntimeHistory history;
  const auto thrice = [&](const std::string& user) {
    for (int i = 0; i < 3; ++i) history.note(user, "t", hours(1));
  };
  thrice("first");
  thrice("second");
  for (std::size_t i = 0; i + 2 < RuntimeHistory::kMostKeys; ++i)
    history.note("u" + std::to_string(i), "t", hours(1));
  history.note("first", "t", hours(1));  // anew
  history.note("one more", "t", hours(1));
  EXPECT_TRUE(history.of("first", "t"));
  EXPECT_FALSE(history.of("second", "t"));
}

TEST(RuntimeHistory, IsTheSameWhenRestored) {
  RuntimeHistory history;
  for (int i = 0; i < 40; ++i) history.note("ann", "nightly", minutes(i));
  history.note("bob", "", hours(1));
  RuntimeHistory again;
  for (const auto& [key, last] : history.all()) again.restore(key.first, key.second, last);
  EXPECT_EQ(again.all(), history.all());
  ASSERT_EQ(again.all().size(), 2u);
  EXPECT_EQ(again.all().front().second.front(), minutes(8)) << "the oldest that is kept";
  history.note("ann", "nightly", hours(5));
  again.note("ann", "nightly", hours(5));
  EXPECT_EQ(again.all(), history.all());
}

TEST(RuntimeHistory, WhatIsRestoredComesBeforeWhatIsKnown) {
  RuntimeHistory history;
  history.note("ann", "nightly", hours(3));
  history.restore("ann", "nightly", {hours(1), hours(2)});
  EXPECT_EQ(history.all().front().second, (std::vector{hours(1), hours(2), hours(3)}));
}

}  // namespace
}  // namespace fairlead::sched
