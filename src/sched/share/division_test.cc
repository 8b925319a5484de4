// The division by example. Each test narrates its arithmetic; GPUs are in milli (unit 1000).
#include "sched/share/division.h"

#include <gtest/gtest.h>

namespace fairlead::sched {
namespace {

constexpr std::int64_t kGpu = 1000;

DivisionQueue wants(std::int64_t gpus) {
  return {.requested = gpus * kGpu};
}

std::vector<std::int64_t> divide(std::int64_t total_milli, std::vector<DivisionQueue> queues,
                                 std::int64_t k_milli = 0, DivisionTrace* trace = nullptr) {
  for (std::size_t i = 0; i < queues.size(); ++i) {
    if (queues[i].created == 0) queues[i].created = static_cast<std::int64_t>(i) + 1;
    queues[i].id = static_cast<std::int64_t>(i);
  }
  std::vector<std::int64_t> shares(queues.size());
  Divider divider;
  divider.divide({.total = total_milli, .unit = kGpu, .k_milli = k_milli, .queues = queues}, shares,
                 trace);
  return shares;
}

using Shares = std::vector<std::int64_t>;

TEST(Division, NobodyNothing) {
  EXPECT_EQ(divide(10 * kGpu, {}), Shares{});
  EXPECT_EQ(divide(0, {wants(3)}), Shares{0});
  EXPECT_EQ(divide(10 * kGpu, {wants(0)}), Shares{0});
}

TEST(Division, QuotaFirstThenByWeight) {
  // 100 GPUs; quotas 20 and 30 leave 50, weights 1 : 3 make 12.5 and 37.5: 12 and 37 whole ones.
  // One is left; both lost a half; the older has it.
  DivisionQueue a = wants(100);
  a.quota = 20 * kGpu;
  DivisionQueue b = wants(100);
  b.quota = 30 * kGpu;
  b.over_quota_weight = 3000;
  EXPECT_EQ(divide(100 * kGpu, {a, b}), (Shares{33'000, 67'000}));
}

TEST(Division, WhatOneDoesNotNeedGoesToTheOthersInANewRound) {
  // 12 GPUs, three of weight 1: f = 4 each. c needs 1; 3 come back: f = 1.5 for a and b in round 2,
  // so 1 each, and the last one goes to the older.
  DivisionTrace trace;
  EXPECT_EQ(divide(12 * kGpu, {wants(20), wants(20), wants(1)}, 0, &trace),
            (Shares{6'000, 5'000, 1'000}));
  ASSERT_EQ(trace.rounds.size(), 2U);
  EXPECT_EQ(trace.rounds[1].amount, 3 * kGpu);
  EXPECT_EQ(trace.rounds[1].claims.size(), 2U);
  EXPECT_EQ(trace.parts[0].phase2, 5 * kGpu);
  EXPECT_EQ(trace.parts[0].phase3, 1 * kGpu);
}

TEST(Division, ExactlyWhatIsDueCallsForNoOtherRound) {
  // 3.2.e: f = 4 and c misses exactly 4.
  DivisionTrace trace;
  EXPECT_EQ(divide(12 * kGpu, {wants(20), wants(20), wants(4)}, 0, &trace),
            (Shares{4'000, 4'000, 4'000}));
  EXPECT_EQ(trace.rounds.size(), 1U);
}

TEST(Division, HigherRankIsServedFirst) {
  DivisionQueue high = wants(6);
  high.rank = 200;
  EXPECT_EQ(divide(10 * kGpu, {wants(8), high}), (Shares{4'000, 6'000}));
}

TEST(Division, WhatRoundingLeavesOverGoesDownTheRanksBeforePhaseThree) {
  // 3.2.d: 10 GPUs over three of rank 200 make 3 each; the one left over is the next rank's f = 1.
  DivisionQueue high = wants(9);
  high.rank = 200;
  DivisionTrace trace;
  EXPECT_EQ(divide(10 * kGpu, {high, high, high, wants(5)}, 0, &trace),
            (Shares{3'000, 3'000, 3'000, 1'000}));
  EXPECT_EQ(trace.levels[0].after_phase2, 0);
}

TEST(Division, PhaseThreeGoesByRankThenLostFractionThenAge) {
  // 11 GPUs. Rank 200, weights 1 : 2, demand ample: f = 3.667 and 7.333, so 3 and 7 and one is
  // left; the larger fraction was lost by the first although it is younger.
  DivisionQueue a = wants(50);
  a.created = 9;
  DivisionQueue b = wants(50);
  b.over_quota_weight = 2000;
  b.created = 1;
  EXPECT_EQ(divide(11 * kGpu, {a, b}), (Shares{4'000, 7'000}));
  // Equal fractions (10 / 4 = 2.5 each, 2 left over): age; and of one age: id.
  DivisionQueue old = wants(50);
  old.created = 1;
  DivisionQueue young = wants(50);
  young.created = 7;
  EXPECT_EQ(divide(10 * kGpu, {young, young, old, young}), (Shares{3'000, 2'000, 3'000, 2'000}));
}

TEST(Division, OnlyTheLastRoundsLossCounts) {
  // 3.2.h: 16 GPUs, weights 3, 3, 2 and c needs 1. Round 1: f = 6, 6, 4; c takes 1, a and b take 6
  // and lose nothing; 3 are left. Round 2: 1.5 each: 1 each; the last one by age.
  DivisionQueue a = wants(50);
  a.over_quota_weight = 3000;
  DivisionQueue c = wants(1);
  c.over_quota_weight = 2000;
  EXPECT_EQ(divide(16 * kGpu, {a, a, c}), (Shares{8'000, 7'000, 1'000}));
}

TEST(Division, PhaseThreeDoesNotPassDemandOrLimit) {
  // A peer gives the whole unit here. 3 GPUs, f = 1.5 each; both got 1. The first wants 1.2 in all.
  DivisionQueue a{.requested = 1'200};
  // Round 1: a misses 1.2 < 1.5 and has it; b gets floor(1.5) = 1. Round 2: f = 0.8 for b: 0 whole
  // units. Phase 3: b gets what is left, 0.8 of a GPU.
  EXPECT_EQ(divide(3 * kGpu, {a, wants(5)}), (Shares{1'200, 1'800}));
  // 7 GPUs over three: 2.333 each, one left, all lost a third. The oldest may have 2.25 only.
  DivisionQueue limited = wants(9);
  limited.limit = 2'250;
  // It misses 2.25 < f = 2.333, so it is satisfied in round 1; 7 − 2.25 = 4.75 for the others: they
  // got 2 each, 0.75 is left, f = 0.375 each, no whole unit; phase 3: 0.75 to the older.
  EXPECT_EQ(divide(7 * kGpu, {limited, wants(9), wants(9)}), (Shares{2'250, 2'750, 2'000}));
}

TEST(Division, LessThanAUnitIsGivenWhereTheAmountIsNoMultiple) {
  // 3.2.i: 2.5 GPUs for two: 1 each, and the half goes to the older.
  EXPECT_EQ(divide(2'500, {wants(2), wants(2)}), (Shares{1'500, 1'000}));
}

TEST(Division, WholeUnitsAreCountedOnWhatTheRoundGives) {
  // 3.2.e: quota half a GPU each; 3.4 are left, 1.7 each: 1; then 1.4 are left for phase 3: 1 and
  // 0.4.
  DivisionQueue q = wants(9);
  q.quota = 500;
  EXPECT_EQ(divide(4'400, {q, q}), (Shares{2'500, 1'900}));
}

TEST(Division, WeightZeroGetsNothingBeyondQuota) {
  DivisionQueue zero = wants(10);
  zero.quota = 2 * kGpu;
  zero.over_quota_weight = 0;
  EXPECT_EQ(divide(10 * kGpu, {zero, wants(3)}), (Shares{2'000, 3'000}));
  DivisionTrace trace;
  EXPECT_EQ(divide(10 * kGpu, {zero, zero}, 0, &trace), (Shares{2'000, 2'000}));
  EXPECT_EQ(trace.levels[0].undivided, 6 * kGpu);
  EXPECT_TRUE(trace.rounds.empty());
}

TEST(Division, QuotasAboveTheAmountAreNotScaledDown) {
  // 3.2.c: 8 and 6 of 10: both keep their promise, phase 2 has nothing (never −4).
  DivisionQueue a = wants(9);
  a.quota = 8 * kGpu;
  DivisionQueue b = wants(9);
  b.quota = 6 * kGpu;
  DivisionTrace trace;
  EXPECT_EQ(divide(10 * kGpu, {a, b, wants(5)}, 0, &trace), (Shares{8'000, 6'000, 0}));
  EXPECT_TRUE(trace.levels[0].overcommitted);
  EXPECT_EQ(trace.levels[0].after_phase1, 0);
}

TEST(Division, UnlimitedQuotaIsAllThatTheLevelHas) {
  // 3.2.b. A department with unlimited quota and its projects: it gets min(10, 4 + 8) = 10; its
  // unlimited project may have min(10, 8) = 8, the other has quota 3: 3. 11 promised of 10.
  DivisionQueue department{.quota = kUnlimited, .requested = kSumOfChildren};
  DivisionQueue open = wants(8);
  open.parent = 0;
  open.quota = kUnlimited;
  DivisionQueue bounded = wants(4);
  bounded.parent = 0;
  bounded.quota = 3 * kGpu;
  DivisionTrace trace;
  EXPECT_EQ(divide(10 * kGpu, {department, open, bounded}, 0, &trace),
            (Shares{10'000, 8'000, 3'000}));
  EXPECT_FALSE(trace.levels[0].overcommitted);
  EXPECT_TRUE(trace.levels[1].overcommitted);
}

TEST(Division, TwoUnlimitedDepartmentsAreBothPromisedEverything) {
  DivisionQueue a = wants(7);
  a.quota = kUnlimited;
  DivisionQueue b = wants(20);
  b.quota = kUnlimited;
  // min(10, 7) and min(10, 20); −1 is never summed as a number.
  EXPECT_EQ(divide(10 * kGpu, {a, b, wants(5)}), (Shares{7'000, 10'000, 0}));
}

TEST(Division, AParentRequestsWhatItsChildrenCanUse) {
  // 3.2.a: children want 9 (limit 2) and 3: the parent requests 5, not 12, so its sibling has 7.
  DivisionQueue parent{.requested = kSumOfChildren};
  DivisionQueue limited = wants(9);
  limited.parent = 0;
  limited.limit = 2 * kGpu;
  DivisionQueue other = wants(3);
  other.parent = 0;
  EXPECT_EQ(divide(12 * kGpu, {parent, limited, other, wants(20)}),
            (Shares{5'000, 2'000, 3'000, 7'000}));
}

TEST(Division, HistoryMovesPhaseTwo) {
  // 12 GPUs, equal weights (w = 1/2), k = 1, u = 0.5 and 0: shares 1/2 + (1/2 − 1/2) = 1/2 and
  // 1/2 + 1/2 = 1, renormalised 1/3 and 2/3: 4 and 8.
  DivisionQueue heavy = wants(50);
  heavy.usage_ppb = 500'000'000;
  EXPECT_EQ(divide(12 * kGpu, {heavy, wants(50)}, 1000), (Shares{4'000, 8'000}));
  // k = 0: history does not count.
  EXPECT_EQ(divide(12 * kGpu, {heavy, wants(50)}, 0), (Shares{6'000, 6'000}));
  // Quotas are not touched by it.
  heavy.quota = 10 * kGpu;
  EXPECT_EQ(divide(12 * kGpu, {heavy, wants(50)}, 1000), (Shares{10'000 + 1'000, 1'000}));
}

TEST(Division, HistoryCanLeaveAQueueNoShareWhileOthersWant) {
  // k = 2: 1/2 + 2(1/2 − 0.8) = −0.1, so 0: all goes to the other until it has enough; only then,
  // in the second round, the heavy user is alone with w = 1 and takes the rest.
  DivisionQueue heavy = wants(50);
  heavy.usage_ppb = 800'000'000;
  EXPECT_EQ(divide(12 * kGpu, {heavy, wants(50)}, 2000), (Shares{0, 12'000}));
  EXPECT_EQ(divide(12 * kGpu, {heavy, wants(5)}, 2000), (Shares{7'000, 5'000}));
}

TEST(Division, HistoryThatLeavesNobodyAShareIsPutAside) {
  // 3.2.g: both at u = 1: 1/2 + 2(1/2 − 1) < 0. Weights alone decide; nothing idles.
  DivisionQueue a = wants(50);
  a.usage_ppb = 1'000'000'000;
  DivisionQueue b = a;
  b.over_quota_weight = 2000;
  b.usage_ppb = 2'000'000'000;
  DivisionTrace trace;
  EXPECT_EQ(divide(12 * kGpu, {a, b}, 2000, &trace), (Shares{4'000, 8'000}));
  EXPECT_TRUE(trace.rounds[0].history_ignored);
}

TEST(Division, TheLargestNumbersStayExact) {
  // Total 2^62 − 1 bytes, weights 2^40 and 2^40 − 1, k and usage at their bounds in one queue.
  std::vector<DivisionQueue> queues(3);
  for (auto& q : queues) q.requested = kMaxDivisible;
  queues[0].over_quota_weight = kMaxDivisionWeight;
  queues[1].over_quota_weight = kMaxDivisionWeight - 1;
  queues[2].usage_ppb = kMaxDivisionUsage;
  queues[1].id = 1;
  queues[2].id = 2;
  std::vector<std::int64_t> shares(3);
  Divider divider;
  divider.divide(
      {.total = kMaxDivisible - 1, .unit = 1, .k_milli = kMaxDivisionK, .queues = queues}, shares);
  // Scores 2^40 : 2^40 − 1 : 0 of 2^62 − 1. With W = 2^41 − 1: floor((2^62 − 1) · 2^40 / W) =
  // 2^61 + 2^20 (the rest is below one), and the other has what is left.
  EXPECT_EQ(shares[2], 0);
  EXPECT_EQ(shares[0] + shares[1], kMaxDivisible - 1);
  EXPECT_EQ(shares[0], (std::int64_t{1} << 61) + (std::int64_t{1} << 20));
}

TEST(RatioText, RoundsHalfUp) {
  EXPECT_EQ(ratio_text({1, 3}, 4), "0.3333");
  EXPECT_EQ(ratio_text({2, 3}, 4), "0.6667");
  EXPECT_EQ(ratio_text({1, 1}, 3), "1.000");
  EXPECT_EQ(ratio_text({99999, 100000}, 3), "1.000");
  EXPECT_EQ(ratio_text({1999999, 200000}, 3), "10.000");
  EXPECT_EQ(ratio_text({1, 8}, 2), "0.13");
}

}  // namespace
}  // namespace fairlead::sched
