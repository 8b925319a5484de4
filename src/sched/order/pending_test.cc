#include "sched/order/pending.h"

#include <gtest/gtest.h>

namespace fairlead::sched {
namespace {

PendingSet::Key gang(std::size_t shape) {
  return {EntryKind::kGang, ShapeId(shape), -1, 0, WorkloadId{}, false};
}

EntryKey entry(std::size_t workload, std::int64_t sequence, std::int64_t priority = 50) {
  EntryKey key;
  key.minus_priority = -priority;
  key.sequence = sequence;
  key.workload = WorkloadId(workload);
  return key;
}

constexpr PoolId kA{0};
constexpr PoolId kB{1};
constexpr QueueId kQueue{0};

class Waiting : public ::testing::Test {
 protected:
  PendingSet set;
  bool fresh = false;

  RequirementId requirement(std::size_t shape) { return set.intern(gang(shape), fresh); }
  std::vector<std::size_t> workloads(BucketId id) {
    std::vector<std::size_t> out;
    for (const EntryKey& e : set.bucket(id).entries) out.push_back(e.workload.index());
    return out;
  }
};

TEST(EntryKey, PriorityThenGangsThenTheSitesOwnOrderThenTimeThenSequence) {  // 4.2
  // Each key loses to the one before it by one criterion and wins by all that come after.
  std::vector<EntryKey> order(6);
  order[0] = {-60, EntryKind::kExtra, 9, 9, 9, WorkloadId(9)};
  order[1] = {-50, EntryKind::kGang, 9, 9, 9, WorkloadId(9)};
  order[2] = {-50, EntryKind::kExtra, 1, 9, 9, WorkloadId(9)};
  order[3] = {-50, EntryKind::kExtra, 2, 1, 9, WorkloadId(9)};
  order[4] = {-50, EntryKind::kExtra, 2, 2, 1, WorkloadId(9)};
  order[5] = {-50, EntryKind::kExtra, 2, 2, 2, WorkloadId(0)};
  for (std::size_t i = 0; i + 1 < order.size(); ++i) EXPECT_LT(order[i], order[i + 1]) << i;
}

TEST_F(Waiting, EqualRequirementsAreOne) {
  const RequirementId a = requirement(0);
  EXPECT_TRUE(fresh);
  EXPECT_EQ(requirement(0), a);
  EXPECT_FALSE(fresh) << "its needs are filled in already";
  EXPECT_NE(requirement(1), a);
  EXPECT_NE(set.intern({EntryKind::kExtra, ShapeId(0), -1, 0, WorkloadId{}, false}, fresh), a);
  EXPECT_NE(set.intern({EntryKind::kGang, ShapeId(0), -1, 0, WorkloadId(3), false}, fresh), a)
      << "one workload's own";
  EXPECT_NE(set.intern({EntryKind::kGang, ShapeId(0), -1, 0, WorkloadId{}, true}, fresh), a)
      << "its pool is chosen";
}

TEST_F(Waiting, AQueuesWorkloadsThatAskTheSameStandInOneBucketInOrder) {
  const RequirementId r = requirement(0);
  set.add(r, kQueue, kA, 0, entry(7, 1));
  set.add(r, kQueue, kA, 0, entry(8, 2, 90));
  set.add(r, kQueue, kA, 0, entry(9, 0));
  const auto buckets = set.take_fresh(kA);
  ASSERT_EQ(buckets.size(), 1U) << "added to three times, named once";
  EXPECT_EQ(workloads(buckets[0]), (std::vector<std::size_t>{8, 9, 7}));
  set.add(r, QueueId(1), kA, 0, entry(1, 3));
  EXPECT_EQ(set.all_buckets().size(), 2U) << "another queue, another bucket";
  EXPECT_EQ(set.requirement(r).buckets, 2);
  EXPECT_EQ(set.requirements_in(kA), (std::vector{r}));
}

TEST_F(Waiting, FreshBucketsAreToldOnceAndPerPool) {
  const RequirementId r = requirement(0);
  set.add(r, kQueue, kA, 0, entry(1, 1));
  set.add(r, kQueue, kB, 1, entry(1, 1));
  EXPECT_EQ(set.take_fresh(kA).size(), 1U);
  EXPECT_TRUE(set.take_fresh(kA).empty());
  ASSERT_EQ(set.take_fresh(kB).size(), 1U);
  EXPECT_EQ(set.requirement(r).find(kA)->stage, 0);
  EXPECT_EQ(set.requirement(r).find(kB)->stage, 1);
  set.add(r, kQueue, kA, 0, entry(2, 2));
  EXPECT_EQ(set.take_fresh(kA).size(), 1U) << "a new member makes it fresh again";
}

TEST_F(Waiting, AnEmptyBucketIsGivenBackWithItsRequirement) {
  const RequirementId r = requirement(0);
  set.add(r, kQueue, kA, 0, entry(1, 1));
  set.add(r, kQueue, kA, 0, entry(2, 2));
  set.remove(r, kQueue, kA, entry(1, 1));
  EXPECT_EQ(set.all_buckets().size(), 1U);
  set.drop_if_unused(r);
  EXPECT_EQ(requirement(0), r) << "somebody waits on it still";
  set.remove(r, kQueue, kA, entry(2, 2));
  EXPECT_TRUE(set.all_buckets().empty());
  EXPECT_TRUE(set.requirements_in(kA).empty());
  EXPECT_TRUE(set.take_fresh(kA).empty()) << "what is empty by now is not told";
  set.drop_if_unused(r);
  EXPECT_EQ(requirement(5), r) << "the id is used again";
  EXPECT_TRUE(fresh);
  EXPECT_TRUE(set.requirement(r).needs.empty());
}

TEST_F(Waiting, AQueueKnowsTheHeadsOfItsBucketsInOrder) {
  const RequirementId small = requirement(0);
  const RequirementId large = requirement(1);
  const auto heads = [&] {
    std::vector<std::size_t> out;
    const auto& queues = set.queues_in(kA);
    for (const Head& head : queues[kQueue.index()].heads) out.push_back(head.key.workload.index());
    EXPECT_TRUE(set.heads_agree());
    return out;
  };
  set.add(small, kQueue, kA, 0, entry(7, 3));
  set.add(large, kQueue, kA, 0, entry(8, 2));
  EXPECT_EQ(heads(), (std::vector<std::size_t>{8, 7}));
  set.add(small, kQueue, kA, 0, entry(9, 4));
  EXPECT_EQ(heads(), (std::vector<std::size_t>{8, 7})) << "behind the head of its bucket";
  set.add(small, kQueue, kA, 0, entry(5, 1));
  EXPECT_EQ(heads(), (std::vector<std::size_t>{5, 8}));
  set.remove(small, kQueue, kA, entry(5, 1));
  set.remove(small, kQueue, kA, entry(7, 3));
  EXPECT_EQ(heads(), (std::vector<std::size_t>{8, 9}));
  set.remove(large, kQueue, kA, entry(8, 2));
  set.remove(small, kQueue, kA, entry(9, 4));
  EXPECT_TRUE(heads().empty());
}

TEST_F(Waiting, PoolsComeAfterThoseThatAreRatherHad) {  // 6.1.a
  EXPECT_EQ(set.pool_order(3), (std::vector{kA, kB, PoolId(2)}));
  const RequirementId r = requirement(0);
  set.add(r, kQueue, PoolId(2), 0, entry(1, 1));
  set.add(r, kQueue, kA, 1, entry(1, 1));
  EXPECT_EQ(set.pool_order(3), (std::vector{kB, PoolId(2), kA}));
  const RequirementId circle = requirement(1);
  set.add(circle, kQueue, kA, 0, entry(2, 2));
  set.add(circle, kQueue, PoolId(2), 1, entry(2, 2));
  EXPECT_EQ(set.pool_order(3), (std::vector{kB, kA, PoolId(2)})) << "a circle is cut";
  set.remove(r, kQueue, PoolId(2), entry(1, 1));
  set.remove(r, kQueue, kA, entry(1, 1));
  set.drop_if_unused(r);
  EXPECT_EQ(set.pool_order(3), (std::vector{kA, kB, PoolId(2)}));
}

TEST_F(Waiting, ABucketThatIsAnotherPoolsByNowIsNotToldToTheFirst) {
  // Bucket ids are used again. Once pool A was told of a bucket that had become B's, and what
  // wanted to run in B was placed in A.
  const RequirementId r = requirement(0);
  set.add(r, kQueue, kA, 0, entry(1, 1));
  set.remove(r, kQueue, kA, entry(1, 1));
  set.add(r, kQueue, kB, 0, entry(2, 2));
  EXPECT_TRUE(set.take_fresh(kA).empty());
  EXPECT_EQ(set.take_fresh(kB).size(), 1U);
}

}  // namespace
}  // namespace fairlead::sched
