#include "sched/place/gang.h"

#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "sched/place/device_choice.h"
#include "sched/testing.h"

namespace fairlead::sched::testing {
namespace {

constexpr Level kZone = 0;
constexpr Level kRack = 1;
constexpr Level kHost = 2;

class Gang : public ::testing::Test {
 protected:
  Names names;
  ClassId t4 = names.define("T4");
  TestPool pool{names};
  GangRequest request;

  // Nodes of `gpus` devices by rack: cluster({{"z1", "r1", 3}, …}) names them n0, n1, … in order.
  struct Rack {
    const char* zone;
    const char* rack;
    int nodes;
  };
  void cluster(const std::vector<Rack>& racks, int gpus_each, std::int64_t cores = 64'000) {
    for (const Rack& rack : racks) {
      for (int i = 0; i < rack.nodes; ++i) {
        pool.add(NodeOf(names, "n" + std::to_string(pool.nodes().size()))
                     .cells({cores})
                     .gpus(gpus_each, t4)
                     .at({rack.zone, rack.rack}));
      }
    }
    pool.order(2);
    request.range = pool.state().all();
  }
  GangRole& role(const TaskRequest& task, std::int32_t count) {
    GangRole r;
    r.role = static_cast<std::int32_t>(request.roles.size());
    r.task_class = names.classes.intern(task, {});
    for (std::int32_t i = 0; i < count; ++i) r.indices.push_back(i);
    request.roles.push_back(std::move(r));
    return request.roles.back();
  }
  void fill(std::size_t node, std::int32_t devices) {
    pool.put(NodeId(node), names.task(gpus(devices)));
  }
  GangOutcome place(std::int64_t steps = 20'000) {
    const std::string before = rooms();
    GangOutcome outcome = GangPlacer(pool.placement(), steps).place(request);
    if (outcome.verdict != GangVerdict::kPlaced) {
      EXPECT_TRUE(outcome.tasks.empty());
      EXPECT_EQ(rooms(), before) << "a gang that does not fit takes nothing";
      return outcome;
    }
    std::size_t asked = 0;
    for (const GangRole& r : request.roles) asked += r.indices.size();
    EXPECT_EQ(outcome.tasks.size(), asked) << "whole or not at all";
    GangPlacer::release(pool.placement(), request, outcome.tasks);
    EXPECT_EQ(rooms(), before) << "release gives back what was taken";
    return outcome;
  }
  // Where the tasks of a role went: "n0 n0 n1".
  std::string nodes(const GangOutcome& outcome, std::int32_t of_role = 0) {
    if (outcome.verdict != GangVerdict::kPlaced) return "none";
    std::string out;
    for (const TaskPlacement& t : outcome.tasks) {
      if (t.role == of_role) out += (out.empty() ? "" : " ") + pool.node(t.node).spec.name;
    }
    return out;
  }
  static std::size_t hosts(const GangOutcome& outcome) {
    std::set<NodeId> out;
    for (const TaskPlacement& t : outcome.tasks) out.insert(t.node);
    return out.size();
  }
  std::string rooms() {
    std::string out;
    for (const NodeState& n : pool.nodes()) {
      out += n.spec.name + " cpu " + std::to_string(n.free.cpu) + " gpu";
      for (const DeviceState& d : n.free.devices)
        out += " " + std::to_string(d.free_milli) + "/" + std::to_string(d.free_mib);
      out += '\n';
    }
    return out + std::to_string(pool.state().free_milli(pool.state().all()));
  }
};

// --- one class: exact (6.5) ---

TEST_F(Gang, OneClassIsPlacedExactlyIfItFits) {
  cluster({{"z", "r", 3}}, 4);
  fill(0, 1);
  fill(1, 2);  // 3 + 2 + 4 devices are free: of tasks of 2, 1 + 1 + 2 fit
  role(gpus(2), 4);
  EXPECT_EQ(place().verdict, GangVerdict::kPlaced);
  request.roles.clear();
  role(gpus(2), 5);
  EXPECT_EQ(place().verdict, GangVerdict::kNoRoom);
}

TEST_F(Gang, PortionsOnSeveralDevicesAreExactToo) {
  // One node, devices with 1, ½ and ½ free: two tasks of ½ on two devices each.
  cluster({{"z", "r", 1}}, 3);
  const TaskClass& half = names.task(portion(500));
  TaskPlacement p;
  p.devices.push_back(device_claim(half, pool.node(NodeId(0)).free, 1));
  pool.state().take(NodeId(0), p, half);
  p.devices[0] = device_claim(half, pool.node(NodeId(0)).free, 2);
  pool.state().take(NodeId(0), p, half);
  role(portion(500, 2), 2);
  EXPECT_EQ(place().verdict, GangVerdict::kPlaced);
}

TEST_F(Gang, TasksComeByRoleAndIndex) {
  cluster({{"z", "r", 2}}, 2);
  role(cpus(1'000), 2);
  role(gpus(1), 3).indices = {1, 4, 6};
  const GangOutcome outcome = place();
  ASSERT_EQ(outcome.tasks.size(), 5U);
  std::vector<std::pair<int, int>> order;
  for (const TaskPlacement& t : outcome.tasks) order.emplace_back(t.role, t.index);
  EXPECT_EQ(order, (std::vector<std::pair<int, int>>{{0, 0}, {0, 1}, {1, 1}, {1, 4}, {1, 6}}));
}

// --- goals (6.4) ---

TEST_F(Gang, WithinADomainItStaysInsideOneTheOneLeftWithLeast) {
  cluster({{"z1", "r1", 3}, {"z1", "r2", 2}, {"z2", "r3", 3}}, 2);  // n0-2, n3-4, n5-7
  role(gpus(2), 2);
  request.goal.within = kRack;
  EXPECT_EQ(nodes(place()), "n3 n4") << "rack r2 is full then";
  fill(3, 1);
  fill(0, 1);  // r1 has 5 free, r2 3, r3 6
  EXPECT_EQ(nodes(place()), "n1 n2");
}

TEST_F(Gang, WithoutADomainThatHoldsItNothingIsPlaced) {
  cluster({{"z1", "r1", 2}, {"z1", "r2", 2}, {"z2", "r3", 2}}, 2);
  role(gpus(2), 3);
  request.goal.within = kRack;
  EXPECT_EQ(place().verdict, GangVerdict::kNoDomain) << "6 devices in all, 4 per rack";
  request.goal.within = kZone;
  EXPECT_EQ(nodes(place()), "n0 n1 n2");
  request.goal.within = kHost;
  EXPECT_EQ(place().verdict, GangVerdict::kNoDomain);
}

TEST_F(Gang, APreferredLevelIsKeptIfItCanBeElseTheNextWider) {
  cluster({{"z1", "r1", 1}, {"z2", "r2", 1}, {"z2", "r3", 1}}, 2);
  role(gpus(2), 1);
  request.goal.prefer = kRack;
  EXPECT_EQ(place().verdict, GangVerdict::kPlaced);
  request.roles.clear();
  role(gpus(2), 2);
  EXPECT_EQ(nodes(place()), "n1 n2") << "no rack has two, zone z2 has";
  request.roles.clear();
  role(gpus(2), 3);
  EXPECT_EQ(place().verdict, GangVerdict::kPlaced) << "nothing was required";
}

TEST_F(Gang, ARolesGoalBindsThatRoleAlone) {
  cluster({{"z1", "r1", 2}, {"z1", "r2", 2}}, 2);
  role(gpus(2), 2).goal.within = kRack;
  role(gpus(1), 3);
  const GangOutcome outcome = place();
  EXPECT_TRUE(nodes(outcome, 0) == "n0 n1" || nodes(outcome, 0) == "n2 n3") << nodes(outcome, 0);
}

TEST_F(Gang, APinnedRoleStaysWhereItRuns) {
  cluster({{"z1", "r1", 2}, {"z1", "r2", 3}}, 2);
  GangRole& r = role(gpus(2), 2);
  r.goal.within = kRack;
  r.pinned = {2, 5};
  EXPECT_EQ(place().tasks.size(), 2U);
  fill(2, 1);
  fill(3, 1);
  EXPECT_EQ(place().verdict, GangVerdict::kNoDomain) << "rack r1 is empty, but not its own";
}

TEST_F(Gang, EachSegmentStaysInOneDomain) {
  // Racks of 3, 3 and 2 devices; segments of 2 tasks: one per rack, though 8 devices would do
  // for 8.
  cluster({{"z", "r1", 1}, {"z", "r2", 1}}, 3);
  pool.add(NodeOf(names, "n2").gpus(2, t4).at({"z", "r3"}));
  pool.order(2);
  request.range = pool.state().all();
  GangRole& r = role(gpus(1), 6);
  r.segment_size = 2;
  r.segment_goal.within = kRack;
  const GangOutcome outcome = place();
  ASSERT_EQ(outcome.tasks.size(), 6U);
  for (std::size_t i = 0; i < 6; i += 2)
    EXPECT_EQ(outcome.tasks[i].node, outcome.tasks[i + 1].node);
  EXPECT_EQ(hosts(outcome), 3U);
  request.roles.clear();
  GangRole& more = role(gpus(1), 8);
  more.segment_size = 2;
  more.segment_goal.within = kRack;
  EXPECT_EQ(place().verdict, GangVerdict::kNoDomain);
}

TEST_F(Gang, AShortLastSegmentFitsWhereAFullOneDoesNot) {
  cluster({{"z", "r1", 1}}, 3);
  pool.add(NodeOf(names, "n1").gpus(1, t4).at({"z", "r2"}));
  pool.order(2);
  request.range = pool.state().all();
  GangRole& r = role(gpus(1), 4);
  r.segment_size = 3;
  r.segment_goal.within = kRack;
  EXPECT_EQ(nodes(place()), "n0 n0 n0 n1");
}

TEST_F(Gang, APinnedSegmentIsRepairedWhereItRuns) {
  cluster({{"z", "r1", 2}, {"z", "r2", 2}}, 2);
  GangRole& r = role(gpus(1), 1);
  r.indices = {5};  // of segment 1, which runs in rack r2
  r.segment_size = 4;
  r.segment_goal.within = kRack;
  r.pinned_segments = {{1, {2, 4}}};
  fill(2, 2);
  EXPECT_EQ(nodes(place()), "n3");
  fill(3, 2);
  EXPECT_EQ(place().verdict, GangVerdict::kNoDomain);
}

// --- fewest hosts ---

TEST_F(Gang, FewestHostsFillsOneBeforeTheNext) {
  cluster({{"z", "r", 4}}, 4);
  fill(0, 3);
  fill(1, 1);  // 1, 3, 4, 4 are free
  role(gpus(1), 8);
  request.goal.fewest_hosts = true;
  EXPECT_EQ(hosts(place()), 2U);
  request.roles.clear();
  role(gpus(1), 7);
  const GangOutcome seven = place();
  EXPECT_EQ(hosts(seven), 2U);
  EXPECT_NE(nodes(seven).find("n1"), std::string::npos)
      << "3 of the node that is full then: " << nodes(seven);
}

TEST_F(Gang, FewestHostsPrefersTheRackThatNeedsFewer) {
  cluster({{"z", "r1", 4}}, 1);
  for (int i = 0; i < 2; ++i)
    pool.add(NodeOf(names, "b" + std::to_string(i)).gpus(4, t4).at({"z", "r2"}));
  pool.order(2);
  request.range = pool.state().all();
  role(gpus(1), 4);
  request.goal.within = kRack;
  EXPECT_EQ(nodes(place()), "n0 n1 n2 n3") << "the rack left with least";
  request.goal.fewest_hosts = true;
  EXPECT_EQ(hosts(place()), 1U);
}

TEST_F(Gang, TwoParameterServersAndTenWorkersOnFewHostsOfOneRack) {
  // The example of 6.4. Racks: r1 with three nodes of 4 devices, r2 with two nodes of 8; of r2's
  // second node one device is gone. 10 workers: r2 holds them on 2 hosts (8 + 2), r1 would need 3.
  for (int i = 0; i < 3; ++i) {
    pool.add(NodeOf(names, "a" + std::to_string(i))
                 .cells({16'000, 16'000})
                 .gpu(t4, 0)
                 .gpu(t4, 0)
                 .gpu(t4, 1)
                 .gpu(t4, 1)
                 .at({"z", "r1"}));
  }
  for (int i = 0; i < 2; ++i) {
    NodeOf node(names, "b" + std::to_string(i));
    node.cells({16'000, 16'000}).at({"z", "r2"});
    for (int d = 0; d < 8; ++d) node.gpu(t4, d / 4);
    pool.add(node);
  }
  pool.order(2);
  fill(4, 1);
  request.range = pool.state().all();
  request.goal.within = kRack;
  request.goal.fewest_hosts = true;
  role(cpus(1'000, 8'000'000'000), 2);
  TaskRequest worker = near_cores(gpus(1, 4'000));
  worker.memory = Bytes(48 * kGiB);
  role(worker, 10);
  const GangOutcome outcome = place();
  ASSERT_EQ(outcome.verdict, GangVerdict::kPlaced);
  EXPECT_EQ(hosts(outcome), 2U);
  for (const TaskPlacement& t : outcome.tasks) {
    EXPECT_EQ(pool.node(t.node).spec.topology[1], "r2");
    if (t.role == 0) continue;
    ASSERT_EQ(t.cpus.size(), 1U);
    EXPECT_EQ(t.cpus[0].cell, pool.node(t.node).free.devices[t.devices[0].device].numa)
        << "cores next to it";
  }
}

// --- several classes ---

TEST_F(Gang, SeveralClassesShareWhatThereIs) {
  // Two nodes of 4 devices and 8 cores. 2 × (3 devices, 1 core), 2 × (1 device, 7 cores): only one
  // of each per node will do.
  cluster({{"z", "r", 2}}, 4, 8'000);
  role(gpus(1, 7'000), 2);
  role(gpus(3, 1'000), 2);
  EXPECT_EQ(place().verdict, GangVerdict::kPlaced);
  request.roles.clear();
  role(gpus(1, 7'000), 2);
  role(gpus(3, 2'000), 1);
  EXPECT_EQ(place().verdict, GangVerdict::kNoDomain) << "9 cores on no node";
}

TEST_F(Gang, WhatIsTooMuchTogetherIsRefusedBeforeAnythingIsTried) {
  cluster({{"z", "r", 2}}, 4);
  role(gpus(3), 2);
  role(gpus(2), 2);  // 10 devices of 8, though each role alone fits
  EXPECT_EQ(place(0).verdict, GangVerdict::kNoRoom);
}

TEST_F(Gang, ASearchThatRunsOutOfStepsSaysSo) {
  cluster({{"z", "r", 2}}, 4, 8'000);
  role(gpus(1, 7'000), 2);
  role(gpus(3, 1'000), 2);
  EXPECT_EQ(place(0).verdict, GangVerdict::kRanOut);
  role(gpus(1), 1);
  EXPECT_EQ(place(0).verdict, GangVerdict::kNoRoom) << "what is proved needs no steps";
}

// --- what a "no" proves (7.6) ---

TEST_F(Gang, FractionsOfSeveralSizesAreSearchedForDeviceByDevice) {
  // One node with 1000, 600, 800 and 500 milli free, which is just what 4 × 500 and 3 × 300 ask:
  // 500+500, 300+300, 500+300, 500. Best fit puts a 500 on the 600 if these come first, and a 300
  // on the 500 if those do.
  cluster({{"z", "r", 1}}, 4);
  const auto hold = [&](std::int64_t milli, std::uint16_t device) {
    const TaskClass& task = names.task(portion(milli));
    TaskPlacement p;
    p.devices.push_back(device_claim(task, pool.node(NodeId(0)).free, device));
    pool.state().take(NodeId(0), p, task);
  };
  hold(400, 1);
  hold(200, 2);
  hold(500, 3);
  role(portion(500), 4);
  role(portion(300), 3);
  EXPECT_EQ(place().verdict, GangVerdict::kPlaced);
  EXPECT_EQ(place(0).verdict, GangVerdict::kRanOut);
}

TEST_F(Gang, ANoAfterEveryChoiceOfDevicesIsAProof) {
  // 3 × 600 on three devices leave 400 of each, too little for a 500: as much compute is free as is
  // asked, and each size has room alone.
  cluster({{"z", "r", 1}}, 3);
  role(portion(600), 3);
  role(portion(500), 2);
  EXPECT_EQ(place().verdict, GangVerdict::kNoDomain);
}

TEST_F(Gang, ANoWithChoicesThatAreNotTriedSaysSo) {
  // Two cells of two devices and 8 cores. 2 × (device, 8 near cores) and (device, 1 near core): the
  // sum of the cores says no, and only counting both classes together could prove it.
  pool.add(NodeOf(names, "n0").cells({8'000, 8'000}).gpu(t4, 0).gpu(t4, 0).gpu(t4, 1).gpu(t4, 1));
  pool.order();
  request.range = pool.state().all();
  role(near_cores(gpus(1, 8'000)), 2);
  role(near_cores(gpus(1, 1'000)), 1);
  EXPECT_EQ(place().verdict, GangVerdict::kNotFound);
  request.roles.clear();
  role(near_cores(gpus(1, 8'000)), 3);
  EXPECT_EQ(place().verdict, GangVerdict::kNoRoom) << "one class on one device each is counted";
  request.roles.clear();
  role(near_cores(gpus(2, 8'000)), 3);
  EXPECT_EQ(place().verdict, GangVerdict::kNotFound) << "several devices each are not";
}

TEST_F(Gang, SegmentsOfSeveralSizesAreSearchedFor) {
  // Of four segments of 4 are lost 3, 2, 2 and 2; racks with 5 and 4 free devices hold 3 + 2 and
  // 2 + 2. The largest first, in the rack left with least, would leave 1 and 5.
  cluster({{"z", "r1", 1}, {"z", "r2", 1}}, 5);
  fill(1, 1);
  GangRole& r = role(gpus(1), 0);
  r.indices = {0, 1, 2, 4, 5, 8, 9, 12, 13};
  r.segment_size = 4;
  r.segment_goal.within = kRack;
  EXPECT_EQ(place().verdict, GangVerdict::kPlaced);
}

TEST_F(Gang, FewestHostsKeepsWhatWasFoundWhenTheStepsAreUsedUp) {
  // Rack r1 needs 4 hosts for 4 tasks, which 10 steps find; r2 needs two, which takes more.
  cluster({{"z", "r1", 4}}, 1);
  for (int i = 0; i < 2; ++i)
    pool.add(NodeOf(names, "b" + std::to_string(i)).gpus(2, t4).at({"z", "r2"}));
  pool.add(NodeOf(names, "b2").gpus(1, t4).at({"z", "r2"}));
  pool.order(2);
  request.range = pool.state().all();
  request.goal.within = kRack;
  request.goal.fewest_hosts = true;
  role(gpus(1), 4);
  EXPECT_EQ(hosts(place()), 2U);
  for (std::int64_t steps = 0; steps < 20; ++steps) {
    const GangOutcome outcome = place(steps);
    ASSERT_EQ(outcome.verdict, GangVerdict::kPlaced) << steps << " steps";
    EXPECT_LE(hosts(outcome), 4U);
  }
}

TEST_F(Gang, TheRangeBoundsEverything) {
  cluster({{"z", "r1", 2}, {"z", "r2", 2}}, 2);
  request.range = {2, 4};
  role(gpus(2), 2);
  EXPECT_EQ(nodes(place()), "n2 n3");
  request.roles.clear();
  role(gpus(2), 3);
  EXPECT_EQ(place().verdict, GangVerdict::kNoRoom);
}

TEST_F(Gang, RandomPlacementDrawsOnlyFromTheRange) {
  TestPool random(names, "random");
  for (int i = 0; i < 6; ++i) random.add(NodeOf(names, "n" + std::to_string(i)).gpus(2, t4));
  random.order();
  request.range = {1, 4};
  role(portion(500), 12);
  const GangOutcome outcome = GangPlacer(random.placement(), 1'000).place(request);
  ASSERT_EQ(outcome.verdict, GangVerdict::kPlaced) << "12 halves on 6 devices";
  for (const TaskPlacement& t : outcome.tasks)
    EXPECT_TRUE(t.node.index() >= 1 && t.node.index() < 4);
}

// A gang of one class and one goal is placed exactly if a domain of the goal counts enough places
// (brute force over domains), and then lies in one domain.
RC_GTEST_PROP(GangProperty, OneClassWithinALevelIsExact, ()) {
  const auto within = [](std::int64_t low, std::int64_t high) {
    return *rc::gen::inRange<std::int64_t>(low, high + 1);
  };
  Names names;
  const ClassId t4 = names.define("T4");
  TestPool pool(names);
  const std::int64_t n = within(1, 8);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t zone = within(0, 1);
    pool.add(NodeOf(names, "n" + std::to_string(i))
                 .cells({within(1, 8) * 1'000})
                 .gpus(static_cast<int>(within(0, 4)), t4)
                 .at({"z" + std::to_string(zone), "r" + std::to_string(within(0, 2))}));
  }
  pool.order(2);
  const std::vector<TaskRequest> requests{gpus(1, 500),    gpus(2),     portion(400),
                                          portion(500, 2), cpus(1'500), device_memory(5'000)};
  // What is placed stays, so each request finds another pool.
  for (int tries = 0; tries < 8; ++tries) {
    const TaskClassId task =
        names.classes.intern(requests[static_cast<std::size_t>(within(0, 5))], {});
    GangRequest request;
    request.range = pool.state().all();
    request.goal.within = static_cast<Level>(within(-1, 2));
    GangRole role;
    role.task_class = task;
    const std::int64_t count = within(1, 6);
    for (std::int64_t i = 0; i < count; ++i) role.indices.push_back(static_cast<std::int32_t>(i));
    request.roles.push_back(role);

    bool possible = false;
    for (const Domain& d : pool.state().domains(request.goal.within, request.range)) {
      std::int64_t places = 0;
      for (std::uint32_t s = d.slots.begin; s < d.slots.end; ++s) {
        places += fit(names.classes.get(task), pool.state().node_at(s)).slots;
      }
      possible = possible || places >= count;
    }
    const GangOutcome outcome = GangPlacer(pool.placement(), 20'000).place(request);
    RC_ASSERT((outcome.verdict == GangVerdict::kPlaced) == possible);
    std::set<std::uint32_t> domains;
    for (const TaskPlacement& t : outcome.tasks) {
      domains.insert(pool.state().domain_of(request.goal.within, pool.node(t.node).slot).begin);
    }
    RC_ASSERT(domains.size() <= 1U);
  }
}

// --- several classes against brute force ---

struct Ask {
  std::int64_t gpus = 0;
  std::int64_t cpu = 0;
};

// Whether the tasks pack into what nodes have free of (devices, CPU), by trying everything.
bool packs(std::vector<Ask>& free, const std::vector<Ask>& tasks, std::size_t next) {
  if (next == tasks.size()) return true;
  for (Ask& node : free) {
    if (node.gpus < tasks[next].gpus || node.cpu < tasks[next].cpu) continue;
    node.gpus -= tasks[next].gpus;
    node.cpu -= tasks[next].cpu;
    const bool rest = packs(free, tasks, next + 1);
    node.gpus += tasks[next].gpus;
    node.cpu += tasks[next].cpu;
    if (rest) return true;
  }
  return false;
}

// Roles of whole devices and of CPUs: the answer is the one of brute force, unless the search says
// that it ran out; it does not on a few nodes.
RC_GTEST_PROP(GangProperty, SeveralClassesOfWholeDevicesAreExact, ()) {
  const auto within = [](std::int64_t low, std::int64_t high) {
    return *rc::gen::inRange<std::int64_t>(low, high + 1);
  };
  Names names;
  const ClassId t4 = names.define("T4");
  TestPool pool(names);
  std::vector<Ask> free;
  const std::int64_t n = within(1, 4);
  for (std::int64_t i = 0; i < n; ++i) {
    free.push_back({within(0, 4), within(0, 8) * 1'000});
    pool.add(NodeOf(names, "n" + std::to_string(i))
                 .cells({free.back().cpu})
                 .gpus(static_cast<int>(free.back().gpus), t4));
  }
  pool.order();
  GangRequest request;
  request.range = pool.state().all();
  request.goal.fewest_hosts = within(0, 1) == 1;
  std::vector<Ask> tasks;
  const std::int64_t roles = within(2, 3);
  for (std::int64_t r = 0; r < roles; ++r) {
    const Ask ask{within(0, 2), within(1, 4) * 1'000};
    GangRole role;
    role.role = static_cast<std::int32_t>(r);
    role.task_class = names.classes.intern(
        ask.gpus > 0 ? gpus(static_cast<std::int32_t>(ask.gpus), ask.cpu) : cpus(ask.cpu), {});
    const std::int64_t count = within(1, 3);
    for (std::int64_t i = 0; i < count; ++i) {
      role.indices.push_back(static_cast<std::int32_t>(i));
      tasks.push_back(ask);
    }
    request.roles.push_back(std::move(role));
  }
  const GangOutcome outcome = GangPlacer(pool.placement(), 200'000).place(request);
  RC_ASSERT(outcome.verdict != GangVerdict::kRanOut);
  RC_ASSERT((outcome.verdict == GangVerdict::kPlaced) == packs(free, tasks, 0));
  if (outcome.verdict == GangVerdict::kPlaced) {
    RC_ASSERT(outcome.tasks.size() == tasks.size());
    GangPlacer::release(pool.placement(), request, outcome.tasks);
  }
  for (const NodeState& node : pool.nodes()) {
    RC_ASSERT(node.free.cpu == node.empty.cpu);
    RC_ASSERT(node.free_milli == node.empty.free_gpu_milli());
  }
}

}  // namespace
}  // namespace fairlead::sched::testing
