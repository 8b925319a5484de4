// What a run says: of expectations that hold, that fail, and of events that are turned away.
#include "sim/scenario/runner.h"

#include <gtest/gtest.h>

#include "sim/scenario/document.h"
#include "sim/scenario/pace.h"
#include "sim/scenario/reader.h"

namespace fairlead::sim {
namespace {

RunReport play(std::string_view text, RunOptions options = {}) {
  const auto scenario = read_scenario(text, "x.scn");
  EXPECT_TRUE(scenario) << scenario.error().text();
  if (!scenario) return {};
  auto report = run_scenario(*scenario, options);
  EXPECT_TRUE(report) << report.error().text();
  return report ? std::move(*report) : RunReport{};
}

constexpr const char* kGang =
    "cluster 4 nodes, 8 gpu each\n"
    "submit train-a workers=3 gpu=8\n"
    "submit train-b workers=2 gpu=8\n";

TEST(ScenarioRun, PassesWhenEverythingHolds) {
  const RunReport report = play(std::string(kGang) +
                                "expect train-a running on 3 nodes\n"
                                "expect train-b pending, \"no-room\"\n"
                                "expect free gpu 8\n");
  EXPECT_TRUE(report.passed()) << failures_text(report);
  EXPECT_EQ(report.expectations, 3);
  EXPECT_EQ(report.decisions, 1);
}

TEST(ScenarioRun, SaysWhatWasExpectedWhatIsAndWhy) {
  const RunReport report = play(std::string(kGang) + "expect train-b running on 2 nodes\n");
  ASSERT_EQ(report.failures.size(), 1U);
  EXPECT_EQ(report.failures[0].line, 4);
  EXPECT_EQ(report.failures[0].expected, "train-b running on 2 nodes");
  EXPECT_EQ(report.failures[0].actual, "pending, 2 tasks wanted");
  EXPECT_NE(report.failures[0].why.find("no-room (6.1)"), std::string::npos);
  EXPECT_NE(failures_text(report).find("x.scn:4: expected train-b running"), std::string::npos);
}

// Looking at everything after each step made the time grow with the square of the size.
TEST(ScenarioRun, LooksAtEverythingAfterEachStepOnlyWhileThatIsLittle) {
  Pace pace;
  std::int64_t looks = 0;
  std::int64_t looked_at = 0;
  for (std::int64_t things = 1; things <= 20'000; ++things) {
    if (!pace.due(things)) continue;
    ++looks;
    looked_at += things;
  }
  EXPECT_GE(looks, Pace::kLittle);  // each of the first steps
  EXPECT_LT(looked_at, 20'000 * 2 * Pace::kEach);
}

TEST(ScenarioRun, GoesOnAfterAFailure) {
  const RunReport report = play(std::string(kGang) +
                                "expect free gpu 9\n"
                                "expect free gpu 8\n"
                                "expect train-a pending\n");
  EXPECT_EQ(report.expectations, 3);
  EXPECT_EQ(report.failures.size(), 2U);
}

TEST(ScenarioRun, CountsAnEventThatIsTurnedAwayUnlessItWasExpected) {
  const char* refused = "cluster 1 node, 1 gpu\nsubmit two gpu=2\n";
  EXPECT_EQ(play(refused).failures.size(), 1U);
  EXPECT_TRUE(play(std::string(refused) + "expect two refused\n").passed());
  EXPECT_TRUE(play(std::string(refused) + "expect error \"two\"\n").passed());
  EXPECT_FALSE(play(std::string(refused) + "expect two refused, \"no such words\"\n").passed());
}

TEST(ScenarioRun, DecidesOncePerBlock) {
  const char* text =
      "cluster 1 node, 1 gpu\n"
      "submit low gpu=1 priority=1 non-preemptible\n"
      "%s"
      "submit high gpu=1 priority=9\n"
      "expect %s running\n";
  char block[256], apart[256];
  std::snprintf(block, sizeof block, text, "", "high");
  std::snprintf(apart, sizeof apart, text, "decide\n", "low");
  EXPECT_TRUE(play(block).passed());
  EXPECT_TRUE(play(apart).passed());
}

TEST(ScenarioRun, WakesTheCoreOnTheWayUnlessAsleep) {
  const std::string head =
      "cluster 1 node, 1 gpu\n"
      "submit w gpu=1\n"
      "decide\n"
      "refuse-start w retry=10s\n";
  // Its first start was at 0; what counts is when the other, submitted meanwhile, could start.
  EXPECT_TRUE(play(head + "at 1m\nexpect w running\n").passed());
  EXPECT_TRUE(play(head + "at 1m asleep\nexpect w running\n").passed());
  const std::string window =
      "cluster 1 node, 1 gpu\n"
      "project p quota=1 open=mon@08:00..mon@09:00\n"
      "submit w queue=p gpu=1\n";
  EXPECT_TRUE(play(window + "at 10h\nexpect w running since 8h\n").passed());
  EXPECT_TRUE(play(window + "at 10h asleep\nexpect w pending\n").passed());
}

TEST(ScenarioRun, TraceHasEventsAndDecisionsWithTheirTime) {
  const RunReport report =
      play("cluster 1 node, 1 gpu\nat 5m\nsubmit w gpu=1\nexpect w running\n", {true});
  std::string all;
  for (const std::string& line : report.trace) all += line + "\n";
  EXPECT_NE(all.find("5m  submitted: w"), std::string::npos) << all;
  EXPECT_NE(all.find("5m    -> start w in pool default: 0/0 n1:0;"), std::string::npos) << all;
}

TEST(ScenarioRun, RefusesAPlacementPolicyThatIsNotThere) {
  const auto scenario = read_scenario("placement nonsense\ncluster 1 node, 1 gpu\n", "x.scn");
  ASSERT_TRUE(scenario);
  EXPECT_FALSE(run_scenario(*scenario));
}

TEST(ScenarioDocument, ReportsAllErrorsWithTheirLines) {
  const auto scenario = parse_scenario_document(
      "kind: Scenario\n"
      "nodes: [{name: n1, gpus: 2 x T4}]\n"
      "events:\n"
      "  - submti: {name: a}\n"
      "  - down: n2\n"
      "expect:\n"
      "  - {workload: a, stat: running}\n"
      "  - a runing\n",
      "x.yaml");
  ASSERT_FALSE(scenario);
  ASSERT_GE(scenario.error().size(), 4U);
  EXPECT_NE(scenario.error()[0].text().find("x.yaml:4"), std::string::npos)
      << scenario.error()[0].text();
}

}  // namespace
}  // namespace fairlead::sim
