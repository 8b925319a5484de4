#include "sched/place/fit.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "sched/place/device_choice.h"
#include "sched/testing.h"

namespace fairlead::sched::testing {
namespace {

// --- filters, in their order (6.1) ---

class Filters : public ::testing::Test {
 protected:
  Names names;
  ClassId h100 = names.define("H100-80GB");
  ClassId t4 = names.define("T4");

  NodeOf node =
      NodeOf(names, "n").cells({8'000}).memory(64 * kGiB).extended("rdma", 1).gpus(2, h100);
  TaskRequest request = gpus(1, 1'000);
  Constraints constraints;

  Filter rejected_by() { return fit(names.task(request, constraints), node.make()).rejected_by; }
};

TEST_F(Filters, AreTriedInOrderAndTheFirstThatSaysNoIsNamed) {
  // Everything is wrong with this node; one thing after the other is set right.
  request.cpu = MilliCpu(9'000);
  request.memory = Bytes(65 * kGiB);
  request.extended["rdma"] = 2;
  request.gpu.count = 3;
  constraints.node_types = {"dgx"};
  constraints.node_selector = {{"disk", "nvme"}};
  constraints.affinity = {{"generation", MatchOperator::kGreater, {"8"}}};
  constraints.device_classes = {"T4"};
  NodeSpec& spec = node.spec();
  spec.ready = spec.schedulable = false;
  spec.taints = {{"team", "vision", TaintEffect::kNoSchedule}};

  EXPECT_EQ(rejected_by(), Filter::kNotReady);
  spec.ready = true;
  EXPECT_EQ(rejected_by(), Filter::kCordoned);
  spec.schedulable = true;
  EXPECT_EQ(rejected_by(), Filter::kTaint);
  constraints.tolerations = {{"team", std::nullopt, std::nullopt}};
  EXPECT_EQ(rejected_by(), Filter::kNodeType);
  spec.node_type = "dgx";
  EXPECT_EQ(rejected_by(), Filter::kSelector);
  spec.labels["disk"] = "nvme";
  EXPECT_EQ(rejected_by(), Filter::kAffinity);
  spec.labels["generation"] = "9";
  EXPECT_EQ(rejected_by(), Filter::kDeviceClass);
  constraints.device_classes = {"T4", "H100-80GB"};
  request.gpu.kind = GpuRequestKind::kMig;
  request.gpu.mig_profile = "1g.10gb";
  EXPECT_EQ(rejected_by(), Filter::kMigMode) << "an H100 could, but not in this mode";
  request.gpu.kind = GpuRequestKind::kDevices;
  request.gpu.mig_profile.clear();
  EXPECT_EQ(rejected_by(), Filter::kGpu);
  request.gpu.count = 2;
  EXPECT_EQ(rejected_by(), Filter::kCpu);
  request.cpu = MilliCpu(8'000);
  EXPECT_EQ(rejected_by(), Filter::kMemory);
  request.memory = Bytes(64 * kGiB);
  EXPECT_EQ(rejected_by(), Filter::kExtended);
  request.extended["rdma"] = 1;
  EXPECT_EQ(rejected_by(), Filter::kFits);
}

TEST_F(Filters, AnEmptyNodeIsJudgedAsIfReadyAndNobodyWereThere) {
  node.spec().ready = node.spec().schedulable = false;
  NodeState state = node.make();
  state.free.devices[0].free_milli = 0;
  state.free.devices[1].healthy = false;
  const TaskClass& task = names.task(gpus(2));
  EXPECT_EQ(fit(task, state).slots, 0);
  EXPECT_EQ(empty_fit(task, state).slots, 1);
}

TEST_F(Filters, CoresElsewhereDoNotHelpWhoNeedsThemNear) {
  node = NodeOf(names, "n").cells({2'000, 6'000}).gpu(h100, 0);
  request = near_cores(gpus(1, 2'000));
  EXPECT_EQ(rejected_by(), Filter::kFits);
  request.cpu = MilliCpu(3'000);
  EXPECT_EQ(rejected_by(), Filter::kNuma);
  request.numa = NumaPolicy::kPreferred;
  EXPECT_EQ(rejected_by(), Filter::kFits);
}

TEST_F(Filters, TaintsAndWhoToleratesThem) {
  const auto fits_with = [&](const Taint& taint, const std::vector<Toleration>& tolerations) {
    node.spec().taints = {taint};
    constraints.tolerations = tolerations;
    return rejected_by() == Filter::kFits;
  };
  const Taint vision{"team", "vision", TaintEffect::kNoSchedule};
  EXPECT_FALSE(fits_with(vision, {}));
  EXPECT_TRUE(fits_with(vision, {{"team", "vision", TaintEffect::kNoSchedule}}));
  EXPECT_FALSE(fits_with(vision, {{"team", "speech", std::nullopt}}));
  EXPECT_FALSE(fits_with(vision, {{"team", std::nullopt, TaintEffect::kNoExecute}}));
  EXPECT_FALSE(fits_with(vision, {{"tea", std::nullopt, std::nullopt}}));
  EXPECT_TRUE(fits_with(vision, {{"", std::nullopt, std::nullopt}})) << "every key";
  EXPECT_TRUE(fits_with({"team", "vision", TaintEffect::kPreferNoSchedule}, {}))
      << "soft: only scored";
  EXPECT_FALSE(fits_with({"team", "vision", TaintEffect::kNoExecute}, {}));
  node.spec().taints.push_back({"gpu", "broken", TaintEffect::kNoSchedule});
  constraints.tolerations = {{"team", std::nullopt, std::nullopt}};
  EXPECT_EQ(rejected_by(), Filter::kTaint) << "each taint must be tolerated";
}

TEST_F(Filters, AffinityTermsOverLabels) {
  node.spec().labels = {{"zone", "a"}, {"cores", "64"}, {"name", "x64"}};
  const auto matches = [&](MatchTerm term) {
    constraints.affinity = {std::move(term)};
    return rejected_by() == Filter::kFits;
  };
  EXPECT_TRUE(matches({"zone", MatchOperator::kIn, {"b", "a"}}));
  EXPECT_FALSE(matches({"zone", MatchOperator::kIn, {"b"}}));
  EXPECT_FALSE(matches({"rack", MatchOperator::kIn, {"b"}}));
  EXPECT_FALSE(matches({"zone", MatchOperator::kNotIn, {"a"}}));
  EXPECT_TRUE(matches({"rack", MatchOperator::kNotIn, {"a"}})) << "no label is none of them";
  EXPECT_TRUE(matches({"zone", MatchOperator::kExists, {}}));
  EXPECT_FALSE(matches({"rack", MatchOperator::kExists, {}}));
  EXPECT_TRUE(matches({"rack", MatchOperator::kDoesNotExist, {}}));
  EXPECT_TRUE(matches({"cores", MatchOperator::kGreater, {"9"}})) << "numbers, not text";
  EXPECT_FALSE(matches({"cores", MatchOperator::kGreater, {"64"}}));
  EXPECT_TRUE(matches({"cores", MatchOperator::kLess, {"65"}}));
  EXPECT_FALSE(matches({"name", MatchOperator::kGreater, {"1"}})) << "x64 is no number";
  constraints.affinity = {{"zone", MatchOperator::kExists, {}},
                          {"rack", MatchOperator::kExists, {}}};
  EXPECT_EQ(rejected_by(), Filter::kAffinity) << "all terms must hold";
}

TEST_F(Filters, ACpuTaskMayAskForANodeThatHasSomeDevice) {
  request = cpus(1'000);
  constraints.device_classes = {"T4"};
  EXPECT_EQ(rejected_by(), Filter::kDeviceClass);
  constraints.device_classes = {"H100-80GB"};
  EXPECT_EQ(rejected_by(), Filter::kFits);
}

// --- how many fit ---

TEST(RoomFit, TheScarcestResourceDecides) {
  Names names;
  const ClassId t4 = names.define("T4");
  const NodeRoom room = NodeOf(names, "n").cells({10'000}).memory(9).gpus(8, t4);
  TaskRequest r = gpus(1, 2'000);
  EXPECT_EQ(room_fit(names.task(r), room).slots, 5) << "10 cores / 2";
  r.memory = Bytes(3);
  EXPECT_EQ(room_fit(names.task(r), room).slots, 3) << "9 bytes / 3";
  EXPECT_EQ(room_fit(names.task(gpus(3)), room).slots, 2) << "8 devices / 3";
  EXPECT_EQ(room_fit(names.task(portion(300)), room).slots, 24) << "3 on each of 8";
  EXPECT_EQ(room_fit(names.task(cpus(0)), room).slots, kMaxSlots) << "who asks nothing always fits";
}

TEST(RoomFit, AWholeDeviceIsOneThatNobodyHoldsAnyPartOf) {
  Names names;
  const ClassId t4 = names.define("T4");
  NodeRoom room = NodeOf(names, "n").gpus(2, t4);
  TaskPlacement p;
  p.devices.push_back({0, -1, -1, 0, 0, MilliGpu(0), MiB(1)});
  room.take(p, {}, {});  // a memory request takes no compute
  EXPECT_EQ(room_fit(names.task(gpus(1)), room).slots, 1);
}

TEST(RoomFit, PortionsOfSeveralDevicesNeedDifferentOnes) {
  // Devices that take 4, 1 and 1 portions of 0.25. For tasks on two devices: the first serves at
  // most one portion of each task, so 2 tasks, not (4 + 1 + 1) / 2 = 3.
  Names names;
  const ClassId t4 = names.define("T4");
  NodeRoom room = NodeOf(names, "n").gpus(3, t4);
  for (std::uint16_t d = 1; d <= 2; ++d) {
    TaskPlacement p;
    p.devices.push_back({d, -1, -1, 0, 0, MilliGpu(750), MiB(0)});
    room.take(p, {}, {});
  }
  EXPECT_EQ(room_fit(names.task(portion(250, 2)), room).slots, 2);
}

// --- slots says how often choose() succeeds, whatever is asked and whatever is free ---

// A random node: devices of two classes, some in MIG mode, unhealthy, without a known cell, partly
// held.
NodeRoom random_room(Names& names, const std::vector<ClassId>& classes) {
  const auto within = [](std::int64_t low, std::int64_t high) {
    return *rc::gen::inRange<std::int64_t>(low, high + 1);
  };
  NodeOf node(names, "n");
  const auto cells = static_cast<std::size_t>(within(1, 3));
  std::vector<std::int64_t> milli;
  for (std::size_t c = 0; c < cells; ++c) milli.push_back(within(0, 12) * 1'000);
  node.cells(milli).memory(within(0, 64)).extended("rdma", within(0, 6));
  const std::int64_t devices = within(0, 6);
  for (std::int64_t d = 0; d < devices; ++d) {
    const ClassId device_class = classes[static_cast<std::size_t>(within(0, 1))];
    const auto cell = static_cast<std::int32_t>(
        within(cells == 1 ? 0 : -1, static_cast<std::int64_t>(cells) - 1));
    if (names.devices.get(device_class).mig_memory_slices > 0 && within(0, 1) == 1) {
      node.mig_gpu(device_class, cell);
    } else {
      node.gpu(device_class, cell, static_cast<std::int32_t>(within(-1, 1)),
               static_cast<std::int32_t>(within(-1, 1)));
    }
  }
  NodeRoom room = node;
  for (DeviceState& d : room.devices) {
    d.healthy = within(0, 9) != 0;
    if (within(0, 1) == 0) continue;
    if (d.mig) {
      d.mig_free_slices &= static_cast<std::uint32_t>(within(0, 255));
      d.mig_free_compute = static_cast<std::int32_t>(within(0, d.mig_total_compute));
    } else {
      d.free_milli = static_cast<std::int32_t>(within(0, 10)) * 100;
      d.free_mib = within(0, d.total_mib);
    }
  }
  return room;
}

TaskRequest random_request() {
  const auto within = [](std::int64_t low, std::int64_t high) {
    return *rc::gen::inRange<std::int64_t>(low, high + 1);
  };
  const auto n = static_cast<std::int32_t>(within(1, 3));
  TaskRequest r;
  switch (within(0, 4)) {
    case 0:
      break;
    case 1:
      r = gpus(n);
      break;
    case 2:
      r = portion(within(1, 9) * 100, n);
      break;
    case 3:
      r = device_memory(within(1, 20'000), n);
      break;
    default:
      r = mig(*rc::gen::element<std::string>("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "7g.80gb"),
              n);
  }
  r.cpu = MilliCpu(within(0, 8) * 500);
  r.memory = Bytes(within(0, 8));
  if (within(0, 3) == 0) r.extended["rdma"] = within(1, 2);
  if (within(0, 2) == 0) r.numa = NumaPolicy::kRequired;
  // Something must bound the number, or the room is filled sixty thousand times.
  if (r.gpu.none() && r.cpu.value == 0) r.cpu = MilliCpu(500);
  return r;
}

RC_GTEST_PROP(FitProperty, SlotsIsHowOftenChooseSucceeds, ()) {
  Names names;
  const std::vector<ClassId> classes{names.define("H100-80GB"), names.define("T4")};
  const NodeRoom start = random_room(names, classes);
  for (int requests = 0; requests < 12; ++requests) {
    NodeRoom room = start;
    const TaskRequest request = random_request();
    const TaskClass& task = names.task(request);
    const DeviceChoice choice = *rc::gen::element(DeviceChoice::kBestFit, DeviceChoice::kWorstFit);
    const Fit fit = room_fit(task, room);
    RC_ASSERT((fit.rejected_by == Filter::kFits) == (fit.slots > 0));
    std::int32_t placed = 0;
    while (placed < kMaxSlots) {
      const auto placement = choose(task, room, choice);
      if (!placement) break;
      RC_ASSERT(room.holds(*placement, task.host_claim(), task.extended));
      room.take(*placement, task.host_claim(), task.extended);
      ++placed;
    }
    RC_ASSERT(placed == fit.slots);
  }
}

RC_GTEST_PROP(FitProperty, AChosenTaskTakesExactlyWhatItAsksFromDifferentDevices, ()) {
  Names names;
  const std::vector<ClassId> classes{names.define("H100-80GB"), names.define("T4")};
  const NodeRoom room = random_room(names, classes);
  const TaskRequest request = random_request();
  const TaskClass& task = names.task(request);
  const auto placement = choose(task, room, DeviceChoice::kBestFit);
  RC_PRE(placement.has_value());
  std::int64_t cpu = 0;
  for (const CpuClaim& c : placement->cpus) cpu += c.cpu.value;
  RC_ASSERT(cpu == task.cpu);
  RC_ASSERT(static_cast<std::int32_t>(placement->devices.size()) == task.gpu_count);
  for (std::size_t i = 0; i < placement->devices.size(); ++i) {
    const DeviceClaim& claim = placement->devices[i];
    const DeviceState& device = room.devices[claim.device];
    RC_ASSERT(device_eligible(task, device));
    if (task.gpu_kind == GpuRequestKind::kMig) continue;  // instances may share a device
    if (i > 0) RC_ASSERT(placement->devices[i - 1].device < claim.device);
    RC_ASSERT(claim.milli.value == task.milli);
    RC_ASSERT(claim.memory.value == task.on_device[device.device_class.index()].mib);
    if (task.numa_required) {
      RC_ASSERT(std::any_of(placement->cpus.begin(), placement->cpus.end(), [&](const CpuClaim& c) {
        return static_cast<std::int32_t>(c.cell) == device.numa || placement->devices.size() > 1;
      }));
    }
  }
}

}  // namespace
}  // namespace fairlead::sched::testing
