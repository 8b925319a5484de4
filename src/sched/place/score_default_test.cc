#include "sched/place/score_default.h"

#include <gtest/gtest.h>

#include "sched/testing.h"

namespace fairlead::sched::testing {
namespace {

constexpr std::int32_t kStep = 1 << 14;  // one step of 128 milli lost

class DefaultScore : public ::testing::Test {
 protected:
  Names names;
  ClassId t4 = names.define("T4");
  ClassId l4 = names.define("L4");
  TestPool pool{names};
  PoolSpec spec;

  std::unique_ptr<Scorer> scorer() { return make_default_scorer(spec); }
  std::unique_ptr<Scorer> scorer(
      const std::vector<std::pair<const TaskClass*, std::int64_t>>& mix) {
    auto out = scorer();
    if (!pool.state().slot_count()) pool.order();
    out->state_mix(mix);
    out->refresh(pool.state());
    return out;
  }
  NodeState node(const std::vector<std::int32_t>& milli, std::int64_t cores = 10'000) {
    NodeState n = NodeOf(names, "n").cells({cores}).gpus(static_cast<int>(milli.size()), t4);
    for (std::size_t d = 0; d < milli.size(); ++d) {
      n.free.devices[d].free_milli = milli[d];
      n.free.devices[d].free_mib = n.free.devices[d].total_mib * milli[d] / 1'000;
    }
    n.free_milli = n.free.free_gpu_milli();
    return n;
  }
};

// --- the strategy alone, while no mix is known ---

TEST_F(DefaultScore, BinpackTakesTheNodeLeftWithLeastGpu) {
  const auto s = scorer();
  EXPECT_EQ(s->score(names.task(gpus(1)), node({1'000, 1'000, 1'000, 1'000})), -3'000);
  EXPECT_EQ(s->score(names.task(gpus(1)), node({1'000, 0, 0, 0})), 0);
  EXPECT_EQ(s->score(names.task(portion(300)), node({1'000, 500})), -1'200);
  EXPECT_EQ(s->device_choice(), DeviceChoice::kBestFit);
  EXPECT_EQ(s->device(names.task(portion(300)), node({1'000, 500})), -1) << "left to choose()";
}

TEST_F(DefaultScore, SpreadTakesTheNodeLeftWithMost) {
  spec.gpu_strategy = Strategy::kSpread;
  const auto s = scorer();
  EXPECT_EQ(s->score(names.task(gpus(1)), node({1'000, 1'000})), -(kStep - 1 - 1'000));
  EXPECT_LT(s->score(names.task(gpus(1)), node({1'000})),
            s->score(names.task(gpus(1)), node({1'000, 1'000})));
  EXPECT_EQ(s->device_choice(), DeviceChoice::kWorstFit);
}

TEST_F(DefaultScore, CpuTasksGoByTheShareOfCoresAndKeepOffGpus) {
  // 10 cores free, 2 asked: 8/10 of 16383 is 13106.4.
  const auto s = scorer();
  EXPECT_EQ(s->score(names.task(cpus(2'000)), node({})), -13'106);
  NodeState used = node({});
  used.free.cpu = 5'000;
  EXPECT_EQ(s->score(names.task(cpus(2'000)), used), -4'914) << "3/10 of 16383";
  EXPECT_LT(s->score(names.task(cpus(10'000)), node({0})),
            s->score(names.task(cpus(1)), node({})) - 1'000'000)
      << "a node with GPUs, however well it packs";
  spec.cpu_strategy = Strategy::kSpread;
  EXPECT_GT(scorer()->score(names.task(cpus(2'000)), node({})),
            scorer()->score(names.task(cpus(2'000)), used));
}

TEST_F(DefaultScore, ASoftTaintOutweighsPacking) {
  const auto s = scorer();
  NodeState soft = node({1'000});
  soft.spec.taints = {{"spot", "", TaintEffect::kPreferNoSchedule}};
  EXPECT_EQ(s->score(names.task(gpus(1)), soft), -64 * kStep);
  EXPECT_LT(s->score(names.task(gpus(1)), soft),
            s->score(names.task(gpus(1)), node({1'000, 1'000, 1'000})));
}

// --- with a mix: what it can still use afterwards ---

TEST_F(DefaultScore, TheLossToTheMixComesFirst) {
  // All ask half a device. 0.3 taken from {1, 0.5}: from the first, 0.7 + 0.5 stay usable, so 0.3
  // less for 0.3 taken: no loss. From {0.5} the rest of 0.2 is of no use: 0.5 less for 0.3, a loss
  // of 200 milli, two steps of 128.
  const auto s = scorer({{&names.task(portion(500)), 1}});
  const TaskClass& task = names.task(portion(300));
  EXPECT_EQ(s->device(task, node({1'000, 500})), 0);
  EXPECT_EQ(s->score(task, node({1'000, 500})), -700) << "0 steps, 0.7 left of the device";
  EXPECT_EQ(s->score(task, node({500})), -2 * kStep - 200);
}

TEST_F(DefaultScore, AFragmentThatNobodyWantsIsAGain) {
  // {0.3, 1}: 0.3 is of no use to the mix, so taking it costs nothing of what is usable: −300 milli
  // of loss, which is −2 steps (rounded up).
  const auto s = scorer({{&names.task(portion(500)), 1}});
  EXPECT_EQ(s->device(names.task(portion(300)), node({300, 1'000})), 0);
  EXPECT_EQ(s->score(names.task(portion(300)), node({300, 1'000})), 2 * kStep)
      << "nothing left of the device";
}

TEST_F(DefaultScore, GpusLeftWithoutCoresAreALoss) {
  // The mix asks one device and 2 cores. Two devices and 4 cores free; a task of one device and 3
  // cores leaves 1 core for 1 device: it is unusable (1000) and 500 of it stranded beyond what that
  // core serves. Before, nothing was. Loss 2000 − 0 − 1000 + 500 = 1500: 12 steps (11.7).
  const auto s = scorer({{&names.task(gpus(1, 2'000)), 1}});
  EXPECT_EQ(s->score(names.task(gpus(1, 3'000)), node({1'000, 1'000}, 4'000)), -12 * kStep);
  EXPECT_EQ(s->score(names.task(gpus(1, 2'000)), node({1'000, 1'000}, 4'000)), 0);
}

TEST_F(DefaultScore, AFractionIsPackedIntoDevicesAndSeveralDevicesIntoNodes) {
  // All ask 0.1, so that nothing is lost anywhere: what is left decides, of the device for a
  // fraction, however much else the node has free; of the node for two devices.
  const auto s = scorer({{&names.task(portion(100)), 1}});
  const TaskClass& fraction = names.task(portion(300));
  EXPECT_EQ(s->score(fraction, node({1'000, 1'000, 400})), -100);
  EXPECT_EQ(s->score(fraction, node({500})), -200) << "a fuller node, an emptier device";
  EXPECT_EQ(s->score(names.task(gpus(2)), node({1'000, 1'000, 400})), -400);
  EXPECT_EQ(s->score(names.task(gpus(2)), node({1'000, 1'000})), 0);
}

TEST_F(DefaultScore, OneDeviceOrNoneTakesTheFirstNodeThatLosesNothing) {
  const auto s = scorer({{&names.task(portion(100)), 1}});
  EXPECT_EQ(s->score(names.task(gpus(1)), node({1'000, 1'000, 400})), 0);
  EXPECT_EQ(s->score(names.task(gpus(1)), node({1'000})), 0);
  // Best fit by cores would leave GPUs without any.
  const TaskClass& two_cores = names.task(cpus(2'000));
  EXPECT_EQ(s->score(two_cores, node({1'000}, 4'000)), s->score(two_cores, node({1'000}, 8'000)));
  EXPECT_GT(s->score(two_cores, node({}, 4'000)), s->score(two_cores, node({}, 8'000)))
      << "nodes without GPUs are packed by cores as ever";
  spec.cpu_strategy = Strategy::kSpread;
  const auto spread = scorer({{&names.task(portion(100)), 1}});
  EXPECT_LT(spread->score(two_cores, node({1'000}, 4'000)),
            spread->score(two_cores, node({1'000}, 8'000)));
}

TEST_F(DefaultScore, SpreadDoesNotLookAtTheMix) {
  spec.gpu_strategy = Strategy::kSpread;
  const auto s = scorer({{&names.task(portion(500)), 1}});
  EXPECT_EQ(s->score(names.task(portion(300)), node({500})), -(kStep - 1 - 200));
  EXPECT_EQ(s->device(names.task(portion(300)), node({500})), -1);
}

TEST_F(DefaultScore, AScarceModelCostsThoseWhoCouldGoElsewhere) {
  // 4 T4 and 2 L4. Half of the demand can only run on L4: 3 of the 6 devices' worth, and there are
  // 2, so all of L4 is spoken for: 4 × 1000 milli, 31 steps.
  pool.add(NodeOf(names, "t").gpus(4, t4));
  pool.add(NodeOf(names, "l").gpus(2, l4));
  pool.order();
  Constraints only_l4;
  only_l4.device_classes = {"L4"};
  const TaskClass& pinned = names.task(gpus(1), only_l4);
  const TaskClass& anywhere = names.task(gpus(1));
  const auto s = scorer({{&pinned, 1}, {&anywhere, 1}});
  const std::size_t on_t4 = pool.state().group_at(0);
  const std::size_t on_l4 = pool.state().group_at(1);
  EXPECT_EQ(s->price(anywhere, on_t4, pool.state()), 0);
  EXPECT_EQ(s->price(anywhere, on_l4, pool.state()), 31 * kStep);
  EXPECT_EQ(s->price(names.task(cpus(1)), on_l4, pool.state()), 0);
  // A sixteenth of the demand: 375 of 2000 milli, less than half. No price.
  EXPECT_EQ(scorer({{&pinned, 1}, {&anywhere, 15}})->price(anywhere, on_l4, pool.state()), 0);
}

TEST_F(DefaultScore, AMixIsKnownOnceEnoughWasObserved) {
  pool.order();
  auto s = scorer();
  const TaskClass& half = names.task(portion(500));
  for (int i = 0; i < 99; ++i) s->observe(half);
  s->refresh(pool.state());
  const std::uint32_t version = s->version();
  EXPECT_EQ(s->score(names.task(portion(300)), node({500})), -200);
  s->observe(half);
  s->refresh(pool.state());
  EXPECT_GT(s->version(), version) << "cached scores are void";
  EXPECT_EQ(s->score(names.task(portion(300)), node({500})), -2 * kStep - 200);
}

}  // namespace
}  // namespace fairlead::sched::testing
