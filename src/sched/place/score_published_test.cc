// Worked examples of the published policies, by hand from their formulas.
#include "sched/place/score_published.h"

#include <gtest/gtest.h>

#include "sched/testing.h"

namespace fairlead::sched::testing {
namespace {

class Published : public ::testing::Test {
 protected:
  Names names;
  ClassId t4 = names.define("T4");

  // A node with these free milli per device.
  NodeState node(const std::vector<std::int32_t>& milli, std::int64_t cores = 64'000) {
    NodeState n = NodeOf(names, "n").cells({cores}).gpus(static_cast<int>(milli.size()), t4);
    for (std::size_t d = 0; d < milli.size(); ++d) {
      n.free.devices[d].free_milli = milli[d];
      n.free.devices[d].free_mib = n.free.devices[d].total_mib * milli[d] / 1'000;
    }
    n.free_milli = n.free.free_gpu_milli();
    return n;
  }
};

TEST_F(Published, BestFitIsWhatIsLeft) {
  // 64 − 16 of 128 cores = 0.375 and 4 − 1 of 8 devices = 0.375 are left: int(100 × 0.625) = 62.
  const auto scorer = make_best_fit_scorer();
  EXPECT_EQ(scorer->score(names.task(gpus(1, 16'000)), node({1'000, 1'000, 1'000, 1'000})), 62);
  EXPECT_EQ(scorer->score(names.task(gpus(1, 64'000)), node({1'000})), 100) << "nothing is left";
}

TEST_F(Published, DotProductIsOfFreeAndAsked) {
  // ½ × ⅛ for cores and ½ × ⅛ for devices: int(100 × (1 − ½ × 0.125)) = int(93.75).
  const auto scorer = make_dot_product_scorer();
  EXPECT_EQ(scorer->score(names.task(gpus(1, 16'000)), node({1'000, 1'000, 1'000, 1'000})), 93);
}

TEST_F(Published, FirstFitKnowsNoDifference) {
  const auto scorer = make_first_fit_scorer();
  EXPECT_EQ(scorer->score(names.task(gpus(1)), node({1'000})),
            scorer->score(names.task(gpus(1)), node({1'000, 500})));
  EXPECT_FALSE(scorer->random());
  EXPECT_TRUE(make_random_scorer()->random());
}

TEST_F(Published, TheNamesAreKnownAndOthersRefused) {
  EXPECT_EQ(placement_names(), (std::vector<std::string>{"default", "random", "bestfit", "dotprod",
                                                         "fgd", "firstfit"}));
  for (const std::string& name : placement_names()) EXPECT_TRUE(make_scorer(name, {})) << name;
  const auto unknown = make_scorer("worstfit", {});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(unknown.error().message.find("bestfit"), std::string::npos);
}

// --- fragmentation gradient descent ---

class Fgd : public Published {
 protected:
  std::unique_ptr<Scorer> scorer = make_fgd_scorer();
  TestPool pool{names};

  void state(const std::vector<std::pair<const TaskClass*, std::int64_t>>& mix) {
    pool.order();
    scorer->state_mix(mix);
    scorer->refresh(pool.state());
  }
};

TEST_F(Fgd, TakesTheDeviceThatLeavesNoFragment) {
  // All ask half a device. Of {1, 0.5}, 0.3 from the first leaves {0.7, 0.5}: nothing is lost,
  // sigmoid(0) = 0.50; from the second {1, 0.2}: 0.2 is a fragment, sigmoid(−0.2) = 0.450….
  state({{&names.task(portion(500)), 1}});
  const TaskClass& task = names.task(portion(300));
  EXPECT_EQ(scorer->device(task, node({1'000, 500})), 0);
  EXPECT_EQ(scorer->score(task, node({1'000, 500})), 50);
  EXPECT_EQ(scorer->score(task, node({500})), 45);
  EXPECT_EQ(scorer->score(names.task(portion(500)), node({500})), 50);
}

TEST_F(Fgd, RewardsTheUseOfAFragment) {
  // 0.3 is a fragment to those who ask 0.5; using it up gains 0.3: sigmoid(0.3) = 0.574….
  state({{&names.task(portion(500)), 1}});
  EXPECT_EQ(scorer->score(names.task(portion(300)), node({300})), 57);
}

TEST_F(Fgd, WhatCpuTasksCannotUseIsFragmentToThem) {
  // Half of the mix uses no GPU: to them all that is idle is fragment. {1} → {0.5}: 0.5 × 0.5 less
  // of it, sigmoid(0.25) = 0.562….
  state({{&names.task(portion(500)), 1}, {&names.task(cpus(1'000)), 1}});
  EXPECT_EQ(scorer->score(names.task(portion(500)), node({1'000})), 56);
}

TEST_F(Fgd, WithoutCoresEverythingIdleIsFragment) {
  // The mix asks 4 cores with half a device; after a task of 62 cores 2 are left, so the half that
  // is still free becomes a fragment: sigmoid(−0.5) = 0.377….
  state({{&names.task(portion(500, 1, 4'000)), 1}});
  EXPECT_EQ(scorer->score(names.task(portion(500, 1, 62'000)), node({1'000})), 37);
  EXPECT_EQ(scorer->score(names.task(portion(500, 1, 60'000)), node({1'000})), 50);
}

}  // namespace
}  // namespace fairlead::sched::testing
