// The fill-up and its measures on clusters small enough to follow.
#include <algorithm>

#include <gtest/gtest.h>

#include "sim/cluster/fragmentation.h"
#include "sim/openb/churn.h"
#include "sim/openb/fill.h"

namespace fairlead::sim {
namespace {

OpenbInput small() {
  OpenbInput input;
  for (int i = 0; i < 20; ++i) {
    input.nodes.push_back({"n" + std::to_string(i), 96'000, 393'216, 8, i % 2 == 0 ? "G2" : "T4"});
  }
  const std::vector<std::pair<std::int32_t, std::int64_t>> shapes{
      {0, 0}, {1, 250}, {1, 500}, {1, 700}, {1, 1000}, {2, 1000}, {8, 1000}};
  for (int i = 0; i < 70; ++i) {
    const auto& [gpus, milli] = shapes[static_cast<std::size_t>(i) % shapes.size()];
    OpenbPod pod{"p" + std::to_string(i), 4'000, 8'192, gpus, milli, {}};
    if (i % 11 == 3 && gpus > 0) pod.models = {"T4"};
    input.pods.push_back(std::move(pod));
  }
  return input;
}

TEST(Fragmentation, IsTheFreePartThatTheMixCannotUse) {
  // Mix: half of the requests 500 milli on one device, half 1000 on one.
  FragmentationMeter meter({{1000, 500, 1, {}, 1}, {1000, 1000, 1, {}, 1}});
  meter.add_node(4000, 2, 0);
  EXPECT_DOUBLE_EQ(meter.total(), 0);
  // 700 of device 0: its 300 left serve nobody.
  const std::vector<DeviceShare> part{{0, 700}};
  meter.take(0, 1000, part);
  EXPECT_DOUBLE_EQ(meter.total(), 300);
  // No CPU left: all 1,300 free are of no use.
  meter.take(0, 2500, {});
  EXPECT_DOUBLE_EQ(meter.total(), 1300);
  meter.give(0, 2500, {});
  meter.give(0, 1000, part);
  EXPECT_DOUBLE_EQ(meter.total(), 0);
}

TEST(OpenbFill, DrawsUpTo130PercentWithUniqueNamesInAnOrderOfTheSeed) {
  const OpenbInput input = small();
  const OpenbFill a = make_fill(input, 1);
  std::int64_t volume = 0;
  std::vector<std::string> names;
  for (const OpenbPod& pod : a.pods) {
    volume += pod.milli();
    names.push_back(pod.name);
  }
  // 208,000 is 130 % of 160 GPUs; the last pod may overshoot, as only one of its GPUs is counted.
  EXPECT_GT(volume, 208'000 - 1'000);
  EXPECT_LT(volume, 208'000 + 8'000);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  EXPECT_EQ(make_fill(input, 1).pods.back().name, a.pods.back().name);
  EXPECT_NE(make_fill(input, 2).nodes.front().name + make_fill(input, 2).pods.front().name,
            a.nodes.front().name + a.pods.front().name);
}

TEST(OpenbFill, TheMixIsCutWhere95PercentAreCovered) {
  std::vector<OpenbPod> pods;
  for (int i = 0; i < 96; ++i) pods.push_back({"a" + std::to_string(i), 1000, i, 1, 500, {}});
  for (int i = 0; i < 4; ++i) pods.push_back({"b" + std::to_string(i), 1000 + i, 1, 1, 1000, {}});
  EXPECT_EQ(mix_of(pods).entries.size(), 1u);
  EXPECT_EQ(mix_of(pods).entries[0].count, 96);
  EXPECT_EQ(mix_of(pods, 1.0).entries.size(), 5u);
}

TEST(OpenbFill, EveryPolicyFillsAndSameSeedGivesTheSame) {
  const OpenbInput input = small();
  for (const char* policy : {"default", "random", "bestfit", "dotprod", "fgd", "firstfit"}) {
    const auto a = run_openb_fill(input, policy, 42);
    const auto b = run_openb_fill(input, policy, 42);
    ASSERT_TRUE(a && b) << policy << (a ? "" : a.error().text());
    EXPECT_EQ(a->unallocated_percent, b->unallocated_percent) << policy;
    EXPECT_EQ(a->fragmentation_percent, b->fragmentation_percent) << policy;
    // Large pods on a small cluster: not every percent has an event.
    std::size_t last = kArrivedPercents - 1;
    while (a->unallocated_percent[last] < 0) --last;
    EXPECT_GT(last, 120u);
    EXPECT_LT(a->unallocated_percent[last], 40) << policy;
  }
  EXPECT_FALSE(run_openb_fill(input, "magic", 42).has_value());
}

TEST(OpenbChurn, SameSeedGivesTheSameAndSmallLoadLosesNothing) {
  const OpenbInput input = small();
  const auto a = run_openb_churn(input, "default", 1, 95);
  const auto b = run_openb_churn(input, "default", 1, 95);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->lost_percent, b->lost_percent);
  EXPECT_EQ(a->unallocated_percent, b->unallocated_percent);
  const auto light = run_openb_churn(input, "default", 1, 20);
  ASSERT_TRUE(light.has_value());
  EXPECT_LT(light->lost_percent, 1);
  EXPECT_NEAR(light->unallocated_percent, 80, 12);  // few, large pods: a wide band
}

}  // namespace
}  // namespace fairlead::sim
