#include "sched/order/service_order.h"

#include <gtest/gtest.h>

namespace fairlead::sched {
namespace {

// Two keys that are equal but for their queue's id; each test makes `first` win by one criterion
// and lose by all that come after it (4.1).
struct Pair {
  QueueKey first, second;
  Pair() {
    first.queue = QueueId(9);
    second.queue = QueueId(1);
    first.created = second.created = 5;
    first.rank = second.rank = 100;
    first.share_with = second.share_with = {1, 2};
    first.share_without = second.share_without = {1, 4};
  }
};

void expect_first(const QueueKey& first, const QueueKey& second) {
  EXPECT_TRUE(served_before(first, second));
  EXPECT_FALSE(served_before(second, first));
}

TEST(ServedBefore, TheIdDecidesLast) {
  Pair p;
  expect_first(p.second, p.first);
  EXPECT_FALSE(served_before(p.first, p.first));
}

TEST(ServedBefore, TheOlderQueueBeforeTheYounger) {
  Pair p;
  p.second.created = 6;
  expect_first(p.first, p.second);
}

TEST(ServedBefore, TheLowerShareWithoutTheWorkload) {
  Pair p;
  p.first.created = 6;
  p.first.share_without = {24, 100};
  expect_first(p.first, p.second);
}

TEST(ServedBefore, TheLowerShareWithTheWorkload) {
  Pair p;
  p.first.created = 6;
  p.first.share_without = {1, 2};
  p.first.share_with = {49, 100};
  expect_first(p.first, p.second);
}

TEST(ServedBefore, TheHigherRank) {
  Pair p;
  p.first.share_with = {3, 4};
  p.first.rank = 101;
  expect_first(p.first, p.second);
}

TEST(ServedBefore, WhoStaysWithinQuotaWithTheWorkload) {
  Pair p;
  p.first.rank = 1;
  p.second.over_quota_with = true;
  expect_first(p.first, p.second);
}

TEST(ServedBefore, WhoIsNotAboveFairShare) {
  Pair p;
  p.first.over_quota_with = true;
  p.first.rank = 1;
  p.second.over_share = true;
  expect_first(p.first, p.second);
}

TEST(ServedBefore, RatiosAreComparedExactly) {
  // 10^12 / (3·10^12 + 1) lies below 1/3 by 10^-13, which doubles of both still tell apart; the
  // next pair, one part in 10^36, they do not.
  Pair p;
  p.first.created = 6;
  p.first.share_with = {1'000'000'000'000, 3'000'000'000'001};
  p.second.share_with = {1, 3};
  expect_first(p.first, p.second);
  const std::int64_t n = 1'000'000'000'000'000'000;
  p.first.share_with = {n - 2, n - 1};
  p.second.share_with = {n - 1, n};
  expect_first(p.first, p.second);
  p.first.share_with = {2, 6};
  p.second.share_with = {1, 3};
  p.first.share_without = p.second.share_without;
  expect_first(p.second, p.first);  // equal, so the older one
}

TEST(ServedBefore, HoldingOfNothingGrantedComesLast) {
  Pair p;
  p.first.created = 6;
  p.first.share_with = {1'000, 1};
  p.second.share_with = {1, 0};
  expect_first(p.first, p.second);
}

// --- the key of a queue ---

ResourceVector amounts(std::int64_t gpu, std::int64_t cpu = 0) {
  ResourceVector v;
  v.at(kGpuResource) = gpu;
  v.at(kCpuResource) = cpu;
  return v;
}

class Keys : public ::testing::Test {
 protected:
  ResourceNames resources;
  QueueTree tree{resources};
  PoolId pool{0};
  ResourceVector capacity = amounts(100'000, 1'000'000);

  void SetUp() override {
    for (const char* name : {"gpu", "cpu", "memory"}) resources.intern(name);
    tree.add_pool(pool, "default");
  }
  void state(std::int64_t quota, std::int64_t limit = kUnlimited) {
    QueueSpec spec;
    spec.name = "q";
    spec.rank = 70;
    spec.pools["default"]["gpu"] = {quota, limit, 1'000};
    ASSERT_TRUE(tree.upsert(spec, Instant{0}));
  }
  QueueLedger& ledger() { return tree.ledger(pool, tree.find("q")); }
  QueueKey key(const ResourceVector& demand) {
    return queue_key(tree, pool, tree.find("q"), demand, capacity);
  }
};

TEST_F(Keys, SharesAreOfTheQuotaOrOfTheFairShareIfThatIsMore) {
  state(8'000);
  ledger().allocated = amounts(2'000);
  EXPECT_EQ(key(amounts(4'000)).share_with, (Ratio{6, 8}));
  EXPECT_EQ(key(amounts(4'000)).share_without, (Ratio{2, 8}));
  ledger().fair_share = amounts(12'000);
  EXPECT_EQ(key(amounts(4'000)).share_with, (Ratio{6, 12}));
  EXPECT_EQ(key(amounts(4'000)).rank, 70);
}

TEST_F(Keys, TheDominantResourceSpeaksForTheQueue) {
  // CPU: quota unlimited, so of the capacity: 400 of 1000 cores; GPU: 1 of 8.
  state(8'000);
  ledger().allocated = amounts(1'000, 300'000);
  EXPECT_EQ(key(amounts(0, 100'000)).share_with, (Ratio{4, 10}));
}

TEST_F(Keys, AnUnlimitedQuotaIsTheCapacity) {
  state(kUnlimited);
  ledger().allocated = amounts(20'000);
  const QueueKey k = key(amounts(5'000));
  EXPECT_EQ(k.share_with, (Ratio{25, 100}));
  EXPECT_FALSE(k.over_quota_with);
}

TEST_F(Keys, ALimitBoundsWhatTheShareIsOf) {
  state(kUnlimited, 10'000);
  ledger().allocated = amounts(4'000);
  EXPECT_EQ(key(amounts(1'000)).share_with, (Ratio{5, 10}));
}

TEST_F(Keys, QuotaIsLeftOnlyByWhatIsAsked) {
  state(4'000);
  ledger().allocated = amounts(3'000);
  EXPECT_FALSE(key(amounts(1'000)).over_quota_with);
  EXPECT_TRUE(key(amounts(1'001)).over_quota_with);
  ledger().allocated = amounts(9'000);
  EXPECT_FALSE(key(amounts(0, 1'000)).over_quota_with) << "asks CPU, of which quota is unlimited";
}

TEST_F(Keys, AboveShareMeansInEveryResourceThatIsHeld) {
  state(0);
  EXPECT_FALSE(key(amounts(1'000)).over_share) << "who holds nothing is above nothing";
  ledger().fair_share = amounts(2'000, 8'000);
  ledger().allocated = amounts(2'000);
  EXPECT_FALSE(key(amounts(1'000)).over_share) << "at its share";
  ledger().allocated = amounts(2'001);
  EXPECT_TRUE(key(amounts(1'000)).over_share);
  ledger().allocated = amounts(2'001, 8'000);
  EXPECT_FALSE(key(amounts(1'000)).over_share) << "not in CPU";
  ledger().allocated = amounts(2'001, 8'001);
  EXPECT_TRUE(key(amounts(1'000)).over_share);
}

}  // namespace
}  // namespace fairlead::sched
