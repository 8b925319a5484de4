#include "sched/place/usable_capacity.h"

#include <gtest/gtest.h>

#include "sched/testing.h"

namespace fairlead::sched::testing {
namespace {

constexpr std::int64_t kOne = 1 << UsableCapacity::kShareBits;

FreeGpus free_gpus(const std::vector<std::int32_t>& milli) {
  FreeGpus out;
  for (const std::int32_t m : milli) {
    out.milli[out.count++] = m;
    out.idle += m == 1'000 ? 1 : 0;
  }
  return out;
}

class Usable : public ::testing::Test {
 protected:
  Names names;
  ClassId t4 = names.define("T4");
  ClassId h100 = names.define("H100-80GB");
  // Three of four ask half a device with 2 cores, one a whole device with 4.
  std::vector<RequestMix::Item> mix{{&names.task(portion(500, 1, 2'000)), 3},
                                    {&names.task(gpus(1, 4'000)), 1}};
  UsableCapacity usable;
};

TEST_F(Usable, EachDeviceCountsForThoseWhomItWouldServe) {
  usable.build(mix);
  EXPECT_EQ(usable.usable(free_gpus({1'000}), 8'000), 1'000 * kOne) << "all of it, to all";
  EXPECT_EQ(usable.usable(free_gpus({600}), 8'000), 600 * kOne * 3 / 4)
      << "too little for one in four";
  EXPECT_EQ(usable.usable(free_gpus({400}), 8'000), 0) << "too little for anyone";
  EXPECT_EQ(usable.usable(free_gpus({1'000, 600, 400}), 8'000), 1'000 * kOne + 600 * kOne * 3 / 4);
}

TEST_F(Usable, WithoutTheCoresThereIsNoUse) {
  usable.build(mix);
  EXPECT_EQ(usable.usable(free_gpus({1'000}), 3'999), 1'000 * kOne * 3 / 4);
  EXPECT_EQ(usable.usable(free_gpus({1'000}), 2'000), 1'000 * kOne * 3 / 4);
  EXPECT_EQ(usable.usable(free_gpus({1'000}), 1'999), 0);
}

TEST_F(Usable, CpuRequestsUseNoGpu) {
  mix.push_back({&names.task(cpus(1'000)), 4});
  usable.build(mix);
  EXPECT_EQ(usable.usable(free_gpus({1'000}), 8'000), 1'000 * kOne / 2) << "half of all requests";
}

TEST_F(Usable, RequestsOfSeveralDevicesUseIdleOnesOnceThereAreEnough) {
  usable.build({{&names.task(gpus(2)), 1}});
  EXPECT_EQ(usable.usable(free_gpus({1'000, 900}), 0), 0);
  EXPECT_EQ(usable.usable(free_gpus({1'000, 1'000}), 0), 2'000 * kOne);
  EXPECT_EQ(usable.usable(free_gpus({1'000, 1'000, 1'000}), 0), 3'000 * kOne);
}

TEST_F(Usable, ChangeIsTheDifferenceOfTwoStates) {
  mix.push_back({&names.task(gpus(2)), 4});
  usable.build(mix);
  const auto difference = [&](const FreeGpus& before, std::size_t device, std::int32_t to) {
    FreeGpus after = before;
    after.milli[device] = to;
    if (before.milli[device] == 1'000) --after.idle;
    return usable.usable(after, 8'000) - usable.usable(before, 8'000);
  };
  const FreeGpus two = free_gpus({1'000, 1'000, 700});
  EXPECT_EQ(usable.change(two, 8'000, 1'000, 300), difference(two, 0, 300));
  EXPECT_EQ(usable.change(two, 8'000, 1'000, 0), difference(two, 1, 0));
  EXPECT_EQ(usable.change(two, 8'000, 700, 500), difference(two, 2, 500));
  EXPECT_EQ(usable.change(two, 8'000, 700, 200), difference(two, 2, 200));
}

TEST_F(Usable, StrandedIsWhatTheCoresCannotServe) {
  // In the mean (3 × 500 + 1000) / (3 × 2000 + 4000) = a quarter of a milli-GPU per milli-CPU.
  usable.build(mix);
  EXPECT_EQ(usable.stranded(4'000, 3'000), 2'000) << "4 cores serve one GPU";
  EXPECT_EQ(usable.stranded(12'000, 3'000), 0);
  EXPECT_EQ(usable.stranded(16'000, 3'000), 0);
  usable.build({{&names.task(gpus(1)), 1}});
  EXPECT_EQ(usable.stranded(0, 3'000), 0) << "nobody asks cores";
}

TEST_F(Usable, ManyDifferentSizesAreThinnedOutOnTheSafeSide) {
  std::vector<RequestMix::Item> sizes;
  for (int m = 1; m <= 200; ++m) sizes.push_back({&names.task(portion(m, 1, m)), 1});
  usable.build(sizes);
  EXPECT_EQ(usable.usable(free_gpus({200}), 200), 200 * kOne);
  // 100 of 200 sizes fit into 0.1; counted at the next level they may be fewer, never more.
  const std::int64_t half = usable.usable(free_gpus({100}), 200);
  EXPECT_LE(half, 100 * kOne / 2);
  EXPECT_GE(half, 100 * kOne * 45 / 100);
}

TEST_F(Usable, SizesAsMilliAndDevices) {
  using Size = std::pair<std::int64_t, std::int32_t>;
  EXPECT_EQ(gpu_size(names.task(cpus(1'000))), (Size{0, 0}));
  EXPECT_EQ(gpu_size(names.task(gpus(4))), (Size{1'000, 4}));
  EXPECT_EQ(gpu_size(names.task(portion(250, 2))), (Size{250, 2}));
  EXPECT_EQ(gpu_size(names.task(device_memory(4'000, 2))), (Size{261, 2}))
      << "ceil(4000000 / 15360), by the first class";
  EXPECT_EQ(gpu_size(names.task(mig("3g.40gb"))), (Size{428, 1}));
  EXPECT_EQ(gpu_size(names.task(device_memory(200'000))), (Size{0, 0})) << "no class has it";
}

}  // namespace
}  // namespace fairlead::sched::testing
