#include "node/inventory.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "node/simulated_gpus.h"
#include "node/tree_testing.h"

namespace fairlead::node {
namespace {

class InventoryTest : public testing::Test {
 protected:
  InventoryTest() {
    tree_.write("proc/meminfo", "MemTotal:       1048576 kB\nMemFree: 5 kB\n");
    tree_.write("proc/sys/kernel/hostname", "box\n");
    tree_.write("proc/self/cgroup", "0::/system.slice/fairlead.service\n");
    tree_.write("sys/devices/system/node/online", "0-1\n");
    tree_.write("sys/devices/system/node/node0/cpulist", "0-3\n");
    tree_.write("sys/devices/system/node/node1/cpulist", "4-7\n");
    options_.proc = tree_ / "proc";
    options_.sys = tree_ / "sys";
    options_.cpus = {0, 1, 2, 3, 4, 5};
    options_.nvml = "libnvidia-none.so.1";
  }

  Inventory take() {
    auto inventory = take_inventory(options_);
    EXPECT_TRUE(inventory) << inventory.error().text();
    return inventory ? *inventory : Inventory{};
  }

  TestTree tree_;
  InventoryOptions options_;
};

TEST_F(InventoryTest, CpusAreThoseThatAffinityLeavesDividedByNumaNode) {
  const Inventory inventory = take();
  EXPECT_EQ(inventory.node.name, "box");
  EXPECT_EQ(inventory.node.cpu, MilliCpu(6000));
  EXPECT_EQ(inventory.node.memory, Bytes(std::int64_t{1} << 30));
  ASSERT_EQ(inventory.node.numa.size(), 2U);
  EXPECT_EQ(inventory.node.numa[0].cpu, MilliCpu(4000));
  EXPECT_EQ(inventory.node.numa[1].cpu, MilliCpu(2000));
}

TEST_F(InventoryTest, TheSmallestLimitOfTheGroupsAboveCounts) {
  tree_.write("sys/fs/cgroup/system.slice/fairlead.service/cpu.max", "max 100000\n");
  tree_.write("sys/fs/cgroup/system.slice/cpu.max", "250000 100000\n");
  tree_.write("sys/fs/cgroup/system.slice/fairlead.service/memory.max", "268435456\n");
  tree_.write("sys/fs/cgroup/system.slice/memory.max", "max\n");
  const Inventory inventory = take();
  EXPECT_EQ(inventory.node.cpu, MilliCpu(2500));
  EXPECT_TRUE(inventory.node.numa.empty()) << "a cut amount has no place";
  EXPECT_EQ(inventory.node.memory, Bytes(268'435'456));
}

TEST_F(InventoryTest, LimitsOfVersionOneAreReadPerController) {
  tree_.write("proc/self/cgroup", "3:cpu,cpuacct:/a\n4:memory:/b\n0::/\n");
  tree_.write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "150000\n");
  tree_.write("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  tree_.write("sys/fs/cgroup/memory/b/memory.limit_in_bytes", "9223372036854771712\n");
  tree_.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n");
  const Inventory inventory = take();
  EXPECT_EQ(inventory.node.cpu, MilliCpu(1500));
  EXPECT_EQ(inventory.node.memory, Bytes(536'870'912));
}

TEST_F(InventoryTest, WithoutADriverThereAreNoGpusAndOneNoteSaysSo) {
  const Inventory inventory = take();
  EXPECT_TRUE(inventory.gpus.empty());
  ASSERT_EQ(inventory.notes.size(), 1U);
  EXPECT_NE(inventory.notes[0].find("libnvidia-none.so.1 is not there"), std::string::npos);
}

TEST_F(InventoryTest, TheDriversGpusHaveClassPlaceAndIsland) {
  options_.nvml = FAIRLEAD_FAKE_NVML;
  // One switch (port 0000:01) holds the first two; the third hangs from the root.
  for (const char* place : {"pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0/0000:1a:00.0",
                            "pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0/0000:2a:00.0",
                            "pci0000:00/0000:3a:00.0"}) {
    const std::string folder = std::string("sys/devices/") + place;
    const std::string id = folder.substr(folder.rfind('/') + 1);
    tree_.write(folder + "/numa_node", id == "0000:1a:00.0" ? "1\n" : "-1\n");
    tree_.write(folder + "/local_cpulist", id == "0000:2a:00.0" ? "4-7\n" : "0-3\n");
    std::filesystem::create_directories(tree_ / "sys/bus/pci/devices");
    std::filesystem::create_directory_symlink(tree_ / folder,
                                              tree_ / ("sys/bus/pci/devices/" + id));
  }
  const Inventory inventory = take();
  ASSERT_EQ(inventory.node.devices.size(), 3U);
  const auto& devices = inventory.node.devices;
  EXPECT_EQ(devices[0].id, "GPU-fake-0");
  EXPECT_EQ(devices[0].device_class, "H100-80GB");
  EXPECT_EQ(devices[2].device_class, "Quadro-Q9-rev-2");
  EXPECT_EQ(devices[0].numa, 1);
  EXPECT_EQ(devices[1].numa, 1) << "by the CPUs that are near";
  EXPECT_EQ(devices[2].numa, 0);
  EXPECT_EQ(devices[0].pcie_switch, devices[1].pcie_switch);
  EXPECT_EQ(devices[2].pcie_switch, -1);
  EXPECT_EQ(devices[0].nvlink_island, 0);
  EXPECT_EQ(devices[1].nvlink_island, 0);
  EXPECT_EQ(devices[2].nvlink_island, -1);
  EXPECT_TRUE(devices[1].mig_enabled);
  EXPECT_FALSE(devices[0].mig_enabled);
  ASSERT_EQ(inventory.classes.size(), 2U);
  EXPECT_EQ(inventory.classes[1].memory, MiB(6000));
  EXPECT_EQ(inventory.gpus[2].minor, 2);
}

TEST_F(InventoryTest, SimulatedGpusHaveTheSameIdentitiesEachTime) {
  options_.simulated_gpus = "2xA100-40GB,1xT4";
  const Inventory first = take();
  const Inventory second = take();
  ASSERT_EQ(first.node.devices.size(), 3U);
  EXPECT_TRUE(first.simulated);
  EXPECT_EQ(first.node.devices, second.node.devices);
  EXPECT_NE(first.node.devices[0].id, first.node.devices[1].id);
  EXPECT_EQ(first.node.devices[0].id.size(), std::string("GPU-").size() + 36);
  EXPECT_EQ(first.node.devices[2].device_class, "T4");
}

TEST(SimulatedGpus, WhatIsMalformedSaysHowToWriteIt) {
  for (const char* text : {"", "H100-80GB", "0xT4", "-1xT4", "8x", "x", "8H100"}) {
    const auto gpus = simulated_gpus(text);
    ASSERT_FALSE(gpus) << text;
    EXPECT_FALSE(gpus.error().cure.empty()) << text;
  }
  EXPECT_EQ(simulated_gpus("2xH100").error().cure, "did you mean H100-80GB?");
  EXPECT_EQ(simulated_gpus("99999xT4").error().code, ErrorCode::kOutOfRange);
}

TEST(TakeInventory, OfThisMachineHasCpusAndMemory) {
  const auto inventory = take_inventory();
  ASSERT_TRUE(inventory) << inventory.error().text();
  EXPECT_GT(inventory->node.cpu.value, 0);
  EXPECT_GT(inventory->node.memory.value, 0);
  EXPECT_FALSE(inventory->node.name.empty());
}

}  // namespace
}  // namespace fairlead::node
