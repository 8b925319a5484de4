#include "sched/place/device_choice.h"

#include <gtest/gtest.h>

#include "sched/place/fit.h"
#include "sched/testing.h"

namespace fairlead::sched::testing {
namespace {

class Devices : public ::testing::Test {
 protected:
  Names names;
  ClassId h100 = names.define("H100-80GB");
  ClassId t4 = names.define("T4");

  // The devices that choose() gives, as text: "2 3".
  std::string chosen(const TaskRequest& request, const NodeRoom& room,
                     DeviceChoice choice = DeviceChoice::kBestFit, std::int32_t preferred = -1) {
    const auto placement = choose(names.task(request), room, choice, preferred);
    if (!placement) return "none";
    std::string out;
    for (const DeviceClaim& c : placement->devices)
      out += (out.empty() ? "" : " ") + std::to_string(c.device);
    return out;
  }
  std::string cores(const TaskRequest& request, const NodeRoom& room) {
    const auto placement = choose(names.task(request), room, DeviceChoice::kBestFit);
    if (!placement) return "none";
    std::string out;
    for (const CpuClaim& c : placement->cpus) {
      out += (out.empty() ? "" : " ") + std::to_string(c.cpu.value) + "@" + std::to_string(c.cell);
    }
    return out;
  }
  static void hold(NodeRoom& room, std::uint16_t device, std::int64_t milli, std::int64_t mib = 0) {
    TaskPlacement p;
    p.devices.push_back({device, -1, -1, 0, 0, MilliGpu(milli), MiB(mib)});
    room.take(p, {}, {});
  }
};

// --- whole devices: NVLink, PCIe, NUMA (6.3) ---

TEST_F(Devices, StayInOneNvlinkIslandTheOneLeftWithLeast) {
  // Islands {0,2,4,6} and {1,3,5}: two devices come from the smaller, four only fit the larger.
  NodeOf node(names, "n");
  for (int d = 0; d < 7; ++d) node.gpu(h100, 0, d / 2, d % 2);
  EXPECT_EQ(chosen(gpus(2), node), "1 3");
  EXPECT_EQ(chosen(gpus(3), node), "1 3 5");
  EXPECT_EQ(chosen(gpus(4), node), "0 2 4 6");
  EXPECT_EQ(chosen(gpus(1), node), "1");
}

TEST_F(Devices, WithoutAnIslandThatHoldsAllTheLargestGoesWholeAndTheRestIsNear) {
  NodeOf node(names, "n");
  for (const int island : {0, 1, 1, 1, 2, 2}) node.gpu(h100, 0, 0, island);
  EXPECT_EQ(chosen(gpus(4), node), "0 1 2 3") << "island 1, and the one that island 0 is";
  EXPECT_EQ(chosen(gpus(5), node), "1 2 3 4 5");
}

TEST_F(Devices, InsideAnIslandBySwitchThenByCell) {
  // One island; switches {0,1,2}, {3,4}: two come from the smaller switch.
  NodeOf by_switch(names, "n");
  for (const int s : {0, 0, 0, 1, 1}) by_switch.gpu(h100, 0, s, 0);
  EXPECT_EQ(chosen(gpus(2), by_switch), "3 4");
  // Nothing known but the cell: {0,2,3}, {1,4}.
  NodeOf by_cell(names, "n");
  by_cell.cells({8'000, 8'000});
  for (const int cell : {0, 1, 0, 0, 1}) by_cell.gpu(h100, cell);
  EXPECT_EQ(chosen(gpus(2), by_cell), "1 4");
  EXPECT_EQ(chosen(gpus(3), by_cell), "0 2 3");
}

TEST_F(Devices, TheLowestPositionAmongEquals) {
  EXPECT_EQ(chosen(gpus(2), NodeOf(names, "n").gpus(8, t4)), "0 1");
}

TEST_F(Devices, OnlyWhatIsWhollyFreeAndHealthyCounts) {
  NodeRoom room = NodeOf(names, "n").gpus(4, t4);
  hold(room, 0, 1);
  room.devices[2].healthy = false;
  EXPECT_EQ(chosen(gpus(2), room), "1 3");
  EXPECT_EQ(chosen(gpus(3), room), "none");
}

// --- fractions ---

TEST_F(Devices, AFractionGoesWhereLeastIsLeftOrMostIfSpread) {
  NodeRoom room = NodeOf(names, "n").gpus(4, t4);
  hold(room, 1, 300, 4'608);
  hold(room, 2, 700, 10'752);
  EXPECT_EQ(chosen(portion(200), room), "2");
  EXPECT_EQ(chosen(portion(400), room), "1") << "0.3 of device 2 is too little";
  EXPECT_EQ(chosen(portion(200), room, DeviceChoice::kWorstFit), "0");
  EXPECT_EQ(chosen(portion(200), room, DeviceChoice::kBestFit, 3), "3")
      << "a device that is preferred";
  EXPECT_EQ(chosen(portion(400), room, DeviceChoice::kBestFit, 2), "1")
      << "unless it does not fit there";
}

TEST_F(Devices, AMemoryRequestLooksAtMemoryFirst) {
  NodeRoom room = NodeOf(names, "n").gpus(3, t4);
  hold(room, 0, 100, 8'000);
  hold(room, 1, 900, 1'000);
  EXPECT_EQ(chosen(device_memory(4'000), room), "0") << "7360 MiB free, though 0.9 of its compute";
  EXPECT_EQ(chosen(device_memory(8'000), room), "1");
  EXPECT_EQ(chosen(portion(50), room), "1") << "portions look at compute first";
}

TEST_F(Devices, PortionsOnSeveralDevicesLeaveRoomForAllThatFit) {
  // Devices that take 2, 1 and 1 portions of 0.5. Two tasks on two devices each fit, but only if
  // the first leaves one of the small ones: best fit alone once took both of them.
  NodeRoom room = NodeOf(names, "n").gpus(3, t4);
  hold(room, 1, 500, 7'680);
  hold(room, 2, 500, 7'680);
  const TaskClass& task = names.task(portion(500, 2));
  ASSERT_EQ(room_fit(task, room).slots, 2);
  for (int i = 0; i < 2; ++i) {
    const auto placement = choose(task, room, DeviceChoice::kBestFit);
    ASSERT_TRUE(placement) << i;
    room.take(*placement, {}, {});
  }
}

// --- cores (6.3) ---

TEST_F(Devices, DevicesAreTakenWhereTheirCoresAre) {
  // Cell 0 has 2 cores left, cell 1 has 8; a device on each.
  NodeOf node(names, "n");
  node.cells({2'000, 8'000}).gpu(t4, 0).gpu(t4, 1);
  EXPECT_EQ(chosen(gpus(1, 4'000), node), "1");
  EXPECT_EQ(cores(gpus(1, 4'000), node), "4000@1");
  EXPECT_EQ(chosen(gpus(1, 2'000), node), "0") << "both would do; the lower one";
  EXPECT_EQ(chosen(gpus(1, 9'000), node), "0") << "no cell has 9, so anywhere";
  EXPECT_EQ(cores(gpus(1, 9'000), node), "2000@0 7000@1") << "its own cell first";
  EXPECT_EQ(chosen(near_cores(gpus(1, 9'000)), node), "none");
}

TEST_F(Devices, CoresOfSeveralCellsAreNearIfEachLendsADeviceToo) {
  NodeOf node(names, "n");
  node.cells({4'000, 4'000, 4'000}).gpu(t4, 0).gpu(t4, 0).gpu(t4, 1);
  EXPECT_EQ(chosen(near_cores(gpus(2, 4'000)), node), "0 1") << "one cell is enough";
  EXPECT_EQ(chosen(near_cores(gpus(2, 6'000)), node), "0 2") << "two cells, a device of each";
  EXPECT_EQ(cores(near_cores(gpus(2, 6'000)), node), "4000@1 2000@0")
      << "that with fewer devices first";
  EXPECT_EQ(chosen(near_cores(gpus(2, 9'000)), node), "none") << "cell 2 has no device to lend";
}

TEST_F(Devices, ATaskWithoutDevicesTakesCoresThatFreeDevicesNeedLeast) {
  NodeOf node(names, "n");
  node.cells({8'000, 8'000, 8'000}).gpu(t4, 0).gpu(t4, 0).gpu(t4, 1);
  EXPECT_EQ(cores(cpus(4'000), node), "4000@2");
  EXPECT_EQ(cores(cpus(12'000), node), "8000@2 4000@1");
}

// --- MIG instances (2.5) ---

class Mig : public Devices {
 protected:
  NodeRoom room = NodeOf(names, "n").mig_gpu(h100);

  // Starts of the instances that fit one after the other.
  std::string starts(const std::string& profile, int at_most = 99) {
    std::string out;
    const TaskClass& task = names.task(mig(profile));
    for (int i = 0; i < at_most; ++i) {
      const auto placement = choose(task, room, DeviceChoice::kBestFit);
      if (!placement) break;
      room.take(*placement, task.host_claim(), task.extended);
      out += (out.empty() ? "" : " ") + std::to_string(placement->devices[0].mig_start);
    }
    return out;
  }
};

TEST_F(Mig, AsManyOfAProfileFitAsTheTableSays) {
  const NodeRoom empty = room;
  for (const auto& [profile, count] : std::vector<std::pair<std::string, int>>{{"1g.10gb", 7},
                                                                               {"1g.20gb", 4},
                                                                               {"2g.20gb", 3},
                                                                               {"3g.40gb", 2},
                                                                               {"4g.40gb", 1},
                                                                               {"7g.80gb", 1}}) {
    room = empty;
    EXPECT_EQ(room_fit(names.task(mig(profile)), room).slots, count) << profile;
    const std::string placed = starts(profile);
    EXPECT_EQ(std::count(placed.begin(), placed.end(), ' ') + 1, count)
        << profile << " at " << placed;
  }
}

TEST_F(Mig, AnInstanceLeavesTheMostStartsToOthers) {
  EXPECT_EQ(starts("3g.40gb", 1), "4") << "slices 0 to 3 are worth more: a 4g begins only there";
  EXPECT_EQ(room_fit(names.task(mig("4g.40gb")), room).slots, 1);
  EXPECT_EQ(starts("3g.40gb"), "0");
}

TEST_F(Mig, AClaimSaysWhatItTakes) {
  const auto claim = mig_claim(names.task(mig("3g.40gb")), room.devices[0]);
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->mig_memory_slices, 4);
  EXPECT_EQ(claim->mig_compute_slices, 3);
  EXPECT_EQ(claim->milli.value, 428);
  EXPECT_EQ(claim->memory.value, 40'448);
}

TEST_F(Mig, InstancesFillTheFullestDeviceFirst) {
  room = NodeOf(names, "n").mig_gpu(h100).mig_gpu(h100).gpus(1, h100);
  const TaskClass& small = names.task(mig("1g.10gb"));
  TaskPlacement first;
  first.devices.push_back(*mig_claim(small, room.devices[1]));
  first.devices[0].device = 1;
  room.take(first, {}, {});
  EXPECT_EQ(chosen(mig("2g.20gb"), room), "1");
  EXPECT_EQ(chosen(mig("7g.80gb"), room), "0");
  EXPECT_EQ(chosen(mig("7g.80gb", 2), room), "none");
  EXPECT_EQ(chosen(gpus(1), room), "2") << "a device in MIG mode is nobody's whole one";
}

}  // namespace
}  // namespace fairlead::sched::testing
