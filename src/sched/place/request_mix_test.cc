#include "sched/place/request_mix.h"

#include <gtest/gtest.h>

#include "sched/testing.h"

namespace fairlead::sched::testing {
namespace {

class Mix : public ::testing::Test {
 protected:
  Names names;
  const TaskClass& a = names.task(gpus(1));
  const TaskClass& b = names.task(cpus(1'000));
  RequestMix mix;

  void observe(const TaskClass& task, int times) {
    for (int i = 0; i < times; ++i) mix.observe(task);
  }
};

TEST_F(Mix, CountsWhatWasAskedByClass) {
  observe(b, 3);
  observe(a, 1);
  const auto items = mix.items();
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0].task, &a);
  EXPECT_EQ(items[1].weight, 3 * items[0].weight);
  EXPECT_EQ(mix.total(), 4 * items[0].weight);
}

TEST_F(Mix, ARebuildIsDueOnceEnoughIsKnownAndThenEverMoreSeldom) {
  observe(a, RequestMix::kEnough - 1);
  EXPECT_FALSE(mix.rebuild_due());
  observe(a, 1);
  EXPECT_TRUE(mix.rebuild_due());
  EXPECT_FALSE(mix.rebuild_due()) << "told once";
  observe(a, 49);
  EXPECT_FALSE(mix.rebuild_due());
  observe(a, 1);
  EXPECT_TRUE(mix.rebuild_due()) << "at 150: half of what had been seen later";
  observe(a, 74);
  EXPECT_FALSE(mix.rebuild_due());
  observe(a, 1);
  EXPECT_TRUE(mix.rebuild_due()) << "at 225";
}

TEST_F(Mix, OldRequestsFade) {
  observe(a, 16 * 1'024);
  const std::int64_t before = mix.total();
  observe(a, 1);
  EXPECT_EQ(mix.total(), before / 2 + 8) << "halved: (16384 + 1) × 16 / 2";
  observe(b, 16 * 1'024);
  const auto items = mix.items();
  ASSERT_EQ(items.size(), 2U);
  EXPECT_LT(items[0].weight, items[1].weight) << "what came later counts for more";
}

TEST_F(Mix, WhatWasAskedOnceIsForgotten) {
  observe(b, 1);
  observe(a, 60'000);  // four halvings: 16, 8, 4, 2, gone
  ASSERT_EQ(mix.items().size(), 1U);
  EXPECT_EQ(mix.items()[0].task, &a);
  EXPECT_EQ(mix.total(), mix.items()[0].weight);
}

TEST_F(Mix, AStatedMixReplacesWhatWasObservedForGood) {
  observe(b, 500);
  mix.rebuild_due();
  mix.state({{&a, 7}, {&a, 1}});
  EXPECT_TRUE(mix.rebuild_due());
  observe(b, 500);
  EXPECT_FALSE(mix.rebuild_due());
  ASSERT_EQ(mix.items().size(), 1U);
  EXPECT_EQ(mix.items()[0].task, &a);
  EXPECT_EQ(mix.total(), 8);
}

TEST_F(Mix, RemembersTheHeaviestAndOfEqualOnesTheLatest) {
  observe(b, 2);
  std::vector<TaskClassId> once;
  for (std::size_t i = 0; i < RequestMix::kMost + 10; ++i) {
    once.push_back(names.task(cpus(10'000 + static_cast<std::int64_t>(i))).id);
    observe(names.classes.get(once.back()), 1);
  }
  EXPECT_EQ(mix.items().size(), RequestMix::kMost);
  EXPECT_EQ(mix.total(), static_cast<std::int64_t>(RequestMix::kMost + 1) * 16);
  EXPECT_EQ(names.classes.remembered(b.id), 1);
  EXPECT_EQ(names.classes.remembered(once.front()), 0) << "the first of those asked once";
  EXPECT_EQ(names.classes.remembered(once.back()), 1);
}

TEST_F(Mix, LetsItsClassesGo) {
  {
    RequestMix other;
    other.observe(a);
    other.state({{&a, 3}, {&b, 0}});
    EXPECT_EQ(names.classes.remembered(a.id), 1);
    EXPECT_EQ(names.classes.remembered(b.id), 1);
    other.state({{&b, 1}});
    EXPECT_EQ(names.classes.remembered(a.id), 0);
  }
  EXPECT_EQ(names.classes.remembered(b.id), 0);
}

}  // namespace
}  // namespace fairlead::sched::testing
