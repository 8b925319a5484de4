#include "sched/state/node_state.h"

#include <gtest/gtest.h>

#include "sched/testing.h"

namespace fairlead::sched::testing {
namespace {

DeviceClaim claim(std::uint16_t device, std::int64_t milli, std::int64_t mib) {
  DeviceClaim c;
  c.device = device;
  c.milli = MilliGpu(milli);
  c.memory = MiB(mib);
  return c;
}

DeviceClaim instance(std::int16_t start, std::int16_t slices, std::int16_t compute,
                     std::int64_t mib) {
  DeviceClaim c;
  c.mig_start = start;
  c.mig_memory_slices = slices;
  c.mig_compute_slices = compute;
  c.memory = MiB(mib);
  return c;
}

TaskPlacement holding(DeviceClaim c) {
  TaskPlacement p;
  p.devices.push_back(c);
  return p;
}

bool same(const DeviceState& a, const DeviceState& b) {
  return a.free_milli == b.free_milli && a.free_mib == b.free_mib &&
         a.mig_free_slices == b.mig_free_slices && a.mig_free_compute == b.mig_free_compute;
}

TEST(NodeRoom, TakesAndGivesExactly) {
  Names names;
  const ClassId l40s = names.define("L40S");
  NodeRoom room =
      NodeOf(names, "n").cells({8'000, 8'000}).memory(100).extended("rdma", 4).gpus(2, l40s);
  const NodeRoom before = room;
  TaskPlacement p = holding(claim(1, 300, 13'820));
  p.cpus.push_back({0, MilliCpu(500)});
  p.cpus.push_back({1, MilliCpu(1'000)});
  const HostClaim host{1'500, 60};
  const ExtendedAmounts rdma{{kFirstExtended, 3}};

  ASSERT_TRUE(room.holds(p, host, rdma));
  room.take(p, host, rdma);
  EXPECT_EQ(room.cpu, 16'000 - 1'500);
  EXPECT_EQ(room.memory, 40);
  EXPECT_EQ(room.cells[0].free_cpu, 7'500);
  EXPECT_EQ(room.cells[1].free_cpu, 7'000);
  EXPECT_EQ(room.extended_free(kFirstExtended), 1);
  EXPECT_EQ(room.devices[0].free_milli, 1'000);
  EXPECT_EQ(room.devices[1].free_milli, 700);
  EXPECT_EQ(room.devices[1].free_mib, 46'068 - 13'820);
  EXPECT_TRUE(room.devices[0].untouched());
  EXPECT_FALSE(room.devices[1].untouched());
  EXPECT_EQ(room.free_gpu_milli(), 1'700);

  room.give(p, host, rdma);
  EXPECT_EQ(room.cpu, before.cpu);
  EXPECT_EQ(room.memory, before.memory);
  EXPECT_EQ(room.cells[1].free_cpu, before.cells[1].free_cpu);
  EXPECT_EQ(room.extended_free(kFirstExtended), 4);
  EXPECT_TRUE(room.devices[1].untouched());
}

TEST(NodeRoom, PortionsThatAddUpToOneDeviceFillItToTheLastMilli) {
  // 0.333 + 0.333 + 0.334 = 1; of 46068 MiB they take 15340 + 15340 + 15386 = 46066: 2 MiB are lost
  // to rounding down, and never one too many is taken.
  Names names;
  const ClassId l40s = names.define("L40S");
  NodeRoom room = NodeOf(names, "n").gpus(1, l40s);
  for (const auto& [milli, mib] : {std::pair{333, 15'340}, {333, 15'340}, {334, 15'386}}) {
    EXPECT_EQ(milli * 46'068 / 1'000, mib);
    const TaskPlacement p = holding(claim(0, milli, mib));
    ASSERT_TRUE(room.holds(p, {}, {}));
    room.take(p, {}, {});
  }
  EXPECT_EQ(room.devices[0].free_milli, 0);
  EXPECT_EQ(room.devices[0].free_mib, 2);
  EXPECT_FALSE(room.holds(holding(claim(0, 1, 0)), {}, {}));
  EXPECT_FALSE(room.holds(holding(claim(0, 0, 3)), {}, {}));
  EXPECT_TRUE(room.holds(holding(claim(0, 0, 2)), {}, {}));
}

TEST(NodeRoom, HoldsSaysNoToEachClaimThatIsOneTooMuch) {
  Names names;
  const ClassId t4 = names.define("T4");
  const NodeRoom room =
      NodeOf(names, "n").cells({4'000, 4'000}).memory(100).extended("rdma", 1).gpus(1, t4);
  const auto on_cell = [](std::uint16_t cell, std::int64_t milli) {
    TaskPlacement p;
    p.cpus.push_back({cell, MilliCpu(milli)});
    return p;
  };
  EXPECT_TRUE(room.holds({}, {8'000, 100}, {{kFirstExtended, 1}}));
  EXPECT_FALSE(room.holds({}, {8'001, 0}, {}));
  EXPECT_FALSE(room.holds({}, {0, 101}, {}));
  EXPECT_FALSE(room.holds({}, {}, {{kFirstExtended, 2}}));
  EXPECT_FALSE(room.holds({}, {}, {{kFirstExtended + 1, 1}}))
      << "a resource the node never heard of";
  EXPECT_TRUE(room.holds(on_cell(1, 4'000), {4'000, 0}, {}));
  EXPECT_FALSE(room.holds(on_cell(1, 4'001), {4'001, 0}, {})) << "8 cores, but 4 of this cell";
  EXPECT_FALSE(room.holds(on_cell(2, 1), {1, 0}, {})) << "there is no third cell";
  EXPECT_TRUE(room.holds(holding(claim(0, 1'000, 15'360)), {}, {}));
  EXPECT_FALSE(room.holds(holding(claim(0, 1'001, 0)), {}, {}));
  EXPECT_FALSE(room.holds(holding(claim(0, 0, 15'361)), {}, {}));
  EXPECT_FALSE(room.holds(holding(claim(1, 1, 0)), {}, {})) << "there is no second device";
}

TEST(NodeRoom, MigInstancesOccupyTheirSlicesAndNoOthers) {
  Names names;
  const ClassId h100 = names.define("H100-80GB");
  NodeRoom room = NodeOf(names, "n").mig_gpu(h100);
  const NodeRoom before = room;
  EXPECT_EQ(room.devices[0].mig_free_slices, 0xffU);
  // 3g.40gb on slices 4 to 7, 1g.10gb on slice 2: of 7 compute slices 3 + 1 are gone.
  const TaskPlacement big = holding(instance(4, 4, 3, 40'448));
  const TaskPlacement small = holding(instance(2, 1, 1, 9'984));
  room.take(big, {}, {});
  room.take(small, {}, {});
  EXPECT_EQ(room.devices[0].mig_free_slices, 0b0000'1011U);
  EXPECT_EQ(room.devices[0].mig_free_compute, 3);
  EXPECT_EQ(room.devices[0].free_mib, 81'559 - 40'448 - 9'984);

  EXPECT_TRUE(room.holds(holding(instance(0, 2, 2, 20'096)), {}, {}));
  EXPECT_FALSE(room.holds(holding(instance(2, 2, 2, 20'096)), {}, {})) << "slice 2 is taken";
  EXPECT_FALSE(room.holds(holding(instance(0, 1, 4, 1)), {}, {})) << "3 compute slices are left";
  EXPECT_FALSE(room.holds(holding(instance(3, 2, 1, 1)), {}, {})) << "slice 4 is taken";

  room.give(big, {}, {});
  EXPECT_EQ(room.devices[0].mig_free_slices, 0b1111'1011U);
  room.give(small, {}, {});
  EXPECT_TRUE(same(room.devices[0], before.devices[0]));
  EXPECT_TRUE(room.devices[0].untouched());
}

TEST(NodeRoom, AnInstanceNeedsADeviceInMigMode) {
  Names names;
  const ClassId h100 = names.define("H100-80GB");
  const NodeRoom room = NodeOf(names, "n").gpus(1, h100);
  EXPECT_FALSE(room.holds(holding(instance(0, 1, 1, 1)), {}, {}));
}

TEST(NodeRoom, CountsTheComputeOfHealthyDevicesOnly) {
  Names names;
  const ClassId t4 = names.define("T4");
  NodeRoom room = NodeOf(names, "n").gpus(3, t4);
  room.take(holding(claim(0, 250, 0)), {}, {});
  room.devices[1].healthy = false;
  EXPECT_EQ(room.free_gpu_milli(), 750 + 1'000);
  EXPECT_EQ(room.total_gpu_milli(), 2'000);
}

TEST(NodeRoomDeathTest, OverCommitmentStopsTheProgram) {
  Names names;
  const ClassId t4 = names.define("T4");
  NodeRoom room = NodeOf(names, "n").gpus(1, t4);
  room.take(holding(claim(0, 600, 0)), {}, {});
  EXPECT_DEATH(room.take(holding(claim(0, 600, 0)), {}, {}), "never over-committed");
}

}  // namespace
}  // namespace fairlead::sched::testing
