#include "sched/state/queue_tree.h"

#include <gtest/gtest.h>

namespace fairlead::sched {
namespace {

Instant at(const char* text) {
  return parse_rfc3339(text).value();
}

ResourceVector gpu(std::int64_t milli, std::int64_t cpu = 0) {
  ResourceVector v;
  v.at(kGpuResource) = milli;
  v.at(kCpuResource) = cpu;
  return v;
}

QueueSpec queue(std::string name, std::string parent = {}) {
  QueueSpec spec;
  spec.name = std::move(name);
  spec.parent = std::move(parent);
  return spec;
}

QueueSpec with_quota(QueueSpec spec, std::int64_t milli, std::int64_t limit = kUnlimited) {
  spec.pools["default"]["gpu"] = {milli, limit, 1'000};
  return spec;
}

// Departments a and b, projects a1 and a2 of a, b1 of b; one pool.
class Queues : public ::testing::Test {
 protected:
  ResourceNames resources;
  QueueTree tree{resources};
  PoolId pool{0};

  void SetUp() override {
    for (const char* name : {"gpu", "cpu", "memory"}) resources.intern(name);
    tree.add_pool(pool, "default");
    for (const auto& spec :
         {queue("a"), queue("b"), queue("a1", "a"), queue("a2", "a"), queue("b1", "b")}) {
      ASSERT_TRUE(tree.upsert(spec, Instant{0}));
    }
  }
  QueueLedger& ledger(const std::string& name) { return tree.ledger(pool, tree.find(name)); }
  void charge(const std::string& name, std::int64_t milli, std::int64_t times = 1,
              bool non_preemptible = false, Instant now = Instant{0}, std::int64_t cost_rate = 0) {
    tree.charge(pool, tree.find(name), gpu(milli), times, non_preemptible, cost_rate, now);
  }
  std::string order() {
    std::string out;
    for (const QueueId q : tree.parents_first()) out += tree.get(q).spec.name + " ";
    return out;
  }
};

TEST_F(Queues, AChargeCountsAtEveryAncestor) {
  charge("a1", 2'000, 3);
  charge("a2", 500, 1, true);
  EXPECT_EQ(ledger("a1").allocated[kGpuResource], 6'000);
  EXPECT_EQ(ledger("a2").allocated[kGpuResource], 500);
  EXPECT_EQ(ledger("a").allocated[kGpuResource], 6'500) << "the sum of its children";
  EXPECT_EQ(ledger("a1").non_preemptible[kGpuResource], 0);
  EXPECT_EQ(ledger("a").non_preemptible[kGpuResource], 500);
  EXPECT_EQ(ledger("b").allocated[kGpuResource], 0);
  charge("a1", 2'000, -3);
  charge("a2", 500, -1, true);
  EXPECT_FALSE(ledger("a").allocated.any());
  EXPECT_FALSE(ledger("a").non_preemptible.any());
}

TEST_F(Queues, DemandCountsAtEveryAncestor) {
  tree.demand(pool, tree.find("a1"), gpu(1'000, 250), 4);
  EXPECT_EQ(ledger("a").pending[kGpuResource], 4'000);
  EXPECT_EQ(ledger("a").pending[kCpuResource], 1'000);
  tree.demand(pool, tree.find("a1"), gpu(1'000, 250), -4);
  EXPECT_FALSE(ledger("a").pending.any());
}

TEST_F(Queues, WhatAQueueHoldsAndAsksMovesWithIt) {
  charge("a1", 3'000, 1, true, Instant{0}, 7);
  charge("a2", 1'000);
  tree.demand(pool, tree.find("a1"), gpu(500), 1);
  ASSERT_TRUE(tree.upsert(queue("a1", "b"), Instant{0}));
  EXPECT_EQ(ledger("a").allocated[kGpuResource], 1'000);
  EXPECT_EQ(ledger("a").non_preemptible[kGpuResource], 0);
  EXPECT_EQ(ledger("a").pending[kGpuResource], 0);
  EXPECT_EQ(ledger("a").cost_rate, 0);
  EXPECT_EQ(ledger("b").allocated[kGpuResource], 3'000);
  EXPECT_EQ(ledger("b").non_preemptible[kGpuResource], 3'000);
  EXPECT_EQ(ledger("b").pending[kGpuResource], 500);
  EXPECT_EQ(ledger("b").cost_rate, 7);
  EXPECT_EQ(order(), "a b a2 a1 b1 ");
  // To the top, and back below where it came from.
  ASSERT_TRUE(tree.upsert(queue("a1"), Instant{0}));
  EXPECT_EQ(ledger("b").allocated[kGpuResource], 0);
  ASSERT_TRUE(tree.upsert(queue("a1", "a"), Instant{0}));
  EXPECT_EQ(ledger("a").allocated[kGpuResource], 4'000);
}

TEST_F(Queues, ADepartmentMovesWithItsProjects) {
  charge("a1", 3'000);
  ASSERT_TRUE(tree.upsert(queue("a", "b"), Instant{0}));
  EXPECT_EQ(ledger("b").allocated[kGpuResource], 3'000);
  EXPECT_EQ(order(), "b a b1 a1 a2 ") << "parents before children, siblings by creation";
}

TEST_F(Queues, NoQueueIsItsOwnAncestor) {
  ASSERT_TRUE(tree.upsert(queue("a1x", "a1"), Instant{0}));
  for (const char* below : {"a", "a1", "a1x"}) {
    const auto result = tree.upsert(queue("a", below), Instant{0});
    ASSERT_FALSE(result) << below;
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(order(), "a b a1 a2 b1 a1x ") << "nothing has changed";
}

TEST_F(Queues, AParentMustExist) {
  const auto result = tree.upsert(queue("c", "nowhere"), Instant{0});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kNotFound);
  EXPECT_NE(result.error().message.find("nowhere"), std::string::npos);
  EXPECT_FALSE(tree.find("c").valid());
}

TEST_F(Queues, ALeafWithWorkloadsDoesNotBecomeAParent) {
  tree.get(tree.find("a1")).workloads = 1;
  for (const auto& spec : {queue("new", "a1"), queue("b1", "a1")}) {
    const auto result = tree.upsert(spec, Instant{0});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::kConflict);
  }
}

TEST_F(Queues, OnlyAnEmptyLeafIsRemoved) {
  EXPECT_EQ(tree.remove("nobody").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(tree.remove("a").error().code, ErrorCode::kConflict) << "has children";
  tree.get(tree.find("b1")).workloads = 2;
  EXPECT_EQ(tree.remove("b1").error().code, ErrorCode::kConflict) << "holds workloads";
  tree.get(tree.find("b1")).workloads = 0;
  ASSERT_TRUE(tree.remove("b1"));
  EXPECT_FALSE(tree.find("b1").valid());
  EXPECT_TRUE(tree.leaf(tree.find("b")));
  ASSERT_TRUE(tree.remove("b"));
  EXPECT_EQ(order(), "a a1 a2 ");
  // A new one of the old name is younger than all others.
  ASSERT_TRUE(tree.upsert(queue("b"), Instant{0}));
  EXPECT_GT(tree.get(tree.find("b")).created, tree.get(tree.find("a2")).created);
}

TEST_F(Queues, WhatIsNotNamedHasTheDefaults) {
  EXPECT_EQ(tree.entitlement(pool, tree.find("a1"), kGpuResource).quota, 0);
  EXPECT_EQ(tree.entitlement(pool, tree.find("a1"), kGpuResource).limit, kUnlimited);
  EXPECT_EQ(tree.entitlement(pool, tree.find("a1"), kCpuResource).quota, kUnlimited);
  EXPECT_EQ(tree.entitlement(pool, tree.find("a1"), 17).quota, kUnlimited)
      << "a resource not seen yet";
}

TEST_F(Queues, AnEntitlementComesIntoForceWhenItsResourceGetsAName) {
  QueueSpec spec = queue("a1", "a");
  spec.pools["default"]["rdma"] = {2, 3, 1'000};
  ASSERT_TRUE(tree.upsert(spec, Instant{0}));
  const std::size_t rdma = resources.intern("rdma").index();
  EXPECT_EQ(tree.entitlement(pool, tree.find("a1"), rdma).limit, kUnlimited);
  tree.refresh_entitlements();
  EXPECT_EQ(tree.entitlement(pool, tree.find("a1"), rdma).limit, 3);
}

TEST_F(Queues, EntitlementsArePerPool) {
  QueueSpec spec = queue("a1", "a");
  spec.pools["other"]["gpu"] = {5'000, 9'000, 1'000};
  ASSERT_TRUE(tree.upsert(spec, Instant{0}));
  tree.add_pool(PoolId(1), "other");
  EXPECT_EQ(tree.entitlement(PoolId(1), tree.find("a1"), kGpuResource).quota, 5'000);
  EXPECT_EQ(tree.entitlement(pool, tree.find("a1"), kGpuResource).quota, 0);
  tree.charge(PoolId(1), tree.find("a1"), gpu(1'000), 1, false, 0, Instant{0});
  EXPECT_EQ(ledger("a").allocated[kGpuResource], 0);
  EXPECT_EQ(tree.ledger(PoolId(1), tree.find("a")).allocated[kGpuResource], 1'000);
}

TEST_F(Queues, SharesAreDividedFromTheTopDown) {
  // 10 GPUs. a has quota 6, b 2; both ask more than that, so the 2 left go 1 to 1: a 7, b 3.
  // Of a's 7, a1 has quota 4 and a2 none: 4, and of the 3 left 1.5 each, floored to 1, the odd one
  // to the older: a1 4 + 1 + 1, a2 1.
  ASSERT_TRUE(tree.upsert(with_quota(queue("a"), 6'000), Instant{0}));
  ASSERT_TRUE(tree.upsert(with_quota(queue("b"), 2'000), Instant{0}));
  ASSERT_TRUE(tree.upsert(with_quota(queue("a1", "a"), 4'000), Instant{0}));
  for (const char* name : {"a1", "a2", "b1"}) tree.demand(pool, tree.find(name), gpu(10'000), 1);
  ResourceVector capacity = gpu(10'000);
  tree.divide(pool, capacity, 0, {});
  const auto share = [&](const char* name) { return ledger(name).fair_share[kGpuResource]; };
  EXPECT_EQ(share("a"), 7'000);
  EXPECT_EQ(share("b"), 3'000);
  EXPECT_EQ(share("a1"), 6'000);
  EXPECT_EQ(share("a2"), 1'000);
  EXPECT_EQ(share("b1"), 3'000);
}

// --- budgets (5.4) ---

constexpr Int128 kGpuHour = Int128{1'000} * 3'600'000;  // milli-GPU × ms

QueueSpec with_budget(QueueSpec spec, BudgetPeriod period) {
  spec.budget = Budget{period, 1'000'000, std::nullopt};
  return spec;
}

TEST_F(Queues, ABudgetCountsWhatIsHeldOverTime) {
  const Instant noon = at("2026-03-10T12:00:00Z");
  ASSERT_TRUE(tree.upsert(with_budget(queue("a"), BudgetPeriod::kMonth), noon));
  charge("a1", 8'000, 1, false, noon, 3);
  charge("a2", 500, 1, false, noon + hours(1));
  charge("a1", 8'000, -1, false, noon + hours(2), 3);
  // a1: 8 GPUs for 2 h; a2: half a GPU for 3 h until 4 p.m.
  const auto [gpus, cost] = tree.budget_spent(tree.find("a"), noon + hours(4));
  EXPECT_TRUE(gpus == 16 * kGpuHour + kGpuHour * 3 / 2);
  EXPECT_TRUE(cost == Int128{3} * 2 * 3'600'000) << "at 3 thousandths an hour for 2 h";
}

TEST_F(Queues, ABudgetIsOfAllPoolsTogether) {
  tree.add_pool(PoolId(1), "other");
  ASSERT_TRUE(tree.upsert(with_budget(queue("a"), BudgetPeriod::kTotal), Instant{0}));
  charge("a1", 1'000);
  tree.charge(PoolId(1), tree.find("a1"), gpu(2'000), 1, false, 0, Instant{0});
  EXPECT_TRUE(tree.budget_spent(tree.find("a"), Instant{0} + hours(5)).first == 15 * kGpuHour);
}

TEST_F(Queues, ANewPeriodStartsFromNothingWithWhatIsHeldThen) {
  ASSERT_TRUE(
      tree.upsert(with_budget(queue("a"), BudgetPeriod::kMonth), at("2026-01-31T00:00:00Z")));
  charge("a1", 2'000, 1, false, at("2026-01-31T22:00:00Z"));
  EXPECT_TRUE(tree.budget_spent(tree.find("a"), at("2026-01-31T23:00:00Z")).first == 2 * kGpuHour);
  EXPECT_TRUE(tree.budget_spent(tree.find("a"), at("2026-02-01T00:00:00Z")).first == 0);
  EXPECT_TRUE(tree.budget_spent(tree.find("a"), at("2026-02-01T03:00:00Z")).first == 6 * kGpuHour);
  // Nobody looked for two months: April's part alone counts.
  EXPECT_TRUE(tree.budget_spent(tree.find("a"), at("2026-04-01T01:00:00Z")).first == 2 * kGpuHour);
}

TEST_F(Queues, WhatWasSpentBeforeAMoveWasSpentWhereTheQueueWas) {
  // a1 holds 1 GPU for 10 h under a, then moves to b, where it holds it for 5 h. The ledger once
  // settled budgets only when something was charged, and so gave all 15 h to b.
  ASSERT_TRUE(tree.upsert(with_budget(queue("a"), BudgetPeriod::kTotal), Instant{0}));
  ASSERT_TRUE(tree.upsert(with_budget(queue("b"), BudgetPeriod::kTotal), Instant{0}));
  charge("a1", 1'000);
  ASSERT_TRUE(tree.upsert(queue("a1", "b"), Instant{0} + hours(10)));
  const Instant later = Instant{0} + hours(15);
  EXPECT_TRUE(tree.budget_spent(tree.find("a"), later).first == 10 * kGpuHour);
  EXPECT_TRUE(tree.budget_spent(tree.find("b"), later).first == 5 * kGpuHour);
}

TEST_F(Queues, ABudgetCountsFromWhenItWasStated) {
  charge("a1", 1'000);
  ASSERT_TRUE(
      tree.upsert(with_budget(queue("a1", "a"), BudgetPeriod::kTotal), Instant{0} + hours(10)));
  EXPECT_TRUE(tree.budget_spent(tree.find("a1"), Instant{0} + hours(12)).first == 2 * kGpuHour);
}

struct PeriodCase {
  BudgetPeriod period;
  const char* t;
  const char* begin;
  const char* end;
};

TEST(BudgetPeriod, BeginsAtMidnightOnMondayOrOnTheFirst) {
  for (const PeriodCase& c : std::vector<PeriodCase>{
           {BudgetPeriod::kDay, "2026-01-31T23:59:59.999Z", "2026-01-31T00:00:00Z",
            "2026-02-01T00:00:00Z"},
           {BudgetPeriod::kDay, "2026-02-01T00:00:00Z", "2026-02-01T00:00:00Z",
            "2026-02-02T00:00:00Z"},
           // 30 November 2026 is a Monday.
           {BudgetPeriod::kWeek, "2026-11-30T00:00:00Z", "2026-11-30T00:00:00Z",
            "2026-12-07T00:00:00Z"},
           {BudgetPeriod::kWeek, "2026-11-29T23:59:59Z", "2026-11-23T00:00:00Z",
            "2026-11-30T00:00:00Z"},
           {BudgetPeriod::kWeek, "2027-01-01T12:00:00Z", "2026-12-28T00:00:00Z",
            "2027-01-04T00:00:00Z"},
           {BudgetPeriod::kMonth, "2026-01-31T23:59:59Z", "2026-01-01T00:00:00Z",
            "2026-02-01T00:00:00Z"},
           {BudgetPeriod::kMonth, "2028-02-29T12:00:00Z", "2028-02-01T00:00:00Z",
            "2028-03-01T00:00:00Z"},
           {BudgetPeriod::kMonth, "2026-02-28T23:00:00Z", "2026-02-01T00:00:00Z",
            "2026-03-01T00:00:00Z"},
           {BudgetPeriod::kMonth, "2026-12-31T23:59:59Z", "2026-12-01T00:00:00Z",
            "2027-01-01T00:00:00Z"},
           {BudgetPeriod::kMonth, "1969-12-31T23:59:59Z", "1969-12-01T00:00:00Z",
            "1970-01-01T00:00:00Z"},
       }) {
    const auto [begin, end] = budget_period(c.period, at(c.t));
    EXPECT_EQ(to_rfc3339(begin), c.begin) << c.t;
    EXPECT_EQ(to_rfc3339(end), c.end) << c.t;
  }
  EXPECT_EQ(budget_period(BudgetPeriod::kTotal, Instant{5}).second, kNever);
}

}  // namespace
}  // namespace fairlead::sched
