// Replays small enough to compute by hand, through the real scheduling core.
#include "sim/replay/replay.h"

#include <gtest/gtest.h>

#include "sim/muri/cluster.h"
#include "sim/replay/safety.h"
#include "sim/report/summary.h"

namespace fairlead::sim {
namespace {

TraceJob job(const std::string& name, std::int64_t submit_s, std::int64_t run_s, std::int32_t gpus,
             const std::string& project = "p") {
  TraceJob out;
  out.name = name;
  out.project = project;
  out.submit = Instant{} + seconds(submit_s);
  out.run_time = seconds(run_s);
  out.request.gpu.kind = GpuRequestKind::kDevices;
  out.request.gpu.count = gpus;
  return out;
}

ReplayOptions with_policy(const char* name) {
  ReplayOptions options;
  options.policy = *ServicePolicy::named(name);
  return options;
}

ReplayResult run(const ClusterSpec& cluster, const std::vector<TraceJob>& jobs,
                 const ReplayOptions& options) {
  auto result = replay(cluster, jobs, options);
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().text());
  return result ? std::move(*result) : ReplayResult{};
}

std::int64_t end_s(const ReplayResult& result, std::size_t at) {
  return result.jobs.at(at).ended.ms / 1000;
}

TEST(Replay, OneLineIsServedBySubmitTime) {
  // 4 GPUs. a holds all of them to 100; b (4) and c (4) follow in order: 150, 160.
  const auto r =
      run(uniform_cluster(1, 4), {job("a", 0, 100, 4), job("b", 10, 50, 4), job("c", 20, 10, 4)},
          with_policy("fifo"));
  EXPECT_EQ(end_s(r, 0), 100);
  EXPECT_EQ(end_s(r, 1), 150);
  EXPECT_EQ(end_s(r, 2), 160);
  EXPECT_EQ(r.preemptions, 0);
}

// One node of 4 GPUs, of which each of two projects owns 2.
ClusterSpec shared_by_two() {
  ClusterSpec cluster = uniform_cluster(1, 4);
  for (const char* name : {"a", "b"}) {
    QueueSpec queue;
    queue.name = name;
    queue.pools["default"]["gpu"].quota = 2000;
    cluster.queues.push_back(std::move(queue));
  }
  return cluster;
}

// Replays once left rule 7 off: b waited for as long as a cared to run on what it had borrowed.
TEST(Replay, AProjectGetsBackWhatItLentAndTheOtherLosesWorkSinceItsCheckpoint) {
  // Both jobs of a run from 0. At 100 b has a job: one of a's stops, with checkpoints at 60 s, so
  // 40 s of its work are lost. b runs 100-600. What stopped has 940 s left and 10 s to start: 1550.
  ReplayOptions options;
  options.checkpoint_every = seconds(60);
  options.restart_cost = seconds(10);
  const std::vector<TraceJob> jobs{job("a1", 0, 1000, 2, "a"), job("a2", 0, 1000, 2, "a"),
                                   job("b1", 100, 500, 2, "b")};
  const auto r = run(shared_by_two(), jobs, options);
  EXPECT_EQ(end_s(r, 2), 600);
  EXPECT_EQ(std::min(end_s(r, 0), end_s(r, 1)), 1000);
  EXPECT_EQ(std::max(end_s(r, 0), end_s(r, 1)), 1550);
  EXPECT_EQ(r.preemptions, 1);
  EXPECT_EQ(r.jobs[0].preemptions + r.jobs[1].preemptions, 1);
  EXPECT_EQ(r.lost_gpu_ms, 2 * (40'000 + 10'000));
  ASSERT_EQ(r.projects.size(), 2u);
  EXPECT_EQ(r.projects[0].preemptions, 1);
  EXPECT_EQ(r.projects[0].lost_gpu_ms, r.lost_gpu_ms);
  EXPECT_EQ(r.projects[1].missing_gpu_ms, 0);

  options.take_back = false;
  const auto without = run(shared_by_two(), jobs, options);
  EXPECT_EQ(end_s(without, 2), 1500);
  EXPECT_EQ(without.preemptions, 0);
  // b was entitled to 2 GPUs from 100 to 1000, and a held them.
  EXPECT_EQ(without.projects[1].missing_gpu_ms, 2 * 900'000);
  EXPECT_EQ(without.projects[1].lent_gpu_ms, 2 * 900'000);
}

// 100 to 1000 b waits for 2 GPUs of its own that a holds; alone it would start at once. That is
// within one gang's drain (1000 s), and with taking back it does not happen.
TEST(Safety, WhoStaysWithinQuotaIsComparedWithAPrivateCluster) {
  const std::vector<TraceJob> jobs{job("a1", 0, 1000, 2, "a"), job("a2", 0, 1000, 2, "a"),
                                   job("b1", 100, 500, 2, "b"), job("b2", 2000, 10, 4, "b")};
  ReplayOptions options;
  options.take_back = false;
  const auto rows =
      check_safety(shared_by_two(), jobs, options, run(shared_by_two(), jobs, options));
  ASSERT_TRUE(rows.has_value()) << rows.error().text();
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ(rows->at(0).within, 0);  // a asks for 4 GPUs, its quota is 2
  EXPECT_EQ(rows->at(1).within, 1);  // b2 alone asks for more than the quota
  EXPECT_EQ(rows->at(1).longer, 1);
  EXPECT_EQ(rows->at(1).unsafe, 0);
  EXPECT_EQ(rows->at(1).drain_seconds, 1000);
  EXPECT_EQ(rows->at(1).longest_excess_seconds, 900);

  options.take_back = true;
  const auto taking =
      check_safety(shared_by_two(), jobs, options, run(shared_by_two(), jobs, options));
  ASSERT_TRUE(taking.has_value()) << taking.error().text();
  EXPECT_EQ(taking->at(1).longer, 0);
}

TEST(Replay, AJobThatMovesSoThatALargerOneFitsGoesOnFromItsCheckpoint) {
  // Two nodes of 4. At 200 each has 2 free beside a job of 2; one of them moves, and big runs at
  // once. Whoever moves had its last checkpoint at most 30 s before.
  ReplayOptions options;
  options.checkpoint_every = seconds(30);
  const auto r = run(uniform_cluster(2, 4),
                     {job("first", 0, 50, 4), job("stays", 0, 1000, 2), job("short", 0, 100, 2),
                      job("later", 60, 1000, 2), job("big", 200, 100, 4)},
                     options);
  EXPECT_EQ(r.jobs[4].first_start.ms, 200'000);
  EXPECT_EQ(r.moves, 1);
  EXPECT_EQ(r.preemptions, 0);
  EXPECT_GT(r.lost_gpu_ms, 0);
  EXPECT_LE(r.lost_gpu_ms, 2 * 30'000);
}

TEST(Replay, ShortestRemainingFirstStopsTheLongerJob) {
  // b arrives at 10 with 20 s; a has 90 left. b runs 10-30, a goes on 30-120.
  const auto r =
      run(uniform_cluster(1, 4), {job("a", 0, 100, 4), job("b", 10, 20, 4)}, with_policy("srtf"));
  EXPECT_EQ(end_s(r, 1), 30);
  EXPECT_EQ(end_s(r, 0), 120);
  EXPECT_EQ(r.preemptions, 1);
  EXPECT_EQ(r.jobs[0].preemptions, 1);
}

TEST(Replay, ShortestServiceFirstCountsGpus) {
  // At 10: a has 40 s × 1 GPU = 40 left, b asks 20 s × 4 = 80. a stays, b waits for it.
  const auto r =
      run(uniform_cluster(1, 4), {job("a", 0, 50, 1), job("b", 10, 20, 4)}, with_policy("srsf"));
  EXPECT_EQ(end_s(r, 0), 50);
  EXPECT_EQ(end_s(r, 1), 70);
  EXPECT_EQ(r.preemptions, 0);
}

TEST(Replay, RestartsCostTimeOnTheGpus) {
  ReplayOptions options = with_policy("srtf");
  options.restart_cost = seconds(5);
  const auto r = run(uniform_cluster(1, 4), {job("a", 0, 100, 4), job("b", 10, 20, 4)}, options);
  EXPECT_EQ(end_s(r, 1), 30);   // a first start costs nothing
  EXPECT_EQ(end_s(r, 0), 125);  // 30 + 5 + 90
  EXPECT_DOUBLE_EQ(r.lost_gpu_ms, 5000.0 * 4);
}

TEST(Replay, TiresiasDemotesAtItsLimitAndServesTheNewJob) {
  // a: 4 GPUs, demoted at 3,250 / 4 = 812.5 s (813 s in whole ms is 812.5). b waits from 100 on
  // and starts when a falls to the second level; with 1 GPU-level it ends at 812.5 + 100.
  const auto r = run(uniform_cluster(1, 4), {job("a", 0, 2000, 4), job("b", 100, 100, 4)},
                     with_policy("tiresias"));
  EXPECT_EQ(r.jobs[1].ended.ms, 912'500);
  EXPECT_EQ(r.jobs[0].ended.ms, 2'100'000);
  EXPECT_EQ(r.preemptions, 1);
}

TEST(Replay, AJobThatStaysOnItsNodesIsNotTouched) {
  // Two nodes of 4. a (node 1) and b (node 2) run; c needs 4 and is shorter than b only: b is
  // stopped, a never notices.
  const auto r =
      run(uniform_cluster(2, 4), {job("a", 0, 30, 4), job("b", 0, 1000, 4), job("c", 10, 50, 4)},
          with_policy("srtf"));
  EXPECT_EQ(end_s(r, 0), 30);
  EXPECT_EQ(end_s(r, 2), 60);
  // b: 10 s done, stopped at 10, goes on at 30 when a's node is free: 30 + 990.
  EXPECT_EQ(end_s(r, 1), 1020);
  EXPECT_EQ(r.preemptions, 1);
  EXPECT_EQ(r.moves, 0);
}

TEST(Replay, GangsStartWholeOrNotAtAll) {
  TraceJob gang = job("gang", 5, 10, 1);
  shape_gang(gang, 8, 4);  // 2 tasks of 4
  const auto r = run(uniform_cluster(2, 4), {job("a", 0, 20, 1), gang}, with_policy("default"));
  EXPECT_EQ(r.jobs[1].first_start.ms, 20'000);
  EXPECT_EQ(end_s(r, 1), 30);
}

TEST(Replay, WhatCanNeverRunIsRefusedAndTheRestGoesOn) {
  const auto r = run(uniform_cluster(1, 4), {job("big", 0, 10, 5), job("a", 1, 10, 4)},
                     with_policy("default"));
  EXPECT_EQ(r.jobs[0].end, JobEnd::kRefused);
  EXPECT_FALSE(r.jobs[0].note.empty());
  EXPECT_EQ(end_s(r, 1), 11);
}

TEST(Replay, AFaultStopsTheJobAndItsWorkSinceTheCheckpointIsDoneAgain) {
  // One node fails at 100 s and is back at 150 s; checkpoints every 30 s of work: 90 s are kept.
  ReplayOptions options = with_policy("default");
  options.checkpoint_every = seconds(30);
  options.faults = {
      Fault{FaultKind::kNode, Instant{100'000}, Instant{100'000}, Instant{150'000}, {0}, 0}};
  const auto r = run(uniform_cluster(1, 4), {job("a", 0, 200, 4)}, options);
  EXPECT_EQ(end_s(r, 0), 260);  // 150 + (200 − 90)
  EXPECT_EQ(r.fault_stops, 1);
  EXPECT_EQ(r.preemptions, 0);
  EXPECT_DOUBLE_EQ(r.lost_gpu_ms, 10'000.0 * 4);
}

TEST(Replay, ASilentFaultStallsTheJobUntilItIsNoticed) {
  // Device 0 breaks at 50 s, noticed at 80 s; the job moves to the other node.
  ReplayOptions options = with_policy("default");
  options.checkpoint_every = seconds(10);
  options.faults = {
      Fault{FaultKind::kDevice, Instant{50'000}, Instant{80'000}, Instant{500'000}, {0}, 0}};
  const auto jobs = {job("a", 0, 100, 4)};
  const auto r = run(uniform_cluster(2, 4), jobs, options);
  EXPECT_EQ(end_s(r, 0), 130);  // 80 + the 50 s that were left
  EXPECT_EQ(r.fault_stops, 1);
}

TEST(Replay, RefusedStartsAreTriedAgainAndBlockNobody) {
  ReplayOptions options = with_policy("default");
  options.refused_starts_milli = 500;
  std::vector<TraceJob> jobs;
  for (int i = 0; i < 40; ++i) jobs.push_back(job("j" + std::to_string(i), i, 10, 1));
  const auto r = run(uniform_cluster(1, 4), jobs, options);
  EXPECT_GT(r.refused_starts, 5);
  for (const JobRecord& record : r.jobs) EXPECT_TRUE(record.finished()) << record.name;
}

TEST(Replay, CountsWhatProjectsReceive) {
  const auto r = run(uniform_cluster(1, 4), {job("a", 0, 3600, 3, "x"), job("b", 0, 7200, 1, "y")},
                     with_policy("default"));
  const Summary s = summarise(r);
  ASSERT_EQ(s.fairness.size(), 2u);
  EXPECT_DOUBLE_EQ(s.fairness[0].received_gpu_hours, 3);
  EXPECT_DOUBLE_EQ(s.fairness[1].received_gpu_hours, 2);
  // (4 GPUs × 1 h + 1 × 1 h) of 4 × 2 h.
  EXPECT_NEAR(s.allocated_percent, 62.5, 1e-9);
  EXPECT_DOUBLE_EQ(s.makespan_seconds, 7200);
}

TEST(Replay, SameSeedSameResult) {
  ReplayOptions options = with_policy("las");
  options.refused_starts_milli = 100;
  std::vector<TraceJob> jobs;
  for (int i = 0; i < 60; ++i)
    jobs.push_back(job("j" + std::to_string(i), i * 7, 50 + i, 1 + i % 4));
  const auto a = run(uniform_cluster(2, 4), jobs, options);
  const auto b = run(uniform_cluster(2, 4), jobs, options);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    EXPECT_EQ(a.jobs[i].ended, b.jobs[i].ended);
    EXPECT_EQ(a.jobs[i].preemptions, b.jobs[i].preemptions);
  }
}

}  // namespace
}  // namespace fairlead::sim
