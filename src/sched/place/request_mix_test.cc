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

}  // namespace
}  // namespace fairlead::sched::testing
