#include "sched/order/gates.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace fairlead::sched {
namespace {

Instant at(const char* text) {
  return parse_rfc3339(text).value();
}

// 30 November 2026 is a Monday.
constexpr const char* kMonday = "2026-11-30T00:00:00Z";

ResourceVector amounts(std::int64_t gpu, std::int64_t cpu = 0) {
  ResourceVector v;
  v.at(kGpuResource) = gpu;
  v.at(kCpuResource) = cpu;
  return v;
}

// Organisation > department > project, one pool.
class Gates : public ::testing::Test {
 protected:
  ResourceNames resources;
  QueueTree tree{resources};
  PoolId pool{0};
  QueueSpec org, department, project;
  Instant now = at(kMonday);

  Gates() {
    for (const char* name : {"gpu", "cpu", "memory"}) resources.intern(name);
    tree.add_pool(pool, "default");
    org.name = "org";
    department.name = "department";
    department.parent = "org";
    project.name = "project";
    project.parent = "department";
    tell();
  }
  void tell() {
    for (const QueueSpec& spec : {org, department, project}) EXPECT_TRUE(tree.upsert(spec, now));
  }
  static void entitle(QueueSpec& spec, const std::string& resource, std::int64_t quota,
                      std::int64_t limit) {
    spec.pools["default"][resource] = {quota, limit, 1'000};
  }
  void hold(std::int64_t gpu, bool non_preemptible = false, std::int64_t cpu = 0) {
    tree.charge(pool, tree.find("project"), amounts(gpu, cpu), 1, non_preemptible, 0, now);
  }
  bool open(const ResourceVector& demand, bool non_preemptible = false) {
    return gates_open(tree, resources, {pool, tree.find("project"), &demand, non_preemptible}, now,
                      nullptr);
  }
  std::vector<Reason> reasons(const ResourceVector& demand, bool non_preemptible = false) {
    std::vector<Reason> out;
    const bool is_open = gates_open(
        tree, resources, {pool, tree.find("project"), &demand, non_preemptible}, now, &out);
    EXPECT_EQ(is_open, out.empty()) << "a shut gate has its reason, and an open one has none";
    EXPECT_EQ(is_open, open(demand, non_preemptible)) << "explaining decides as deciding does";
    return out;
  }
};

TEST_F(Gates, NothingStatedNothingInTheWay) {
  EXPECT_TRUE(open(amounts(1'000'000, 5)));
}

TEST_F(Gates, NobodyGoesAboveALimitOfItsOwnOrOfAnAncestor) {  // 5.1
  for (QueueSpec* limited : {&project, &department, &org}) {
    entitle(*limited, "gpu", 0, 4'000);
    tell();
    hold(3'000);
    EXPECT_TRUE(open(amounts(1'000))) << limited->name;
    EXPECT_FALSE(open(amounts(1'001))) << limited->name;
    const auto shut = reasons(amounts(2'000));
    ASSERT_EQ(shut.size(), 1U);
    EXPECT_EQ(shut[0].code, ReasonCode::kOverLimit);
    EXPECT_EQ(shut[0].rule, "5.1");
    EXPECT_EQ(shut[0].subject, limited->name);
    EXPECT_EQ(shut[0].asked, 2'000);
    EXPECT_EQ(shut[0].available, 1'000);
    ASSERT_TRUE(shut[0].cheapest);
    EXPECT_EQ(shut[0].cheapest->kind, ChangeKind::kRaiseLimit);
    EXPECT_EQ(shut[0].cheapest->amount, 5'000) << "3 held and 2 asked";
    EXPECT_NE(shut[0].text.find("limit of 4 GPUs"), std::string::npos) << shut[0].text;
    hold(-3'000);
    limited->pools.clear();
    tell();
  }
}

TEST_F(Gates, EachResourceHasItsLimitAndWhatIsNotAskedIsNotLookedAt) {
  entitle(project, "cpu", kUnlimited, 8'000);
  tell();
  hold(0, false, 9'000);  // above the limit already, say because it was lowered
  EXPECT_FALSE(open(amounts(0, 1)));
  EXPECT_TRUE(open(amounts(1'000, 0))) << "asks no CPU";
}

TEST_F(Gates, ALimitOfZeroAdmitsNothing) {
  entitle(project, "gpu", 0, 0);
  tell();
  EXPECT_FALSE(open(amounts(1)));
}

TEST_F(Gates, NonPreemptibleWorkStaysWithinQuotaCountingOnlyItsKind) {  // 5.2
  entitle(project, "gpu", 4'000, kUnlimited);
  entitle(department, "gpu", 4'000, kUnlimited);
  entitle(org, "gpu", 4'000, kUnlimited);
  tell();
  hold(10'000);       // preemptible: far above quota, and not counted
  hold(3'000, true);  // non-preemptible
  EXPECT_TRUE(open(amounts(1'000), true));
  EXPECT_FALSE(open(amounts(1'500), true));
  EXPECT_TRUE(open(amounts(50'000), false)) << "quota does not bound what can be taken back";
  const auto shut = reasons(amounts(1'500), true);
  ASSERT_EQ(shut.size(), 3U) << "at every ancestor, from the project up";
  EXPECT_EQ(shut[0].subject, "project");
  EXPECT_EQ(shut[2].subject, "org");
  EXPECT_EQ(shut[0].code, ReasonCode::kNonPreemptibleQuota);
  EXPECT_EQ(shut[0].available, 1'000);
  EXPECT_EQ(shut[0].cheapest->amount, 4'500);
}

TEST_F(Gates, WithoutQuotaNothingNonPreemptibleStarts) {
  EXPECT_FALSE(open(amounts(1), true)) << "the default quota of GPUs is 0";
  EXPECT_TRUE(open(amounts(0, 1'000), true)) << "that of CPUs is unlimited";
}

TEST_F(Gates, AllShutGatesAreReported) {
  entitle(project, "gpu", 0, 1'000);
  entitle(project, "cpu", kUnlimited, 1'000);
  project.windows = {{600, 660}};
  org.budget = Budget{BudgetPeriod::kMonth, 0, std::nullopt};
  tell();
  const auto shut = reasons(amounts(2'000, 2'000), true);
  std::vector<std::string> rules;
  for (const Reason& r : shut) rules.push_back(r.subject + " " + r.rule);
  EXPECT_EQ(rules,
            (std::vector<std::string>{"project 5.1", "project 5.1", "project 5.2", "project 5.4",
                                      "department 5.2", "org 5.2", "org 5.4"}));
}

// --- windows (5.4) ---

TEST_F(Gates, AWindowIsOpenFromItsFirstMinuteToBeforeItsLast) {
  project.windows = {{8 * 60, 18 * 60}};  // Monday 08:00 to 18:00
  tell();
  const auto open_at = [&](const char* t) {
    now = at(t);
    return open(amounts(1));
  };
  EXPECT_FALSE(open_at("2026-11-30T07:59:59.999Z"));
  EXPECT_TRUE(open_at("2026-11-30T08:00:00Z"));
  EXPECT_TRUE(open_at("2026-11-30T17:59:59.999Z"));
  EXPECT_FALSE(open_at("2026-11-30T18:00:00Z"));
  EXPECT_FALSE(open_at("2026-12-01T09:00:00Z")) << "Tuesday";
  EXPECT_TRUE(open_at("2026-12-07T09:00:00Z")) << "next Monday";
}

TEST_F(Gates, AWindowMayWrapTheWeek) {
  // Saturday 22:00 (5 × 1440 + 1320) to Monday 06:00.
  project.windows = {{5 * 1440 + 1320, 360}};
  tell();
  const auto open_at = [&](const char* t) {
    now = at(t);
    return open(amounts(1));
  };
  EXPECT_FALSE(open_at("2026-11-28T21:59:59Z"));
  EXPECT_TRUE(open_at("2026-11-28T22:00:00Z"));
  EXPECT_TRUE(open_at("2026-11-29T12:00:00Z")) << "Sunday";
  EXPECT_TRUE(open_at("2026-11-30T05:59:59Z")) << "Monday, early";
  EXPECT_FALSE(open_at("2026-11-30T06:00:00Z"));
  const auto shut = reasons(amounts(1));
  ASSERT_EQ(shut.size(), 1U);
  EXPECT_EQ(shut[0].code, ReasonCode::kOutsideWindow);
  EXPECT_EQ(to_rfc3339(shut[0].cheapest->at), "2026-12-05T22:00:00Z");
}

TEST_F(Gates, AWindowFromAMinuteToItselfIsTheWholeWeek) {
  project.windows = {{600, 600}};
  tell();
  EXPECT_TRUE(open(amounts(1)));
}

TEST_F(Gates, AnAncestorsWindowCountsToo) {
  org.windows = {{60, 120}};
  tell();
  EXPECT_FALSE(open(amounts(1)));
  now = now + minutes(60);
  EXPECT_TRUE(open(amounts(1)));
}

TEST_F(Gates, TheNextOpeningIsTheSoonestOfThem) {
  project.windows = {{8 * 60, 9 * 60}, {2 * 1440, 2 * 1440 + 60}};  // Monday 8, Wednesday 0
  tell();
  const auto next = [&](const char* t) {
    return to_rfc3339(next_gate_change(tree, tree.find("project"), at(t)));
  };
  EXPECT_EQ(next("2026-11-30T07:59:30.250Z"), "2026-11-30T08:00:00Z");
  EXPECT_EQ(next("2026-11-30T09:00:00Z"), "2026-12-02T00:00:00Z");
  EXPECT_EQ(next("2026-12-02T01:00:00Z"), "2026-12-07T08:00:00Z");
  EXPECT_EQ(next_gate_change(tree, tree.find("project"), at("2026-11-30T08:30:00Z")), kNever)
      << "nothing opens while it is open";
}

// --- budgets (5.4) ---

TEST_F(Gates, ASpentBudgetShutsUntilItRenews) {
  project.budget = Budget{BudgetPeriod::kWeek, 8'000, std::nullopt};  // 8 GPU-hours
  tell();
  hold(2'000);
  now = now + hours(4) - milliseconds(1);
  EXPECT_TRUE(open(amounts(1)));
  now = now + milliseconds(1);  // 2 GPUs × 4 h
  const auto shut = reasons(amounts(1));
  ASSERT_EQ(shut.size(), 1U);
  EXPECT_EQ(shut[0].code, ReasonCode::kBudgetSpent);
  EXPECT_EQ(to_rfc3339(shut[0].cheapest->at), "2026-12-07T00:00:00Z");
  EXPECT_EQ(to_rfc3339(next_gate_change(tree, tree.find("project"), now)), "2026-12-07T00:00:00Z");
  now = at("2026-12-07T00:00:00Z");
  EXPECT_TRUE(open(amounts(1)));
}

TEST_F(Gates, ABudgetMayBeOfMoney) {
  project.budget = Budget{BudgetPeriod::kTotal, std::nullopt, 10'000};  // 10.0 of it
  tell();
  // Two devices at 2.5 an hour each.
  tree.charge(pool, tree.find("project"), amounts(2'000), 1, false, 5'000, now);
  now = now + hours(2) - milliseconds(1);
  EXPECT_TRUE(open(amounts(1)));
  now = now + milliseconds(1);
  const auto shut = reasons(amounts(1));
  ASSERT_EQ(shut.size(), 1U);
  EXPECT_EQ(shut[0].resource, "cost");
  EXPECT_FALSE(shut[0].cheapest) << "a total does not renew";
  EXPECT_EQ(next_gate_change(tree, tree.find("project"), now), kNever);
}

// Whatever is stated and held, asking for reasons gives the answer that deciding gives.
RC_GTEST_PROP(GatesProperty, TheCollectorAgreesWithTheShortCircuit, ()) {
  ResourceNames resources;
  for (const char* name : {"gpu", "cpu", "memory"}) resources.intern(name);
  QueueTree tree(resources);
  tree.add_pool(PoolId(0), "default");
  const auto amount = [] { return *rc::gen::inRange<std::int64_t>(-1, 5); };
  const Instant now{*rc::gen::inRange<std::int64_t>(0, hours(24 * 14).ms)};
  std::string parent;
  for (const char* name : {"org", "department", "project"}) {
    QueueSpec spec;
    spec.name = name;
    spec.parent = parent;
    parent = name;
    for (const char* resource : {"gpu", "cpu"})
      spec.pools["default"][resource] = {amount(), amount(), 1'000};
    if (*rc::gen::inRange(0, 4) == 0) {
      spec.windows.push_back({*rc::gen::inRange(0, 10'080), *rc::gen::inRange(0, 10'080)});
    }
    if (*rc::gen::inRange(0, 4) == 0)
      spec.budget = Budget{BudgetPeriod::kTotal, *rc::gen::inRange(0, 3), {}};
    RC_ASSERT(tree.upsert(spec, Instant{0}).has_value());
  }
  const QueueId project = tree.find("project");
  tree.charge(PoolId(0), project, amounts(amount() + 1, amount() + 1), 1,
              *rc::gen::arbitrary<bool>(), 0, Instant{0});
  const ResourceVector demand = amounts(amount() + 1, amount() + 1);
  const GateRequest request{PoolId(0), project, &demand, *rc::gen::arbitrary<bool>()};
  std::vector<Reason> reasons;
  const bool explained = gates_open(tree, resources, request, now, &reasons);
  RC_ASSERT(explained == gates_open(tree, resources, request, now, nullptr));
  RC_ASSERT(explained == reasons.empty());
}

}  // namespace
}  // namespace fairlead::sched
