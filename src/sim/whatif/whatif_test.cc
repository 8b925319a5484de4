// What-ifs small enough to be worked out by hand.
#include <gtest/gtest.h>

#include "model/cluster_reader.h"
#include "sim/log/log_testing.h"
#include "sim/whatif/ahead.h"
#include "sim/whatif/comparison.h"

namespace fairlead::sim {
namespace {

History history_of(const std::string& scenario) {
  std::istringstream in(recorded(scenario));
  auto history = read_history(in, "x.log");
  EXPECT_TRUE(history) << history.error().text();
  return history ? std::move(*history) : History{};
}

RunOutcome run(const History& history, const Change* change = nullptr) {
  auto outcome = run_history(history, change);
  EXPECT_TRUE(outcome) << outcome.error().text();
  return outcome ? std::move(*outcome) : RunOutcome{};
}

// Minutes from the start of the log to the first start; -1: none.
std::int64_t start_of(const RunOutcome& outcome, const History& history, const std::string& name) {
  for (const Fate& fate : outcome.fates) {
    if (fate.name.first != name) continue;
    return fate.started() ? (fate.first_start - history.start).ms / 60'000 : -1;
  }
  ADD_FAILURE() << "no workload " << name;
  return -2;
}

const Fate& fate_of(const RunOutcome& outcome, const std::string& name) {
  for (const Fate& fate : outcome.fates) {
    if (fate.name.first == name) return fate;
  }
  throw std::runtime_error("no workload " + name);
}

// One node; a runs 60 minutes, then b 30.
constexpr const char* kQueue =
    "cluster 1 node, 8 gpu\n"
    "submit a gpu=8\n"
    "submit b gpu=8\n"
    "after 60m\n"
    "finish a\n"
    "after 30m\n"
    "finish b\n"
    "after 30m\n";

// At minute 60: a has run 40 of its 60 minutes, old already runs longer than the 30 it was to take,
// still stands still; b and c wait.
History ahead_of_an_hour(Duration length, std::vector<std::string> frozen = {"still"}) {
  auto document = parse_cluster(R"(
kind: Cluster
apiVersion: fairlead/v1
nodes: [{name: n1, gpus: 4 x T4}, {name: n2, gpus: 4 x T4}, {name: n3, gpus: 4 x T4}]
queues: [{name: q, quota: {gpu: 12}}]
workloads:
  - {name: a, queue: q, gpu: 4, expectedRuntime: 60m, running: [{node: n1, started: 20m}]}
  - {name: old, queue: q, gpu: 4, expectedRuntime: 30m, running: [{node: n2, started: 20m}]}
  - {name: still, queue: q, gpu: 4, expectedRuntime: 1m, running: [{node: n3}]}
  - {name: b, queue: q, gpu: 4, expectedRuntime: 60m, submitted: 30m}
  - {name: c, queue: q, gpu: 4, submitted: 40m}
)",
                                "x.yaml");
  EXPECT_TRUE(document);
  PresentState present;
  present.at = Instant{} + minutes(60);
  present.cluster = std::move(document->cluster);
  present.frozen = std::move(frozen);
  auto history = history_ahead(present, length);
  EXPECT_TRUE(history) << history.error().text();
  return history ? std::move(*history) : History{};
}

TEST(WhatIfAhead, WhatRunsEndsWhenItUsuallyDoesAndWhatWaitsFollows) {
  const History history = ahead_of_an_hour(hours(24));
  const RunOutcome outcome = run(history);
  // a ends at 80, old at 20 + 2 × 30 = 80 too: b and c start then, in their order.
  EXPECT_EQ(start_of(outcome, history, "a"), -40);
  EXPECT_EQ(start_of(outcome, history, "b"), 20);
  EXPECT_EQ(start_of(outcome, history, "c"), 20);
  EXPECT_TRUE(fate_of(outcome, "still").running) << "it stands still";
  EXPECT_TRUE(fate_of(outcome, "c").running) << "nobody knows how long it runs";
  EXPECT_FALSE(fate_of(outcome, "b").running);
  EXPECT_EQ(history.unknown, 2);
  const WhatIfComparison comparison = compare(history, outcome, outcome);
  EXPECT_TRUE(comparison.ahead);
  EXPECT_EQ(comparison.not_as_recorded, 0);
  EXPECT_TRUE(comparison.gained.empty() && comparison.lost.empty());
}

TEST(WhatIfAhead, AChangeTakesPlaceBeforeTheFirstDecision) {
  const History history = ahead_of_an_hour(hours(24));
  Change change;
  change.added.push_back({"n1", 1});
  const RunOutcome outcome = run(history, &change);
  EXPECT_EQ(start_of(outcome, history, "b"), 0);
  EXPECT_EQ(start_of(outcome, history, "c"), 20);
}

TEST(WhatIfAhead, WhatWasLearnedCounts) {
  PresentState present;
  auto document = parse_cluster(R"(
kind: Cluster
apiVersion: fairlead/v1
nodes: [{name: n1, gpus: 4 x T4}]
queues: [{name: q, quota: {gpu: 4}}]
workloads:
  - {name: a, queue: q, gpu: 4, user: ann, template: t, running: [{node: n1, started: 0s}]}
  - {name: b, queue: q, gpu: 4, submitted: 1m}
)",
                                "x.yaml");
  ASSERT_TRUE(document);
  present.cluster = std::move(document->cluster);
  present.at = Instant{} + minutes(10);
  present.runtimes.push_back({"ann", "t", {minutes(20), minutes(30), minutes(40)}});
  const auto history = history_ahead(present, hours(5));
  ASSERT_TRUE(history) << history.error().text();
  EXPECT_EQ(start_of(run(*history), *history, "b"), 20);
}

TEST(WhatIf, WithoutAChangeItIsTheRecordedRun) {
  const History history = history_of(kQueue);
  const RunOutcome outcome = run(history);
  EXPECT_EQ(start_of(outcome, history, "a"), 0);
  EXPECT_EQ(start_of(outcome, history, "b"), 60);
  EXPECT_EQ(compare(history, outcome, outcome).not_as_recorded, 0);
  // 8 GPUs × 90 of 120 minutes.
  EXPECT_DOUBLE_EQ(outcome.used_gpu_ms, 8 * 90 * 60'000.0);
  EXPECT_DOUBLE_EQ(outcome.capacity_gpu_ms, 8 * 120 * 60'000.0);
}

TEST(WhatIf, OneMoreNodeStartsTheWaitingOneAtOnce) {
  const History history = history_of(kQueue);
  Change change;
  change.added.push_back({"n1", 1});
  const RunOutcome outcome = run(history, &change);
  EXPECT_EQ(start_of(outcome, history, "b"), 0);
  const WhatIfComparison c = compare(history, run(history), outcome);
  EXPECT_EQ(c.all.earlier, 1);
  EXPECT_DOUBLE_EQ(c.all.before.mean_wait_seconds, 1800);  // 0 and 60 minutes
  EXPECT_DOUBLE_EQ(c.all.after.mean_wait_seconds, 0);
  EXPECT_DOUBLE_EQ(c.used_percent_before, 75);
  EXPECT_DOUBLE_EQ(c.used_percent_after, 37.5);
  ASSERT_EQ(c.gained.size(), 1U);
  EXPECT_EQ(c.gained[0].workload, "b");
  EXPECT_DOUBLE_EQ(c.gained[0].gain_seconds(), 3600);
  EXPECT_TRUE(c.lost.empty());
}

TEST(WhatIf, ANodeThatComesLaterHelpsFromThenOn) {
  const History history = history_of(kQueue);
  Change change;
  change.at = history.start + minutes(20);
  change.added.push_back({"n1", 1});
  EXPECT_EQ(start_of(run(history, &change), history, "b"), 20);
}

// a has run 30 of 60 minutes when its node goes; n2 takes it from the beginning, and b comes after.
TEST(WhatIf, WorkThatIsLostStartsOver) {
  const History history = history_of(
      "nodes n1..n2 gpu=8\n"
      "submit a gpu=8\n"
      "submit b gpu=8\n"
      "submit c gpu=8\n"
      "after 60m\n"
      "finish a\n"
      "finish b\n"
      "after 100m\n"
      "finish c\n"
      "after 30m\n");
  const RunOutcome before = run(history);
  EXPECT_EQ(start_of(before, history, "c"), 60);
  Change change;
  change.at = history.start + minutes(30);
  change.removed.push_back({{"n1"}, 0});
  const RunOutcome after = run(history, &change);
  // One of a and b lost 30 minutes; the other ends at 60; the lost one runs from 60 to 120; then c.
  EXPECT_EQ(start_of(after, history, "c"), 120);
  EXPECT_FALSE(fate_of(after, "a").running);
  EXPECT_TRUE(fate_of(after, "c").running) << "100 minutes from 120 end after the log, at 190";
}

// b1 and b2 hold all; a comes at 10. With a quota of 4 it takes back what pb has above its own;
// without one it waits until they end.
TEST(WhatIf, AQuotaBringsReclaim) {
  const History history = history_of(
      "cluster 1 node, 8 gpu\n"
      "project pa quota=0 weight=0\n"
      "project pb quota=4\n"
      "submit b1 queue=pb gpu=4\n"
      "submit b2 queue=pb gpu=4\n"
      "after 10m\n"
      "submit a queue=pa gpu=4\n"
      "after 50m\n"
      "finish b1\n"
      "finish b2\n"
      "after 10m\n"
      "finish a\n"
      "after 2h\n");
  const RunOutcome before = run(history);
  EXPECT_EQ(start_of(before, history, "a"), 60);
  Change change;
  change.entitlements.push_back({EntitlementPart::kQuota, "pa", "gpu", "", 4000});
  const RunOutcome after = run(history, &change);
  EXPECT_EQ(start_of(after, history, "a"), 10);
  EXPECT_EQ(fate_of(after, "b1").taken_back + fate_of(after, "b2").taken_back, 1);
  const WhatIfComparison c = compare(history, before, after);
  EXPECT_EQ(c.all.before.preemptions, 0);
  EXPECT_EQ(c.all.after.preemptions, 1);
  // One of pb runs through, one loses 10 minutes and runs from 20 to 80; a runs for 10.
  EXPECT_DOUBLE_EQ(c.all.after.gpu_hours, (4 * 60 + 4 * 70 + 4 * 10) / 60.0);
  EXPECT_DOUBLE_EQ(c.all.before.gpu_hours, (8 * 60 + 4 * 10) / 60.0);
}

TEST(WhatIf, AQuotaHoldsAlsoWhereTheLogStatesTheQueueAgain) {
  const History history = history_of(
      "cluster 1 node, 8 gpu\n"
      "project p quota=8 limit=8\n"
      "submit a queue=p gpu=4\n"
      "submit b queue=p gpu=4\n"
      "after 10m\n"
      "change queue p quota=7\n"
      "after 10m\n"
      "finish a\n"
      "after 1h\n");
  Change change;
  change.entitlements.push_back({EntitlementPart::kLimit, "p", "gpu", "", 4000});
  EXPECT_EQ(start_of(run(history, &change), history, "b"), 20);
}

TEST(WhatIf, WithoutPreemptionWhoComesLaterWaits) {
  const History history = history_of(
      "cluster 1 node, 8 gpu\n"
      "submit low gpu=8 priority=50\n"
      "after 10m\n"
      "submit high gpu=8 priority=90\n"
      "after 30m\n"
      "finish high\n"
      "after 60m\n"
      "finish low\n"
      "after 1h\n");
  const RunOutcome before = run(history);
  EXPECT_EQ(start_of(before, history, "high"), 10);
  EXPECT_EQ(fate_of(before, "low").taken_back, 1);
  Change change;
  change.preempt = false;
  const RunOutcome after = run(history, &change);
  // The work of low is its last 60 minutes: the 10 before it was stopped were lost.
  EXPECT_EQ(start_of(after, history, "high"), 60);
  EXPECT_EQ(fate_of(after, "low").taken_back, 0);
  EXPECT_EQ(compare(history, before, before).not_as_recorded, 0);
}

// What had not ended has no length: it runs to the end of the log, wherever it starts.
TEST(WhatIf, WorkOfUnknownLengthIsNotGuessed) {
  const History history = history_of(
      "cluster 1 node, 8 gpu\n"
      "submit a gpu=8\n"
      "after 60m\n"
      "finish a\n"
      "submit b gpu=8\n"
      "after 30m\n");
  Change change;
  change.added.push_back({"n1", 1});
  const RunOutcome after = run(history, &change);
  EXPECT_TRUE(fate_of(after, "b").running);
  EXPECT_EQ(compare(history, run(history), after).all.after.running, 1);
}

TEST(WhatIf, ACancelKeepsItsTimeAndAnEndItsLength) {
  const History history = history_of(
      "cluster 1 node, 8 gpu\n"
      "submit a gpu=8\n"
      "submit b gpu=8\n"
      "submit c gpu=8\n"
      "after 30m\n"
      "remove c\n"  // it waits: a cancel
      "after 30m\n"
      "remove a\n"  // it runs, since 60 minutes: the end of its work
      "after 60m\n");
  Change change;
  change.at = history.start + minutes(10);
  change.added.push_back({"n1", 2});
  const RunOutcome after = run(history, &change);
  EXPECT_EQ(start_of(after, history, "c"), 10);
  // c holds 8 GPUs from 10 to its cancel at 30, a from 0 to 60, b from 10 to the end.
  EXPECT_EQ(fate_of(after, "c").gpu_milli_ms, 8000 * minutes(20).ms);
  EXPECT_EQ(fate_of(after, "a").gpu_milli_ms, 8000 * minutes(60).ms);
  EXPECT_TRUE(fate_of(after, "b").running);
}

// Independent tasks: the n-th takes as long as the n-th took.
TEST(WhatIf, IndependentTasksKeepTheirLengths) {
  const History history = history_of(
      "cluster 1 node, 1 gpu\n"
      "submit sweep completions=3 parallelism=2 gpu=1\n"
      "after 10m\n"
      "finish sweep worker 0\n"
      "after 20m\n"
      "finish sweep worker 1\n"
      "after 30m\n"
      "finish sweep worker 2\n"
      "after 1h\n");
  const RunOutcome before = run(history);
  EXPECT_EQ(before.used_gpu_ms, 60.0 * 60'000);
  EXPECT_EQ(compare(history, before, before).not_as_recorded, 0);
  Change change;
  change.added.push_back({"n1", 1});
  const RunOutcome after = run(history, &change);
  EXPECT_EQ(after.used_gpu_ms, 60.0 * 60'000);
  EXPECT_FALSE(fate_of(after, "sweep").running);
  // One after the other they are over at 60. Side by side: of 10 and 20 minutes from 0, then that
  // of 30 from 10, over at 40. A bucket is half a minute.
  EXPECT_DOUBLE_EQ(before.buckets[90].used_gpus, 1);
  EXPECT_DOUBLE_EQ(after.buckets[10].used_gpus, 2);
  EXPECT_DOUBLE_EQ(after.buckets[30].used_gpus, 2);
  EXPECT_DOUBLE_EQ(after.buckets[70].used_gpus, 1);
  EXPECT_DOUBLE_EQ(after.buckets[90].used_gpus, 0);
}

TEST(WhatIf, ARefusedStartFailsAgainAndWaitsAsLong) {
  const History history = history_of(
      "cluster 1 node, 8 gpu\n"
      "submit a gpu=8\n"
      "submit b gpu=8\n"
      "after 60m\n"
      "finish a\n"
      "decide\n"
      "refuse-start b retry=5m\n"
      "after 10m\n"
      "finish b\n"
      "after 1h\n");
  const RunOutcome before = run(history);
  EXPECT_EQ(compare(history, before, before).not_as_recorded, 0);
  Change change;
  change.at = history.start + minutes(20);
  change.added.push_back({"n1", 1});
  const RunOutcome after = run(history, &change);
  EXPECT_EQ(start_of(after, history, "b"), 20);
  // Refused at 20, it runs from 25 for the 5 minutes that it took.
  EXPECT_EQ(fate_of(after, "b").gpu_milli_ms, 8000 * minutes(5).ms);
}

TEST(WhatIf, ASubmittedWorkloadSaysWhenItStarts) {
  const History history = history_of(kQueue);
  Change change;
  change.at = history.start + minutes(10);
  WorkloadSpec extra;
  extra.name = "extra";
  extra.queue = "default";
  RoleSpec role;
  role.request.gpu = GpuRequest{GpuRequestKind::kDevices, 1, {}, {}, "", {}, {}};
  extra.roles.push_back(role);
  change.submitted.push_back(extra);
  const RunOutcome after = run(history, &change);
  const WhatIfComparison c = compare(history, run(history), after);
  ASSERT_EQ(c.added.size(), 1U);
  EXPECT_TRUE(c.added[0].started);
  EXPECT_DOUBLE_EQ(c.added[0].wait_seconds, 80 * 60);  // when b is over, at 90
  EXPECT_EQ(c.all.workloads, 2) << "it is counted apart";
}

TEST(WhatIf, WhatWasImpossibleIsAcceptedWithOneMoreNode) {
  const History history = history_of(
      "cluster 1 node, 8 gpu\n"
      "submit big workers=2 gpu=8\n"
      "expect big refused\n"
      "after 1h\n");
  EXPECT_TRUE(fate_of(run(history), "big").refused);
  Change change;
  change.added.push_back({"n1", 1});
  const RunOutcome after = run(history, &change);
  EXPECT_FALSE(fate_of(after, "big").refused);
  EXPECT_EQ(start_of(after, history, "big"), 0);
  EXPECT_EQ(compare(history, run(history), after).all.newly, 1);
}

TEST(WhatIf, ANameUsedAgainIsAnotherLife) {
  const History history = history_of(
      "cluster 1 node, 8 gpu\n"
      "submit a gpu=8\n"
      "after 10m\n"
      "finish a\n"
      "submit a gpu=4\n"
      "after 20m\n"
      "finish a\n"
      "after 1h\n");
  const RunOutcome outcome = run(history);
  ASSERT_EQ(outcome.fates.size(), 2U);
  EXPECT_EQ(outcome.fates[0].gpu_milli_ms, 8000 * minutes(10).ms);
  EXPECT_EQ(outcome.fates[1].gpu_milli_ms, 4000 * minutes(20).ms);
}

TEST(WhatIf, ChangesOfWhatIsNotThereAreRefused) {
  const History history = history_of(kQueue);
  const auto error_of = [&](Change change) {
    const auto outcome = run_history(history, &change);
    return outcome ? std::string("accepted") : outcome.error().text();
  };
  Change change;
  change.added.push_back({"n2", 1});
  EXPECT_EQ(
      error_of(change),
      "--add-nodes: there is no node \"n2\" when the change takes place; did you mean \"n1\"?");
  change = {};
  change.removed.push_back({{}, 2});
  EXPECT_EQ(error_of(change), "--remove-nodes: 2 nodes shall go; there are 1; name fewer");
  change = {};
  change.at = history.end + seconds(1);
  EXPECT_EQ(error_of(change),
            "--at: the change lies outside of the log, which is 2h long; choose a time within it");
}

TEST(WhatIf, EntitlementsAreReadInTheUnitOfTheirResource) {
  const auto gpu = parse_entitlement(EntitlementPart::kQuota, "team-a=1.5");
  ASSERT_TRUE(gpu);
  EXPECT_EQ(gpu->queue, "team-a");
  EXPECT_EQ(gpu->amount, 1500);
  const auto memory = parse_entitlement(EntitlementPart::kLimit, "a=2Gi:memory@p");
  ASSERT_TRUE(memory) << memory.error().text();
  EXPECT_EQ(memory->amount, std::int64_t{2} << 30);
  EXPECT_EQ(memory->pool, "p");
  EXPECT_EQ(parse_entitlement(EntitlementPart::kQuota, "a=unlimited")->amount, kUnlimited);
  EXPECT_EQ(parse_entitlement(EntitlementPart::kWeight, "a=0.5")->amount, 500);
  for (const char* wrong : {"a", "=4", "a=", "a=x", "a=-1", "a=4:", "a=4@", "a=4:cpu@"}) {
    EXPECT_FALSE(parse_entitlement(EntitlementPart::kQuota, wrong)) << wrong;
  }
  EXPECT_FALSE(parse_entitlement(EntitlementPart::kWeight, "a=unlimited"));
}

}  // namespace
}  // namespace fairlead::sim
