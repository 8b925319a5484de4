#include <gtest/gtest.h>

#include "sched/scheduler_testing.h"

namespace fairlead::sched {
namespace {

using testing::Cluster;
using testing::gpus;

TEST(NodeDemand, IsNothingWhileNothingWaits) {
  Cluster cluster;
  cluster.node("n1", 4);
  cluster.must(WorkloadSubmitted{cluster.workload("runs", gpus(4))});
  cluster.decide();
  EXPECT_TRUE(cluster.scheduler.node_demand().empty());
}

// 3 + 2 + 1 of one device and a gang of 2 × 4: on nodes of 2 devices 3, on nodes of 4 the gang.
TEST(NodeDemand, TakesTheSmallestKindThatHoldsATaskAndFillsIt) {
  Cluster cluster;
  cluster.node("large", 4);
  cluster.node("small", 2);
  cluster.must(WorkloadSubmitted{cluster.workload("a", gpus(4))});
  cluster.must(WorkloadSubmitted{cluster.workload("b", gpus(2))});
  cluster.decide();
  for (int i = 0; i < 6; ++i)
    cluster.must(WorkloadSubmitted{cluster.workload("one-" + std::to_string(i), gpus(1))});
  cluster.node("large-2", 4);
  cluster.must(WorkloadSubmitted{cluster.workload("gang", gpus(4), 2)});
  cluster.must(NodeRemoved{"large-2"});
  cluster.decide();
  const auto demand = cluster.scheduler.node_demand();
  ASSERT_EQ(demand.size(), 2U);
  EXPECT_EQ(demand[0].like, "small");
  EXPECT_EQ(demand[0].nodes, 3);
  EXPECT_EQ(demand[0].workloads, 6);
  EXPECT_EQ(demand[1].like, "large");
  EXPECT_EQ(demand[1].nodes, 2);
  EXPECT_EQ(demand[1].workloads, 1);
  EXPECT_EQ(demand[1].tasks, 2);
}

// A limit keeps it out: no node would help.
TEST(NodeDemand, LeavesOutWhatAGateKeepsOut) {
  Cluster cluster;
  cluster.must(QueueUpserted{cluster.queue("team", 4000, 4000)});
  cluster.node("n1", 4);
  cluster.must(WorkloadSubmitted{cluster.workload("runs", gpus(4))});
  cluster.must(WorkloadSubmitted{cluster.workload("waits", gpus(1))});
  cluster.decide();
  EXPECT_TRUE(cluster.scheduler.node_demand().empty());
}

}  // namespace
}  // namespace fairlead::sched
