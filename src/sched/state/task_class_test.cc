#include "sched/state/task_class.h"

#include <gtest/gtest.h>

#include "sched/testing.h"

namespace fairlead::sched::testing {
namespace {

class Charges : public ::testing::Test {
 protected:
  Names names;
  ClassId l40s = names.define("L40S");       // 46068 MiB, no MIG
  ClassId h100 = names.define("H100-80GB");  // 81559 MiB, 7 compute slices

  const OnDevice& on(const TaskRequest& request, ClassId device) {
    return names.task(request).on_device[device.index()];
  }
};

TEST_F(Charges, WholeDevices) {  // 2.1
  EXPECT_EQ(on(gpus(1), l40s).charge_milli, 1'000);
  EXPECT_EQ(on(gpus(8), h100).charge_milli, 8'000);
  EXPECT_EQ(on(gpus(1), h100).mib, 81'559) << "all of its memory";
}

TEST_F(Charges, PortionsOfMemoryAndOfComputeAlike) {  // 2.2
  EXPECT_EQ(on(portion(300), l40s).charge_milli, 300);
  EXPECT_EQ(on(portion(300), l40s).mib, 13'820) << "floor(0.3 × 46068) = floor(13820.4)";
  EXPECT_EQ(on(portion(500, 2), l40s).charge_milli, 1'000) << "half of each of two";
  EXPECT_EQ(on(portion(1), l40s).mib, 46);
}

TEST_F(Charges, MemoryIsChargedByTheDeviceItLandsOnRoundedUp) {  // 2.3
  // 1000 × 2000 / 46068 = 43.41…, so 44; on the H100 1000 × 2000 / 81559 = 24.52…, so 25.
  EXPECT_EQ(on(device_memory(2'000), l40s).charge_milli, 44);
  EXPECT_EQ(on(device_memory(2'000), h100).charge_milli, 25);
  EXPECT_EQ(on(device_memory(2'000, 3), l40s).charge_milli, 3 * 44) << "rounded per device";
  EXPECT_EQ(on(device_memory(46'068), l40s).charge_milli, 1'000);
  EXPECT_EQ(on(device_memory(1), l40s).charge_milli, 1);
}

TEST_F(Charges, TwentyThreeOfTwentyFourTasksOf2000MibFitOn46068Mib) {  // 2.6
  // 23 × 2000 = 46000 <= 46068 < 48000 = 24 × 2000. That 23 × 44 milli are more than the device's
  // 1000 is the quota's business: what the device gives is memory, and of that 68 MiB are left.
  NodeRoom room = NodeOf(names, "n").gpus(1, l40s);
  const TaskClass& task = names.task(device_memory(2'000));
  EXPECT_EQ(room_fit(task, room).slots, 23);
  int placed = 0;
  for (int i = 0; i < 24; ++i) {
    const auto placement = choose(task, room, DeviceChoice::kBestFit);
    if (!placement) continue;
    room.take(*placement, task.host_claim(), task.extended);
    ++placed;
  }
  EXPECT_EQ(placed, 23);
  EXPECT_EQ(room.devices[0].free_mib, 68);
  EXPECT_EQ(placed * on(device_memory(2'000), l40s).charge_milli, 1'012);
}

TEST_F(Charges, MigInstancesByTheirComputeSlices) {  // 2.5
  EXPECT_EQ(on(mig("1g.10gb"), h100).charge_milli, 142) << "floor(1000 / 7)";
  EXPECT_EQ(on(mig("3g.40gb"), h100).charge_milli, 428) << "floor(3000 / 7)";
  EXPECT_EQ(on(mig("7g.80gb"), h100).charge_milli, 1'000);
  EXPECT_EQ(on(mig("3g.40gb", 2), h100).charge_milli, 856);
  EXPECT_EQ(on(mig("3g.40gb"), h100).mib, 40'448);
}

TEST_F(Charges, SevenSmallInstancesNeverCostMoreThanTheDevice) {
  EXPECT_LE(7 * on(mig("1g.10gb"), h100).charge_milli, 1'000);
}

TEST_F(Charges, CpuOnlyTasksCostNoGpu) {
  EXPECT_EQ(on(cpus(4'000), h100).charge_milli, 0);
  EXPECT_EQ(on(cpus(4'000), h100).mib, 0);
}

TEST_F(Charges, ADeviceClassThatCannotOfferItIsNotAllowed) {
  EXPECT_FALSE(on(mig("1g.10gb"), l40s).allowed) << "has no MIG";
  EXPECT_TRUE(on(mig("1g.10gb"), h100).allowed);
  EXPECT_FALSE(on(mig("9g.90gb"), h100).allowed) << "no such profile";
  EXPECT_FALSE(on(device_memory(46'069), l40s).allowed) << "one MiB more than it has";
  EXPECT_TRUE(on(device_memory(46'068), l40s).allowed);
  EXPECT_TRUE(on(device_memory(46'069), h100).allowed);
}

TEST_F(Charges, ConstraintsNameTheClassesThatAreAllowed) {
  Constraints only_h100;
  only_h100.device_classes = {"H100-80GB"};
  const TaskClass& task = names.task(gpus(1), only_h100);
  EXPECT_FALSE(task.on_device[l40s.index()].allowed);
  EXPECT_TRUE(task.on_device[h100.index()].allowed);
}

TEST(TaskClasses, TasksThatAskTheSameShareOneClass) {
  Names names;
  Constraints type;
  type.node_types = {"dgx"};
  const TaskClassId a = names.classes.intern(gpus(1, 4'000), {});
  EXPECT_EQ(names.classes.intern(gpus(1, 4'000), {}), a);
  EXPECT_NE(names.classes.intern(gpus(1, 4'001), {}), a);
  EXPECT_NE(names.classes.intern(gpus(1, 4'000), type), a);
  EXPECT_EQ(names.classes.size(), 3U);
}

TEST(TaskClasses, CompilesWhatPlacementAsks) {
  Names names;
  TaskRequest request = near_cores(portion(250, 2, 3'000));
  request.memory = Bytes(77);
  request.extended = {{"rdma", 2}, {"unused", 0}};
  const TaskClass& task = names.task(request);
  EXPECT_EQ(task.gpu_count, 2);
  EXPECT_EQ(task.milli, 250);
  EXPECT_EQ(task.cpu, 3'000);
  EXPECT_EQ(task.memory, 77);
  EXPECT_EQ(task.extended, (ExtendedAmounts{{kFirstExtended, 2}})) << "an amount of 0 asks nothing";
  EXPECT_TRUE(task.numa_required);
  EXPECT_FALSE(names.task(near_cores(gpus(1))).numa_required) << "no cores to be near";
  EXPECT_FALSE(names.task(near_cores(cpus(1'000))).numa_required) << "no device to be near";
}

TEST(TaskClasses, LearnsDeviceClassesThatComeLater) {
  Names names;
  const TaskClass& task = names.task(portion(500));
  EXPECT_TRUE(task.on_device.empty());
  const ClassId t4 = names.define("T4");
  ASSERT_EQ(task.on_device.size(), 1U);
  EXPECT_EQ(task.on_device[t4.index()].mib, 7'680);
}

TEST(TaskClasses, ConfinesAClassToSomeOfItsDevices) {
  Names names;
  const ClassId t4 = names.define("T4");
  const ClassId l4 = names.define("L4");
  const ClassId h100 = names.define("H100-80GB");
  Constraints two;
  two.device_classes = {"T4", "L4"};
  const TaskClassId id = names.classes.intern(gpus(1), two);
  const auto allowed = [&](TaskClassId task) {
    std::vector<bool> out;
    for (const OnDevice& on : names.classes.get(task).on_device) out.push_back(on.allowed);
    return out;
  };
  EXPECT_EQ(t4.index() + l4.index() + h100.index(), 3U);
  EXPECT_EQ(allowed(names.classes.confined(id, {"L4", "H100-80GB"})),
            (std::vector{false, true, false}))
      << "H100 was not allowed before";
  EXPECT_EQ(allowed(names.classes.confined(id, {"H100-80GB"})), (std::vector{false, false, false}))
      << "none is left, which is not the same as none named";
}

// --- coming and going ---

class Uses : public ::testing::Test {
 protected:
  Names names;
  TaskClasses& classes = names.classes;
  TaskClassId of(std::int64_t cpu) { return classes.intern(cpus(cpu), {}); }
};

TEST_F(Uses, WhatIsHeldStays) {
  const TaskClassId a = of(1);
  classes.hold(a);
  for (std::int64_t i = 2; i < 200; ++i) of(i);
  EXPECT_EQ(classes.retire().size(), 198U - TaskClasses::kKeptUnused);
  EXPECT_EQ(of(1), a);
  EXPECT_EQ(classes.size(), 1 + TaskClasses::kKeptUnused);
}

TEST_F(Uses, TheLongestUnusedGoesFirst) {
  const TaskClassId a = of(1);
  const TaskClassId b = of(2);
  classes.hold(a);
  classes.release(a);  // used later than b
  for (std::size_t i = 0; i < TaskClasses::kKeptUnused - 1; ++i)
    of(100 + static_cast<std::int64_t>(i));
  EXPECT_EQ(classes.retire(), std::vector<TaskClassId>{b});
  of(1);  // asked again: now the newest
  const TaskClassId oldest = of(100);
  of(101);
  classes.hold(of(1'000));
  of(1'001);
  EXPECT_EQ(classes.retire().size(), 1U);
  EXPECT_EQ(of(1), a);
  EXPECT_TRUE(classes.alive(oldest));
}

TEST_F(Uses, AnIdIsUsedAgainForAnother) {
  const TaskClassId a = of(1);
  classes.discard(a);
  EXPECT_FALSE(classes.alive(a));
  EXPECT_EQ(classes.size(), 0U);
  const ClassId t4 = names.define("T4");  // known while nothing has the id
  const TaskClassId b = classes.intern(gpus(2), {});
  EXPECT_EQ(b, a);
  EXPECT_EQ(classes.get(b).gpu_count, 2);
  EXPECT_EQ(classes.get(b).cpu, 0);
  EXPECT_TRUE(classes.get(b).on_device[t4.index()].allowed);
  EXPECT_NE(of(1), b);
}

TEST_F(Uses, WhatTheMixRemembersKeepsItsIdWithoutAnIndex) {
  const TaskClassId a = of(1);
  classes.remember(a);
  for (std::int64_t i = 2; i < 100; ++i) of(i);
  EXPECT_EQ(classes.retire().front(), a) << "its index is void";
  EXPECT_TRUE(classes.alive(a));
  EXPECT_EQ(of(1), a) << "it comes back to use";
  for (std::int64_t i = 200; i < 300; ++i) of(i);
  classes.retire();
  classes.forget(a);
  EXPECT_FALSE(classes.alive(a));
}

}  // namespace
}  // namespace fairlead::sched::testing
