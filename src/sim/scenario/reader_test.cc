// What the reader of scenarios says of what it cannot read, and that printing and reading agree.
#include "sim/scenario/reader.h"

#include <gtest/gtest.h>

#include "sim/scenario/document.h"
#include "sim/scenario/printer.h"

namespace fairlead::sim {
namespace {

// The error of a text that must not be read.
std::string error_of(std::string_view text) {
  const Result<Scenario> scenario = read_scenario(text, "x.scn");
  return scenario ? "it was read" : scenario.error().text();
}

testing::AssertionResult Has(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) {
    if (text.find(part) == std::string::npos) {
      return testing::AssertionFailure() << "no \"" << part << "\" in: " << text;
    }
  }
  return testing::AssertionSuccess();
}

TEST(ScenarioReader, NamesLineColumnWordAndCureOfAMisspeltStatement) {
  EXPECT_TRUE(Has(error_of("cluster 1 node, 8 gpu\nsubmti a gpu=1\n"),
                  {"x.scn:2:1", "'submti' is not a statement", "did you mean 'submit'?"}));
}

TEST(ScenarioReader, NamesTheNearestSetting) {
  EXPECT_TRUE(Has(error_of("cluster 1 node, 8 gpu\nsubmit a wokers=2\n"),
                  {"x.scn:2:10", "no setting 'wokers'", "workers"}));
  EXPECT_TRUE(Has(error_of("node n1 gpus=8\n"), {"x.scn:1:9", "no setting 'gpus'", "gpu"}));
  EXPECT_TRUE(Has(error_of("project a quotas=8\n"), {"no setting 'quotas'", "quota"}));
}

TEST(ScenarioReader, KnowsEveryNameThatIsUsed) {
  EXPECT_TRUE(Has(error_of("cluster 2 nodes, 1 gpu each\ndown n3\n"),
                  {"2:6", "'n3' is not a node", "n1 or n2"}));
  EXPECT_TRUE(Has(error_of("cluster 1 node, 1 gpu\nproject team\nsubmit a queue=taem gpu=1\n"),
                  {"'taem' is not a queue", "did you mean 'team'?"}));
  EXPECT_TRUE(Has(error_of("cluster 1 node, 1 gpu\nsubmit a gpu=1\nexpect b running\n"),
                  {"3:8", "'b' is not a workload of this scenario"}));
  EXPECT_TRUE(Has(error_of("node n1 gpu=1 class=H1000\n"),
                  {"'H1000' is not a device class", "class H1000 memory="}));
  EXPECT_TRUE(
      Has(error_of("node n1 gpu=1 rack=r1\n"), {"no topology level 'rack'", "levels rack,switch"}));
}

TEST(ScenarioReader, RefusesAmountsThatMeanNothing) {
  EXPECT_TRUE(Has(error_of("cluster 1 node, 1 gpu\nsubmit a gpu=1.5\n"),
                  {"neither whole nor below 1", "gpu=2x0.75"}));
  EXPECT_TRUE(Has(error_of("cluster 1 node, 1 gpu\nsubmit a gpu=0.0001\n"), {"x.scn:2:10"}));
  EXPECT_TRUE(Has(error_of("cluster 1 node, 1 gpu\nsubmit a gpu=-1\n"), {"negative"}));
  EXPECT_TRUE(
      Has(error_of("cluster 1 node, 1 gpu\nsubmit a memory=48\n"), {"'48' has no unit", "48Gi"}));
  EXPECT_TRUE(Has(error_of("cluster 1 node, 1 gpu\nsubmit a workers=3..2 gpu=1\n"),
                  {"minimum 3 is above the count 2", "2..3"}));
  EXPECT_TRUE(
      Has(error_of("cluster 1 node, 1 gpu\nsubmit a cpu=99999999999999999999\n"), {"x.scn:2:10"}));
  EXPECT_TRUE(Has(error_of("cluster 0 nodes\n"), {"1 to 10000"}));
}

TEST(ScenarioReader, RefusesWhatContradictsItself) {
  EXPECT_TRUE(Has(error_of("cluster 1 node, 1 gpu\nsubmit a gpu=1 mig=1g.10gb\n"),
                  {"x.scn:2:16: 'mig=1g.10gb' states again what 'gpu=1' at x.scn:2:10"}));
  EXPECT_TRUE(Has(error_of("cluster 1 node, 1 gpu\nsubmit a gpu=1\n  role x gpu=1\n"),
                  {"3:3", "before the first role"}));
  EXPECT_TRUE(
      Has(error_of("cluster 1 node, 1 gpu\nsubmit a parallelism=2 gpu=1\n"), {"completions="}));
  EXPECT_TRUE(
      Has(error_of("cluster 1 node, 1 gpu\nsubmit a completions=4 parallelism=2 workers=3 gpu=1\n"),
          {"2:38", "parallelism= says how many run at once"}));
  EXPECT_TRUE(Has(error_of("cluster 1 node, 1 gpu\nsubmit a extra.memory=5\n"),
                  {"2:10", "'memory' is no named resource", "memory="}));
  EXPECT_TRUE(Has(error_of("node n1 gpu=1 extra.cpu=4\n"), {"'cpu' is no named resource"}));
  EXPECT_TRUE(Has(error_of("cluster 5 nodes, 1 gpu each, racks=2\n"),
                  {"5 nodes cannot be divided evenly into 2 racks"}));
  EXPECT_TRUE(Has(error_of("cluster 1 node, 1 gpu\nsubmit a gpu=1\nexpect a pending on 1 nodes\n"),
                  {"those of what runs"}));
  EXPECT_TRUE(Has(error_of("at 10m\nat 5m\n"), {"2:4", "backwards", "10m"}));
}

// The last of two values once won without a word.
TEST(ScenarioReader, ASettingIsStatedOnceAndBothPlacesAreNamed) {
  const std::string cluster = "cluster 2 nodes, 2 gpu each\nsubmit w gpu=1\n";
  EXPECT_TRUE(Has(
      error_of(cluster + "project a quota=1 quota=2\n"),
      {"x.scn:3:19", "'quota=2' states again what 'quota=1' at x.scn:3:11", "keep one of them"}));
  for (const char* line : {
           "node m gpu=1 gpu=2",
           "node m cpu=1\n  memory=1Gi cpu=2",
           "node m label.a=1 label.a=2",
           "node m device a numa=0 numa=1",
           "cluster 1 node, 1 gpu, gpu=2",
           "cluster 1 node, no gpu, gpu=2",
           "class CARD memory=1000 memory=2000",
           "class CARD memory=1000\n  profile p slices=1 slices=2",
           "class CARD memory=1000\n  profile p slices=1 profile p slices=2",
           "pool p gpu=spread gpu=binpack",
           "pool p rate.X=1 rate.X=2",
           "change pool default k=1 k=2",
           "project a quota=1 gpu.quota=2",
           "project a pool=x quota=1 pool=x quota=2",
           "project a in=b in=c",
           "project a budget=1/day budget=2/day",
           "submit x gpu=1 gpu=2",
           "submit x gpu=0 gpu-memory=100",
           "submit x workers=2 count=3",
           "submit x pool=a pools=b",
           "submit x preemptible non-preemptible",
           "submit x within=host within=host",
           "submit x role a gpu=1 role b cpu=1 cpu=2",
           "submit x role a gpu=1 role a gpu=2",
           "submit x priority=1 role a gpu=1 priority=2",
           "change w priority=1 priority=2",
           "change w workers=2 min=1",
           "mix entry gpu=1 gpu=2",
           "mix entry times=1 times=2",
           "expect w running on 1 node on 2 nodes",
           "expect w running with 1 task with 2 tasks",
           "expect w running in pool a in pool b",
           "expect w pending never not now",
           "expect free gpu 1 gpu 2",
           "expect pool default allocated gpu 1 allocated gpu 2",
           "expect device n1:0 healthy unhealthy",
           "expect device n1:0 free held by w",
       }) {
    EXPECT_TRUE(Has(error_of(cluster + line + "\n"), {"states again what"})) << line;
  }
  EXPECT_TRUE(Has(error_of("seed 1\nseed 2\n"), {"x.scn:2:1", "x.scn:1:1"}));
  EXPECT_TRUE(Has(error_of("start 2026-01-05T08:00:00Z\nstart 2026-01-05T09:00:00Z\n"),
                  {"x.scn:2:7", "x.scn:1:7"}));
}

// "Create b first" once sent the reader in circles.
TEST(ScenarioReader, QueuesThatFormACycleAreNamed) {
  EXPECT_TRUE(Has(error_of("project a in=b quota=1\nproject b in=c\ndepartment c in=a\n"),
                  {"x.scn:1:11", "the queues form a cycle: a → b → c → a", "another parent"}));
  EXPECT_TRUE(Has(error_of("queue a in=a\n"), {"x.scn:1:9", "cycle: a → a"}));
  EXPECT_TRUE(Has(error_of("queue x in=a\nqueue a in=b\nqueue b in=a\n"), {"cycle: a → b → a"}));
  EXPECT_TRUE(Has(error_of("department a\ndepartment b in=a\nchange department a in=b\n"),
                  {"x.scn:3:21", "cycle: a → b → a"}));
  EXPECT_TRUE(Has(error_of("project a in=b\ndepartment b\n"),
                  {"x.scn:1:11", "'b' is defined below, at x.scn:2:12", "above its children"}));
  EXPECT_TRUE(Has(error_of("department team\nproject a in=taem\n"),
                  {"x.scn:2:11", "did you mean 'team'?", "department taem"}));
}

TEST(ScenarioReader, QueuesOfADocumentMayStandBelowTheirChildren) {
  const std::string head = "apiVersion: fairlead/v1\nkind: Scenario\nqueues:\n";
  const auto scenario = parse_scenario_document(
      head + "  - {name: a, parent: b}\n  - {name: b, parent: c}\n  - {name: c}\n", "x.yaml");
  ASSERT_TRUE(scenario) << scenario.error().front().text();
  std::string order;
  for (const Step& step : scenario->steps) {
    if (const auto* event = std::get_if<sched::Event>(&step.what)) {
      const auto* queue = std::get_if<sched::QueueUpserted>(event);
      if (queue != nullptr) order += queue->queue.name;
    }
  }
  EXPECT_EQ(order, "cba");
  const auto cycle = parse_scenario_document(
      head +
          "  - {name: a}\nsteps:\n  - events: [{queues: [{name: a, parent: b}, "
          "{name: b, parent: a}]}]\n",
      "x.yaml");
  ASSERT_FALSE(cycle);
  EXPECT_TRUE(Has(cycle.error().front().text(), {"x.yaml:6", "cycle: a → b → a"}));
}

TEST(ScenarioReader, WhatAddsToAListOrHoldsElsewhereMayBeRepeated) {
  EXPECT_EQ(error_of("pool x\nnode n1 gpu=2 taint=a taint=b\n"
                     "project a quota=1 cpu.quota=2 pool=x quota=3\n"
                     "submit v queue=a tolerate=a tolerate=b affinity=k:exists affinity=l:exists\n"
                     "submit w queue=a role a gpu=1 role b gpu=1\n"),
            "it was read");
}

TEST(ScenarioReader, ASettingThatAnotherMakesMeaninglessIsRefused) {
  EXPECT_TRUE(Has(error_of("node n1 gpu=4 device a\n"),
                  {"x.scn:1:9", "'gpu=4' says nothing of the devices listed at x.scn:1:15"}));
  EXPECT_TRUE(Has(error_of("cluster 1 node, 1 gpu\nproject a budget=5/day cost-budget=9/month\n"),
                  {"x.scn:2:24", "have one period"}));
  EXPECT_TRUE(Has(error_of("cluster 1 node, 1 gpu\nproject a budget=5/day cost-budget=9/day\n"
                           "change project a budget=5/week\n"),
                  {"x.scn:3:18", "have one period"}));
}

// One line can name ten thousand things; some of them in a row once took all memory.
TEST(ScenarioReader, AScenarioIsOfALimitedSize) {
  EXPECT_TRUE(Has(error_of("cluster 1 node, 1 gpu\nsubmit a1..a5 workers=30000 gpu=1\n"),
                  {"x.scn:2:1", "150000 tasks at once in all; allowed are 100000"}));
  EXPECT_TRUE(Has(error_of("cluster 1 node, 1 gpu\nsubmit a gpu=1\nchange a workers=200000\n"),
                  {"x.scn:3:1", "200001 tasks"}));
  EXPECT_TRUE(Has(error_of("nodes a1..a10000\nnodes b1..b10000\nnodes c1..c10000\n"),
                  {"x.scn:3:1", "30000 nodes in all; allowed are 20000"}));
  EXPECT_EQ(error_of("cluster 1 node, 1 gpu\nsubmit a completions=1000000 gpu=1\n"), "it was read");
  const auto document = parse_scenario_document(
      "apiVersion: fairlead/v1\nkind: Scenario\nqueues: [{name: q}]\nevents:\n"
      "  - {submit: {name: a, queue: q, gpu: 1, count: 70000}}\n"
      "  - {submit: {name: b, queue: q, gpu: 1, count: 70000}}\n",
      "x.yaml");
  ASSERT_FALSE(document);
  EXPECT_TRUE(Has(document.error().front().text(), {"x.yaml:6", "140000 tasks"}));
}

TEST(ScenarioReader, RefusesTextThatIsNotClosedOrIndentedFirst) {
  EXPECT_TRUE(Has(error_of("cluster 1 node, 1 gpu\nsubmit \"a\n"), {"2:8", "never closed"}));
  EXPECT_TRUE(Has(error_of("  cluster 1 node\n"), {"1:1", "indented"}));
  EXPECT_TRUE(Has(error_of("# nothing\n"), {"empty"}));
}

TEST(ScenarioReader, ReadsAQuotedKeywordAsAName) {
  const auto scenario = read_scenario(
      "cluster 1 node, 1 gpu\nsubmit \"free\" gpu=1\nexpect \"free\" running\n", "x.scn");
  ASSERT_TRUE(scenario) << scenario.error().text();
  const auto& expectation = std::get<Expectation>(scenario->steps.back().what);
  EXPECT_EQ(std::get<ExpectWorkloads>(expectation).names, std::vector<std::string>{"free"});
}

TEST(ScenarioReader, TakesTitleStoryAndRulesFromTheHead) {
  const auto scenario = read_scenario(
      "# Title.\n#\n# Story, line one.\nrule 6.4 6.3\ncluster 1 node, 1 gpu\n# later\n", "x.scn");
  ASSERT_TRUE(scenario) << scenario.error().text();
  EXPECT_EQ(scenario->title, "Title.");
  EXPECT_EQ(scenario->story, (std::vector<std::string>{"", "Story, line one."}));
  EXPECT_EQ(scenario->rules, (std::vector<std::string>{"6.4", "6.3"}));
}

TEST(ScenarioReader, DividesNodesOverRacksAndSwitches) {
  const auto scenario = read_scenario("cluster 8 nodes, 1 gpu each, racks=2 switches=2\n", "x.scn");
  ASSERT_TRUE(scenario) << scenario.error().text();
  std::vector<std::string> paths;
  for (const Step& step : scenario->steps) {
    const auto* event = std::get_if<sched::Event>(&step.what);
    const auto* node = event == nullptr ? nullptr : std::get_if<sched::NodeUpserted>(event);
    if (node != nullptr) paths.push_back(node->node.topology[0] + "/" + node->node.topology[1]);
  }
  EXPECT_EQ(paths, (std::vector<std::string>{"r1/r1s1", "r1/r1s1", "r1/r1s2", "r1/r1s2", "r2/r2s1",
                                             "r2/r2s1", "r2/r2s2", "r2/r2s2"}));
}

TEST(ScenarioReader, NamesTheErrorsOfAllStatements) {
  const auto scenario = read_whole_scenario(
      "cluster 2 nodes, 8 gpus each\n"
      "project a quota=x\n"
      "submit b queue=a gpu=1.5\n"
      "submit c queue=a gpu=1\n"
      "down n7\n"
      "expect c runing\n",
      "x.scn");
  ASSERT_FALSE(scenario);
  std::vector<std::string> places;
  for (const Error& error : scenario.error()) places.push_back(error.where);
  // Line 4 names a queue, line 5 a node that may be part of what was not read.
  EXPECT_EQ(places, (std::vector<std::string>{"x.scn:2:11", "x.scn:3:18", "x.scn:6:10"}));
}

TEST(ScenarioReader, AMisspeltStateIsNoUnknownWorkload) {
  EXPECT_TRUE(Has(error_of("cluster 1 node, 8 gpu\nsubmit a gpu=1\nexpect a pendign\n"),
                  {"x.scn:3:10", "neither a workload nor a state", "did you mean 'pending'?"}));
}

TEST(ScenarioReader, ADomainOfAClusterIsDeclaredInThePlural) {
  EXPECT_TRUE(Has(error_of("cluster 2 nodes, 8 gpu each, rack=2\n"), {"x.scn:1:30", "racks=N"}));
}

TEST(ScenarioReader, MinusOneIsUnlimitedInExpectationsToo) {
  const auto scenario = read_scenario(
      "cluster 1 node, 8 gpu\nproject a quota=-1\nexpect queue a quota gpu -1 limit gpu "
      "unlimited\n",
      "x.scn");
  ASSERT_TRUE(scenario) << scenario.error().text();
  EXPECT_TRUE(Has(print_scenario(*scenario), {"quota gpu unlimited", "limit gpu unlimited"}));
}

TEST(ScenarioDocument, SaysWhetherNamesMayBeOfNothing) {
  const std::string text = "cluster 1 node, 8 gpu\ndown n9\nexpect error \"n9\"\n";
  const auto unchecked = read_scenario("unchecked\n" + text, "x.scn");
  ASSERT_TRUE(unchecked) << unchecked.error().text();
  const std::string yaml = scenario_yaml(*unchecked);
  EXPECT_TRUE(Has(yaml, {"unchecked: true", "down: n9"}));
  const auto again = parse_scenario_document(yaml, "x.yaml");
  ASSERT_TRUE(again) << again.error().front().text();
  EXPECT_EQ(scenario_yaml(*again), yaml);
  EXPECT_TRUE(Has(error_of(text), {"'n9' is not a node"}));
}

TEST(ScenarioPrinter, JoinsNeighboursOfOneKindIntoARange) {
  const auto scenario = read_scenario(
      "cluster 3 nodes, 1 gpu each\nsubmit a-1..a-3 gpu=0.5\nexpect a-1 running\n", "x.scn");
  ASSERT_TRUE(scenario) << scenario.error().text();
  EXPECT_EQ(print_scenario(*scenario),
            "node n1..n3 cpu=128 memory=1Ti gpu=1 class=H100-80GB\n"
            "queue default quota=unlimited\n"
            "submit a-1..a-3 queue=default count=1 gpu=0.5\n"
            "expect a-1 running\n");
}

}  // namespace
}  // namespace fairlead::sim
