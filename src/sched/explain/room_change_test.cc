// The change that would make room: which kind is named, and that it is true (10.2).
#include <gtest/gtest.h>

#include "sched/scheduler.h"
#include "sched/scheduler_testing.h"

namespace fairlead::sched::testing {
namespace {

class RoomChange : public ::testing::Test {
 protected:
  Cluster cluster;

  // The change named for a waiting workload.
  Change change(const std::string& workload) {
    const auto explanation = cluster.scheduler.explain(workload);
    EXPECT_TRUE(explanation) << workload;
    EXPECT_TRUE(explanation->cheapest) << explanation->text();
    return explanation->cheapest.value_or(Change{});
  }
  bool runs(const std::string& workload) {
    cluster.decide();
    return cluster.scheduler.workload(workload)->state == WorkloadState::kRunning;
  }
};

TEST_F(RoomChange, UncordonTheNodeThatWouldDo) {
  cluster.node("n0", 4);
  cluster.node("n1", 8);
  cluster.must(NodeConditionChanged{"n1", true, false});
  cluster.submit("a", gpus(8));
  EXPECT_FALSE(runs("a"));
  const Change c = change("a");
  EXPECT_EQ(c.kind, ChangeKind::kUncordon);
  EXPECT_EQ(c.target, "n1");
  EXPECT_EQ(c.text, "uncordon node n1");
  cluster.must(NodeConditionChanged{"n1", true, true});
  EXPECT_TRUE(runs("a"));
}

TEST_F(RoomChange, BringBackTheNodeThatIsDown) {
  cluster.node("n0", 8);
  cluster.must(NodeConditionChanged{"n0", false, true});
  cluster.submit("a", gpus(1));
  EXPECT_FALSE(runs("a"));
  EXPECT_EQ(change("a").text, "bring back node n0");
}

TEST_F(RoomChange, AskFewerDevicesPerTask) {
  cluster.node("n0", 8);
  cluster.submit("holder", gpus(5));
  EXPECT_TRUE(runs("holder"));
  cluster.submit("a", gpus(4));
  EXPECT_FALSE(runs("a"));
  const Change c = change("a");
  EXPECT_EQ(c.kind, ChangeKind::kLowerRequest);
  EXPECT_EQ(c.resource, "gpu");
  EXPECT_EQ(c.amount, 3) << "8 − 5 are free";
  cluster.must(WorkloadRemoved{"a"});
  cluster.submit("a", gpus(static_cast<std::int32_t>(c.amount)));
  EXPECT_TRUE(runs("a"));
}

TEST_F(RoomChange, AskASmallerPortionOrLessMemory) {
  cluster.node("n0", 1);
  cluster.submit("holder", portion(600));
  EXPECT_TRUE(runs("holder"));
  cluster.submit("a", portion(500));
  cluster.submit("b", device_memory(7'000));  // 15360 − floor(0.6 × 15360) = 6144 are free
  cluster.decide();
  const Change a = change("a");
  EXPECT_EQ(a.resource, "gpu-portion");
  EXPECT_EQ(a.amount, 400);
  const Change b = change("b");
  EXPECT_EQ(b.resource, "gpu-memory");
  EXPECT_EQ(b.amount, 6'144);
}

TEST_F(RoomChange, StartWithFewerTasks) {
  cluster.node("n0", 2);
  cluster.node("n1", 2);
  cluster.submit("holder", gpus(1));
  EXPECT_TRUE(runs("holder"));
  cluster.submit("a", gpus(1), 4);
  EXPECT_FALSE(runs("a"));
  const Change c = change("a");
  EXPECT_EQ(c.kind, ChangeKind::kLowerCount);
  EXPECT_EQ(c.amount, 3);
  cluster.must(WorkloadChanged{"a", {}, {}, {{"worker", 3, 3}}});
  EXPECT_TRUE(runs("a"));
}

TEST_F(RoomChange, AddNodesIfNothingLessHelps) {
  cluster.node("n0", 1);
  cluster.submit("holder", gpus(1));
  EXPECT_TRUE(runs("holder"));
  cluster.submit("a", gpus(1));
  EXPECT_FALSE(runs("a"));
  const Change c = change("a");
  EXPECT_EQ(c.kind, ChangeKind::kAddNodes);
  EXPECT_EQ(c.target, "n0");
  EXPECT_EQ(c.amount, 1);
  cluster.node("n1", 1);
  EXPECT_TRUE(runs("a"));
}

TEST_F(RoomChange, DropARequiredLevel) {
  // Two racks of two nodes with one device each; one node of each rack is held. Two roles that want
  // one rack can have neither, but the two free nodes if they drop it.
  PoolSpec pool;
  pool.consolidate = false;
  cluster.must(PoolDefined{pool});
  cluster.must(TopologyDefined{{"rack"}});
  for (int i = 0; i < 4; ++i) cluster.node("n" + std::to_string(i), 1, {i < 2 ? "r0" : "r1"});
  for (const char* node : {"n0", "n2"}) {
    WorkloadEntry entry;
    entry.spec = cluster.workload(std::string("on-") + node, gpus(1));
    entry.running = {{"worker", 0, node, {}}};
    cluster.must(WorkloadAdopted{entry});
  }
  WorkloadSpec spec = cluster.workload("a", gpus(1));
  spec.roles.push_back(spec.roles[0]);
  spec.roles[1].name = "second";
  spec.topology.within = "rack";
  cluster.must(WorkloadSubmitted{spec});
  EXPECT_FALSE(runs("a"));
  const Change c = change("a");
  EXPECT_EQ(c.kind, ChangeKind::kRelaxTopology);
  EXPECT_EQ(c.target, "a");
  cluster.must(WorkloadRemoved{"a"});
  spec.topology = {};
  cluster.must(WorkloadSubmitted{spec});
  EXPECT_TRUE(runs("a"));
}

TEST_F(RoomChange, ExplainingChangesNothing) {
  cluster.node("n0", 2);
  cluster.node("n1", 2);
  cluster.submit("holder", gpus(1));
  cluster.decide();
  cluster.submit("a", gpus(2), 2);
  cluster.decide();
  const std::string before = cluster.everything();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(cluster.scheduler.explain("a"));
  EXPECT_EQ(cluster.everything(), before);
  EXPECT_TRUE(cluster.decide().empty());
}

}  // namespace
}  // namespace fairlead::sched::testing
