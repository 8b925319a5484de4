// The core as others see it: each error of apply(), and that nothing has changed after it; what
// runs is counted as it should be; each bug that was found keeps a test here.
#include "sched/scheduler.h"

#include <gtest/gtest.h>

#include "sched/scheduler_testing.h"

namespace fairlead::sched::testing {
namespace {

class Apply : public ::testing::Test {
 protected:
  Cluster cluster;

  Apply() {
    cluster.must(TopologyDefined{{"rack"}});
    cluster.node("n0", 4, {"r0"});
    cluster.node("n1", 4, {"r1"});
    cluster.must(QueueUpserted{Cluster::queue("department", 8'000)});
    QueueSpec project = Cluster::queue("project", 4'000);
    project.parent = "department";
    cluster.must(QueueUpserted{project});
    cluster.submit("runs", gpus(2, 1'000), 2);
    cluster.decide();
    cluster.submit("waits", gpus(4), 2);
    cluster.decide();
  }
  // Expects this error, with the word in its message, and that nothing has changed.
  void refuses(const Event& event, ErrorCode code, const std::string& word) {
    const std::string before = cluster.everything();
    const auto told = cluster.tell(event);
    ASSERT_FALSE(told) << "expected an error that says " << word;
    EXPECT_EQ(told.error().code, code) << told.error().text();
    EXPECT_NE(told.error().text().find(word), std::string::npos) << told.error().text();
    EXPECT_EQ(cluster.everything(), before);
    EXPECT_TRUE(cluster.decide().empty()) << "nothing was set in motion";
    EXPECT_EQ(cluster.everything(), before);
  }
};

TEST(Create, KnowsItsPlacementPolicies) {
  SchedulerOptions options;
  options.placement = "worst";
  const auto scheduler = Scheduler::create(options);
  ASSERT_FALSE(scheduler);
  EXPECT_EQ(scheduler.error().code, ErrorCode::kInvalidArgument);
}

TEST_F(Apply, TopologyComesBeforeNodesAndHasDistinctNames) {
  refuses(TopologyDefined{{"zone"}}, ErrorCode::kConflict, "before the first node");
  Cluster fresh;
  for (const auto& levels : std::vector<std::vector<std::string>>{{""}, {"host"}, {"a", "a"}}) {
    const auto told = fresh.tell(TopologyDefined{levels});
    ASSERT_FALSE(told);
    EXPECT_EQ(told.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST_F(Apply, DeviceClassesAreSoundAndDoNotChange) {
  const auto define = [](const std::string& name, std::int64_t mib) {
    return DeviceClassDefined{{name, MiB(mib), 0, 0, {}}};
  };
  refuses(define("", 1), ErrorCode::kInvalidArgument, "name");
  refuses(define("X", 0), ErrorCode::kOutOfRange, "memory is 0");
  refuses(define("T4", 1), ErrorCode::kConflict, "T4");
  DeviceClass c{"X", MiB(100), 7, 17, {}};
  refuses(DeviceClassDefined{c}, ErrorCode::kOutOfRange, "mig.memorySlices is 17");
  c.mig_memory_slices = 8;
  c.mig_profiles = {{"3g", 3, 4, MiB(50), {0, 5}}};
  refuses(DeviceClassDefined{c}, ErrorCode::kOutOfRange, "starts is 5; allowed are 0 to 4");
  c.mig_profiles[0].starts = {0};
  c.mig_profiles[0].compute_slices = 8;
  refuses(DeviceClassDefined{c}, ErrorCode::kOutOfRange, "computeSlices is 8; allowed are 0 to 7");
  c.mig_profiles[0].compute_slices = 3;
  c.mig_profiles[0].memory_slices = INT32_MAX;  // once overflowed
  refuses(DeviceClassDefined{c}, ErrorCode::kOutOfRange, "3g");
  c.mig_profiles[0].memory_slices = 4;
  c.mig_profiles[0].memory = MiB(101);
  refuses(DeviceClassDefined{c}, ErrorCode::kOutOfRange, "memory is 101; allowed are 1 to 100");
  EXPECT_TRUE(cluster.tell(DeviceClassDefined{*known_device_class("T4")}))
      << "the same again is no change";
}

TEST_F(Apply, PoolsHaveNamesRatesAndTimes) {
  PoolSpec pool;
  pool.name = "";
  refuses(PoolDefined{pool}, ErrorCode::kInvalidArgument, "name");
  pool.name = "new";
  const auto bad = [&](const std::string& text, const auto& spoil) {
    PoolSpec spec;
    spec.name = "new";
    spoil(spec);
    refuses(PoolDefined{spec}, ErrorCode::kOutOfRange, text);
  };
  bad("exchangeRates[T4] is 0; allowed are 0.001 to 1000",
      [](PoolSpec& p) { p.exchange_rates["T4"] = 0; });
  bad("prices[T4] is -0.5; allowed are 0 to 1000000", [](PoolSpec& p) { p.prices["T4"] = -500; });
  bad("prices[T4]", [](PoolSpec& p) { p.prices["T4"] = INT64_MAX; });
  bad("usage.k is -0.001; allowed are 0 to 1000", [](PoolSpec& p) { p.k_value_milli = -1; });
  bad("usage.k", [](PoolSpec& p) { p.k_value_milli = INT64_MAX; });
  bad("usage.halfLife is 0ms; allowed are above 0",
      [](PoolSpec& p) { p.usage_half_life = Duration{0}; });
  bad("usage.windowLength is -5ms", [](PoolSpec& p) { p.usage_window_length = Duration{-5}; });
  bad("usage.windowLength", [](PoolSpec& p) { p.usage_window_length = Duration{INT64_MAX}; });
  bad("aging.interval is -1ms; allowed are 0 to 100 years",
      [](PoolSpec& p) { p.aging_interval = Duration{-1}; });
  bad("aging.max is -1", [](PoolSpec& p) { p.aging_max = -1; });
  for (const auto& [interval, max] : {std::pair{0, 5}, std::pair{60'000, 0}}) {
    pool.aging_interval = Duration{interval};
    pool.aging_max = max;
    refuses(PoolDefined{pool}, ErrorCode::kInvalidArgument, "both lie above 0, or both are 0");
  }
}

TEST_F(Apply, NodesNameKnownThingsAndAddUp) {
  NodeSpec node = Cluster::node_spec("n2", 1);
  node.name = "";
  refuses(NodeUpserted{node}, ErrorCode::kInvalidArgument, "name");
  node = Cluster::node_spec("n2", 1, {"r0", "s0"});
  refuses(NodeUpserted{node}, ErrorCode::kInvalidArgument, "topology levels");
  node = Cluster::node_spec("n2", 1);
  node.devices[0].device_class = "B300";
  node.pool = "new-pool";
  refuses(NodeUpserted{node}, ErrorCode::kNotFound, "B300");
  node.devices[0].device_class = "T4";
  node.numa = {{MilliCpu(1'000)}};
  refuses(NodeUpserted{node}, ErrorCode::kInvalidArgument, "add up");
  node.numa = {{MilliCpu(-1'000)}, {MilliCpu(65'000)}};
  refuses(NodeUpserted{node}, ErrorCode::kOutOfRange, "n2");
  node.numa.clear();
  node.extended["rdma"] = -1;
  refuses(NodeUpserted{node}, ErrorCode::kOutOfRange, "n2");
  node = Cluster::node_spec("n2", 2);
  node.devices[1].id = node.devices[0].id;
  refuses(NodeUpserted{node}, ErrorCode::kInvalidArgument, "gpu-0");
  node = Cluster::node_spec("n2", 2);
  node.cpu = MilliCpu(-1);
  refuses(NodeUpserted{node}, ErrorCode::kOutOfRange, "n2");
  const auto bad = [&](const std::string& text, const auto& spoil) {
    NodeSpec spec = Cluster::node_spec("n2", 1);
    spoil(spec);
    refuses(NodeUpserted{spec}, ErrorCode::kOutOfRange, text);
  };
  bad("memory is -1", [](NodeSpec& n) { n.memory = Bytes(-1); });
  bad("memory", [](NodeSpec& n) { n.memory = Bytes(INT64_MAX); });
  bad("resources[rdma]", [](NodeSpec& n) { n.extended["rdma"] = INT64_MAX; });
  bad("gpus[gpu-0].numa: node 'n2': numa is -2", [](NodeSpec& n) { n.devices[0].numa = -2; });
  bad("numa is 2; allowed are -1 to 1", [](NodeSpec& n) {
    n.numa = {{MilliCpu(32'000)}, {MilliCpu(32'000)}};
    n.devices[0].numa = 2;
  });
  bad("pcieSwitch is -7", [](NodeSpec& n) { n.devices[0].pcie_switch = -7; });
  bad("gpus is 1025", [](NodeSpec& n) { n.devices.resize(1'025); });
  for (const char* name : {"gpu", "cpu", "memory", ""}) {
    node = Cluster::node_spec("n2", 1);
    node.extended[name] = 1;
    refuses(NodeUpserted{node}, ErrorCode::kInvalidArgument, "resources[");
  }
  refuses(NodeRemoved{"n9"}, ErrorCode::kNotFound, "n9");
  refuses(NodeConditionChanged{"n9", true, true}, ErrorCode::kNotFound, "n9");
  refuses(DeviceHealthChanged{"n9", "gpu-0", DeviceHealth::kUnhealthy}, ErrorCode::kNotFound, "n9");
  refuses(DeviceHealthChanged{"n0", "gpu-9", DeviceHealth::kUnhealthy}, ErrorCode::kNotFound,
          "gpu-9");
}

TEST_F(Apply, AChangedNodeIsCheckedBeforeItIsChanged) {
  NodeSpec node = Cluster::node_spec("n0", 1, {"r1"});
  node.devices[0].device_class = "B300";
  refuses(NodeUpserted{node}, ErrorCode::kNotFound, "B300");
}

TEST_F(Apply, QueuesFormATree) {
  refuses(QueueUpserted{Cluster::queue("", 0)}, ErrorCode::kInvalidArgument, "name");
  QueueSpec orphan = Cluster::queue("orphan", 0);
  orphan.parent = "nowhere";
  orphan.pools["unheard-of"]["gpu"] = {};  // must not come into being
  refuses(QueueUpserted{orphan}, ErrorCode::kNotFound, "nowhere");
  QueueSpec cycle = Cluster::queue("department", 8'000);
  cycle.parent = "project";
  refuses(QueueUpserted{cycle}, ErrorCode::kInvalidArgument, "ancestor");
  QueueSpec below = Cluster::queue("below", 0);
  below.parent = "team";
  refuses(QueueUpserted{below}, ErrorCode::kConflict, "holds workloads");
  QueueSpec negative = Cluster::queue("project", -2);
  negative.parent = "department";
  refuses(QueueUpserted{negative}, ErrorCode::kOutOfRange, "quota[gpu] is -0.002");
  const auto bad = [&](const std::string& text, const auto& spoil) {
    QueueSpec spec = Cluster::queue("project", 4'000);
    spec.parent = "department";
    spoil(spec);
    refuses(QueueUpserted{spec}, ErrorCode::kOutOfRange, text);
  };
  bad("pools[default].limit[cpu]",
      [](QueueSpec& q) { q.pools["default"]["cpu"].limit = INT64_MAX; });
  bad("overQuotaWeight[gpu] is -1",
      [](QueueSpec& q) { q.pools["default"]["gpu"].over_quota_weight = -1'000; });
  bad("rank", [](QueueSpec& q) { q.rank = INT32_MIN; });
  bad("budget.gpuHours is -1", [](QueueSpec& q) {
    q.budget.emplace();
    q.budget->gpu_milli_hours = -1'000;
  });
  bad("budget.cost", [](QueueSpec& q) {
    q.budget.emplace();
    q.budget->cost_milli = INT64_MAX;
  });
  bad("windows.to", [](QueueSpec& q) { q.windows = {{0, 10'081}}; });
  bad("windows.from", [](QueueSpec& q) { q.windows = {{-1, 60}}; });
  bad("reclaimMinRuntime", [](QueueSpec& q) { q.reclaim_min_runtime = Duration{-1}; });
  bad("preemptMinRuntime", [](QueueSpec& q) { q.preempt_min_runtime = Duration{-1}; });
  bad("defaultExpectedRuntime",
      [](QueueSpec& q) { q.default_expected_runtime = Duration{INT64_MAX}; });
  refuses(QueueRemoved{"nobody"}, ErrorCode::kNotFound, "nobody");
  refuses(QueueRemoved{"department"}, ErrorCode::kConflict, "child");
  refuses(QueueRemoved{"team"}, ErrorCode::kConflict, "workloads");
}

TEST_F(Apply, SubmittedWorkloadsAreWellFormed) {
  const auto bad = [&](ErrorCode code, const std::string& word, const auto& spoil) {
    WorkloadSpec spec = cluster.workload("new", gpus(1));
    spoil(spec);
    SCOPED_TRACE(word);
    refuses(WorkloadSubmitted{spec}, code, word);
    const auto admitted = cluster.scheduler.admit(spec);
    ASSERT_FALSE(admitted);
    EXPECT_EQ(admitted.error().code, code) << "admit() answers as apply() does";
  };
  const ErrorCode invalid = ErrorCode::kInvalidArgument;
  using W = WorkloadSpec;
  bad(invalid, "name", [](W& w) { w.name = ""; });
  bad(ErrorCode::kAlreadyExists, "runs", [](W& w) { w.name = "runs"; });
  bad(ErrorCode::kNotFound, "nobody", [](W& w) { w.queue = "nobody"; });
  bad(invalid, "leaves", [](W& w) { w.queue = "department"; });
  bad(invalid, "pool", [](W& w) { w.pools.clear(); });
  bad(ErrorCode::kNotFound, "a100", [](W& w) { w.pools = {"default", "a100"}; });
  const ErrorCode range = ErrorCode::kOutOfRange;
  bad(range, "roles", [](W& w) { w.roles.clear(); });
  bad(invalid, "two roles", [](W& w) { w.roles.push_back(w.roles[0]); });
  bad(range, "count", [](W& w) { w.roles[0].count = w.roles[0].min = 0; });
  bad(range, "min is 2; allowed are 0 to 1", [](W& w) { w.roles[0].min = 2; });
  bad(range, "min", [](W& w) { w.roles[0].min = -1; });
  bad(range, "segments.size", [](W& w) { w.roles[0].segment_size = -1; });
  bad(invalid, "independent", [](W& w) { w.completions = 3; });
  bad(range, "completions", [](W& w) { w.completions = -1; });
  bad(range, "completions", [](W& w) { w.completions = 1'000'001; });
  bad(range, "backoffLimit", [](W& w) { w.backoff_limit = -1; });
  bad(range, "priority", [](W& w) { w.priority = INT32_MIN; });
  bad(range, "expectedRuntime", [](W& w) { w.expected_runtime = Duration{-1}; });
  bad(range, "maxRuntime", [](W& w) { w.max_runtime = Duration{INT64_MAX}; });
  bad(range, "gpu.count is 0", [](W& w) { w.roles[0].request.gpu.count = 0; });
  bad(range, "gpu.count", [](W& w) { w.roles[0].request.gpu.count = INT32_MAX; });
  bad(range, "devices", [](W& w) {
    w.roles[0].count = w.roles[0].min = 1'000'000;
    w.roles[0].request.gpu.count = 1'000;
  });
  bad(range, "portion", [](W& w) { w.roles[0].request = portion(1'000); });
  bad(range, "portion", [](W& w) { w.roles[0].request = portion(0); });
  bad(range, "memory", [](W& w) { w.roles[0].request = device_memory(0); });
  bad(range, "memory", [](W& w) { w.roles[0].request = device_memory(INT64_MAX); });
  bad(invalid, "profile", [](W& w) { w.roles[0].request = mig(""); });
  bad(invalid, "limit", [](W& w) { w.roles[0].request.gpu.compute_limit = MilliGpu(500); });
  bad(range, "gpu.limit is 0.499; allowed are 0.5 to 1", [](W& w) {
    w.roles[0].request = portion(500);
    w.roles[0].request.gpu.compute_limit = MilliGpu(499);
  });
  bad(range, "limit", [](W& w) {
    w.roles[0].request = device_memory(500);
    w.roles[0].request.gpu.memory_limit = MiB(499);
  });
  bad(range, "cpu is -0.001", [](W& w) { w.roles[0].request.cpu = MilliCpu(-1); });
  bad(range, "memory", [](W& w) { w.roles[0].request.memory = Bytes(-1); });
  bad(range, "rdma", [](W& w) { w.roles[0].request.extended["rdma"] = -1; });
  // Each task is within bounds, all together are more bytes than an int64 counts.
  bad(range, "cannot be counted", [](W& w) {
    w.roles[0].count = w.roles[0].min = 1'000'000;
    w.roles[0].request = cpus(0, std::int64_t{1} << 56);
  });
  bad(invalid, "shelf", [](W& w) { w.topology.within = "shelf"; });
  bad(invalid, "wider", [](W& w) {
    w.roles[0].topology.within = "host";
    w.roles[0].topology.prefer = "rack";
  });
}

TEST_F(Apply, ResourcesWithAFieldOfTheirOwnAreNotNamedOnes) {
  // Once a task of 5 "memory" by name was charged as 5 bytes of host memory, and no node had any.
  for (const char* name : {"gpu", "cpu", "memory", ""}) {
    WorkloadSpec spec = cluster.workload("new", gpus(1));
    spec.roles[0].request.extended[name] = 5;
    refuses(WorkloadSubmitted{spec}, ErrorCode::kInvalidArgument, "resources[");
    MixStated mix{{{gpus(1), {}, 1}}};
    mix.entries[0].request.extended[name] = 5;
    refuses(mix, ErrorCode::kInvalidArgument, "resources[");
  }
}

TEST_F(Apply, HowManyIndependentTasksRunAtOnceIsSaidOnce) {  // 8.2.b
  WorkloadSpec spec = cluster.workload("new", gpus(1), 3);
  spec.completions = 9;
  spec.parallelism = 2;
  refuses(WorkloadSubmitted{spec}, ErrorCode::kInvalidArgument,
          "the count of the role is 3 and parallelism is 2");
  spec.completions = 0;
  refuses(WorkloadSubmitted{spec}, ErrorCode::kInvalidArgument, "without completions");
  spec.parallelism = -1;
  refuses(WorkloadSubmitted{spec}, ErrorCode::kOutOfRange, "parallelism is -1");
  // A changed count is a changed parallelism: 4 devices are free.
  spec.completions = 9;
  spec.parallelism = spec.roles[0].count = spec.roles[0].min = 1;
  cluster.must(WorkloadRemoved{"waits"});
  cluster.must(WorkloadSubmitted{spec});
  cluster.decide();
  EXPECT_EQ(cluster.scheduler.workload("new")->running, 1);
  cluster.must(WorkloadChanged{"new", {}, {}, {{"worker", 3, {}}}});
  cluster.decide();
  EXPECT_EQ(cluster.scheduler.workload("new")->running, 3);
}

TEST_F(Apply, TheImpossibleIsRefusedWithTheNearestThatFits) {  // 10.1
  const auto cure = [&](const WorkloadSpec& spec) {
    refuses(WorkloadSubmitted{spec}, ErrorCode::kImpossible, "could never start");
    return cluster.scheduler.admit(spec).error().cure;
  };
  EXPECT_NE(cure(cluster.workload("new", gpus(5))).find("ask 4 GPUs"), std::string::npos);
  EXPECT_NE(cure(cluster.workload("new", gpus(1, 65'000))).find("64 CPUs"), std::string::npos);
  EXPECT_NE(cure(cluster.workload("new", gpus(4), 3)).find("2 tasks"), std::string::npos);
  WorkloadSpec one_rack = cluster.workload("new", gpus(4), 2);
  one_rack.topology.within = "rack";
  EXPECT_NE(cure(one_rack).find("drop 'within: rack'"), std::string::npos);
  WorkloadSpec typed = cluster.workload("new", gpus(1));
  typed.roles[0].constraints.node_types = {"dgx"};
  refuses(WorkloadSubmitted{typed}, ErrorCode::kImpossible, "2 by node type");
}

TEST_F(Apply, AdoptedTasksFitWhereTheyAreSaidToRun) {
  const auto entry = [&](std::vector<RunningTask> running, const TaskRequest& request = gpus(1)) {
    WorkloadEntry e;
    e.spec = cluster.workload("found", request, 2);
    e.running = std::move(running);
    return WorkloadAdopted{e};
  };
  refuses(entry({{"driver", 0, "n0", {}}}), ErrorCode::kNotFound, "role");
  refuses(entry({{"worker", 2, "n0", {}}}), ErrorCode::kOutOfRange, "from 0 to 1");
  refuses(entry({{"worker", 0, "n9", {}}}), ErrorCode::kNotFound, "n9");
  refuses(entry({{"worker", 0, "n1", {"gpu-7"}}}), ErrorCode::kNotFound, "gpu-7");
  refuses(entry({{"worker", 0, "n1", {}}, {"worker", 0, "n1", {}}}), ErrorCode::kAlreadyExists,
          "twice");
  // 4 devices of one node are held by "runs": the first task fits, the second does not, and so
  // neither is adopted.
  const std::string full = cluster.scheduler.node("n0")->devices[0].free_milli == 0 ? "n0" : "n1";
  const std::string other = full == "n0" ? "n1" : "n0";
  refuses(entry({{"worker", 0, other, {}}, {"worker", 1, full, {}}}), ErrorCode::kConflict,
          "does not fit");
  cluster.must(NodeUpserted{[] {
    NodeSpec node = Cluster::node_spec("m0", 4);
    node.pool = "other";
    return node;
  }()});
  refuses(entry({{"worker", 0, other, {}}, {"worker", 1, "m0", {}}}), ErrorCode::kConflict,
          "one pool");
}

TEST_F(Apply, AdoptedTimesCanBeReckonedWith) {
  WorkloadEntry e;
  e.spec = cluster.workload("found", gpus(1));
  e.submitted = Instant{INT64_MIN};
  refuses(WorkloadAdopted{e}, ErrorCode::kOutOfRange, "submitted");
  e.submitted = Instant{0};
  e.started = Instant{INT64_MAX};
  refuses(WorkloadAdopted{e}, ErrorCode::kOutOfRange, "started");
}

TEST(Sums, AllNodesTogetherAreCounted) {
  // 2^56 bytes each: 32 of them are 2^61, which is the most.
  Cluster cluster;
  NodeSpec node = Cluster::node_spec("n", 1);
  node.memory = Bytes(std::int64_t{1} << 56);
  for (int i = 0; i < 32; ++i) {
    node.name = "n" + std::to_string(i);
    cluster.must(NodeUpserted{node});
  }
  node.name = "last";
  const auto told = cluster.tell(NodeUpserted{node});
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code, ErrorCode::kOutOfRange);
  cluster.must(NodeRemoved{"n3"});
  cluster.must(NodeUpserted{node});
}

TEST_F(Apply, ChangesNameWhatIsThere) {
  refuses(WorkloadChanged{"nobody", 10, {}, {}}, ErrorCode::kNotFound, "nobody");
  refuses(WorkloadChanged{"runs", 10, {}, {{"driver", 1, {}}}}, ErrorCode::kNotFound, "driver");
  refuses(WorkloadChanged{"runs", 10, {}, {{"worker", 1, {}}}}, ErrorCode::kOutOfRange, "min is 2");
  refuses(WorkloadChanged{"waits", 10, {}, {{"worker", 0, 0}}}, ErrorCode::kOutOfRange, "count");
  refuses(WorkloadChanged{"waits", INT32_MIN, {}, {}}, ErrorCode::kOutOfRange, "priority");
  refuses(WorkloadRemoved{"nobody"}, ErrorCode::kNotFound, "nobody");
  refuses(WorkloadRequeued{"nobody"}, ErrorCode::kNotFound, "nobody");
  refuses(StartRefused{"nobody", Instant{5}}, ErrorCode::kNotFound, "nobody");
  refuses(TaskEnded{"nobody", "worker", 0, TaskOutcome::kLost}, ErrorCode::kNotFound, "nobody");
  refuses(TaskEnded{"runs", "driver", 0, TaskOutcome::kLost}, ErrorCode::kNotFound, "driver");
  refuses(TaskEnded{"runs", "worker", 2, TaskOutcome::kLost}, ErrorCode::kConflict, "not running");
  refuses(TaskEnded{"runs", "worker", -1, TaskOutcome::kLost}, ErrorCode::kConflict, "not running");
  refuses(TaskEnded{"waits", "worker", 0, TaskOutcome::kLost}, ErrorCode::kConflict, "not running");
  refuses(CheckpointSaved{"nobody", "", -1}, ErrorCode::kNotFound, "nobody");
  refuses(CheckpointSaved{"runs", "driver", -1}, ErrorCode::kNotFound, "driver");
  refuses(CheckpointSaved{"runs", "worker", 2}, ErrorCode::kConflict,
          "no task 2 of role 'worker' of workload 'runs' is running");
  refuses(CheckpointSaved{"runs", "worker", -2}, ErrorCode::kConflict, "no task -2 of role");
  refuses(CheckpointSaved{"runs", "", 7}, ErrorCode::kConflict, "no task 7 of workload 'runs'");
  refuses(CheckpointSaved{"waits", "worker", -1}, ErrorCode::kConflict,
          "nothing of role 'worker' of workload 'waits' is running");
  refuses(CheckpointSaved{"waits", "", -1}, ErrorCode::kConflict, "nothing of workload 'waits'");
  refuses(MixStated{{{gpus(1), {}, -1}}}, ErrorCode::kOutOfRange, "count is -1");
  refuses(MixStated{{{gpus(1), {}, kMaxAmount}, {gpus(2), {}, 1}}}, ErrorCode::kOutOfRange,
          "entries[1]");
  refuses(MixStated{{{gpus(-1), {}, 1}}}, ErrorCode::kOutOfRange, "gpu.count is -1");
  EXPECT_EQ(cluster.scheduler.explain("nobody").error().code, ErrorCode::kNotFound);
}

// --- 5.3 ---

TEST(SemiPreemptible, TheMinimumCountsAgainstQuotaAndTheExtrasDoNot) {
  Cluster cluster;
  cluster.node("n0", 8);
  cluster.must(QueueUpserted{Cluster::queue("team", 2'000)});
  WorkloadSpec spec = cluster.workload("semi", gpus(1), 4);
  spec.roles[0].min = 2;
  spec.preemptibility = Preemptibility::kSemiPreemptible;
  cluster.must(WorkloadSubmitted{spec});
  cluster.decide();
  const QueueView team = *cluster.scheduler.queue("team", "default");
  EXPECT_EQ(team.allocated.at("gpu"), 4'000) << "two extras beyond the quota of 2";
  EXPECT_EQ(team.non_preemptible.at("gpu"), 2'000);
  // The quota is used up: nothing non-preemptible fits beside it, though 4 devices are free.
  spec = cluster.workload("hard", gpus(1));
  spec.preemptibility = Preemptibility::kNonPreemptible;
  cluster.must(WorkloadSubmitted{spec});
  EXPECT_TRUE(cluster.decide().empty());
  EXPECT_EQ(cluster.scheduler.explain("hard")->reasons.at(0).code,
            ReasonCode::kNonPreemptibleQuota);
  // A task of the minimum ends: an extra takes its place in the count.
  cluster.must(TaskEnded{"semi", "worker", 0, TaskOutcome::kSucceeded});
  EXPECT_TRUE(cluster.scheduler.verify());
}

// A gang of which a node was moved to another pool may still go, and goes whole (7.4).
TEST(TakingBack, TakesAGangOfWhichOneNodeChangedPools) {
  Cluster cluster;
  PoolSpec spare;
  spare.name = "spare";
  cluster.must(PoolDefined{spare});
  cluster.node("n0", 2);
  cluster.node("n1", 2);
  cluster.submit("gang", gpus(1), 4);
  cluster.decide();
  NodeSpec moved = Cluster::node_spec("n0", 2);
  moved.pool = "spare";
  cluster.must(NodeUpserted{moved});
  cluster.decide();
  WorkloadSpec high = Cluster::workload("high", gpus(2));
  high.priority = 75;
  cluster.must(WorkloadSubmitted{high});
  cluster.decide();
  EXPECT_EQ(cluster.scheduler.workload("high")->running, 1);
  EXPECT_EQ(cluster.scheduler.workload("gang")->running, 0);
  EXPECT_TRUE(cluster.scheduler.verify());
}

// 7.6: a gang of two fractions of which a device holds four: 13 devices do, and from 12 on counting
// does not rule it out. Each of the 210 sets of six victims of two devices would be searched for a
// place in vain. The steps of two searches bound all of it, and a larger set is found.
TEST(TakingBack, AClaimIsBoundedByTheStepsOfTwoSearches) {
  SchedulerOptions options;
  options.consolidate = false;
  Cluster cluster(options);
  for (int i = 0; i < 20; ++i) cluster.node("n" + std::to_string(i), 1);
  for (int i = 0; i < 10; ++i) cluster.submit("low" + std::to_string(i), gpus(1), 2);
  cluster.decide();
  WorkloadSpec gang = Cluster::workload("gang", portion(260), 16);
  gang.roles.push_back(gang.roles.front());
  gang.roles.back().name = "small";
  gang.roles.back().request = portion(230);
  gang.roles.back().count = gang.roles.back().min = 34;
  gang.priority = 75;
  cluster.must(WorkloadSubmitted{gang});
  cluster.decide();
  EXPECT_EQ(cluster.scheduler.workload("gang")->running, 50);
  EXPECT_EQ(cluster.scheduler.running_count(), 1 + 3) << "seven gangs of two were enough";
  std::map<std::string, std::int64_t> counted;
  for (const auto& [name, value] : cluster.scheduler.counters()) counted[name] = value;
  EXPECT_EQ(counted["claims"], 1);
  // What is begun when they are used up ends at its first step.
  EXPECT_LE(counted["claim_steps"], 2 * options.search_steps + 100);
}

// --- shapes and classes come and go ---

class Shapes : public ::testing::Test {
 protected:
  Cluster cluster;

  std::int64_t counter(const std::string& name) {
    for (const auto& [key, value] : cluster.scheduler.counters()) {
      if (key == name) return value;
    }
    return -1;
  }
  void sound() {
    const auto verified = cluster.scheduler.verify();
    EXPECT_TRUE(verified) << verified.error().message;
  }
};

TEST_F(Shapes, ThoseOfWorkloadsThatEndedDoNotAddUp) {
  // 10,000 distinct requests, one after the other, every third of them refused: at 100 cores no
  // node could hold it. One runs all the time.
  cluster.node("n0", 4);
  cluster.node("n1", 4);
  cluster.submit("stays", gpus(1, 500));
  for (int i = 0; i < 10'000; ++i) {
    const std::int64_t cpu = 1'000 + i;
    if (i % 3 == 0) {
      ASSERT_FALSE(cluster.tell(WorkloadSubmitted{cluster.workload("w", gpus(1, 100'000 + cpu))}));
    } else {
      cluster.submit("w", i % 3 == 1 ? gpus(1, cpu) : portion(1 + i % 999, 1, cpu));
      cluster.decide();
      ASSERT_EQ(cluster.scheduler.workload("w")->running, 1);
      cluster.must(TaskEnded{"w", "worker", 0, TaskOutcome::kSucceeded});
      cluster.decide();
    }
    if (i % 1'000 == 0) sound();
  }
  sound();
  EXPECT_EQ(counter("shapes"), 1) << "that of the one that runs";
  EXPECT_LE(counter("class_indices"), 1 + 64) << "and the last ones";
  EXPECT_LE(counter("task_classes"), 1 + 64 + 1'024) << "and those in the mix of requests";
}

TEST_F(Shapes, WaitingWorkloadsAndWhatTheyWantKeepTheirs) {
  cluster.node("n0", 1);
  for (int i = 0; i < 200; ++i) cluster.submit("w" + std::to_string(i), gpus(1, 1'000 + i));
  cluster.decide();
  EXPECT_EQ(counter("shapes"), 200);
  EXPECT_EQ(counter("class_indices"), 200);
  sound();
  for (int i = 0; i < 200; ++i) {
    const std::string name = "w" + std::to_string(i);
    ASSERT_EQ(cluster.scheduler.workload(name)->running, 1) << "in the order of submission";
    cluster.must(TaskEnded{name, "worker", 0, TaskOutcome::kSucceeded});
    cluster.decide();
  }
  EXPECT_EQ(counter("shapes"), 0);
  EXPECT_EQ(counter("class_indices"), 64);
  sound();
}

TEST_F(Shapes, OneThatComesAgainFindsItsIndex) {
  for (int i = 0; i < 50; ++i) cluster.node("n" + std::to_string(i), 1);
  const auto run = [&] {
    const std::int64_t before = counter("node_evaluations");
    cluster.submit("w", gpus(1));
    cluster.decide();
    cluster.must(TaskEnded{"w", "worker", 0, TaskOutcome::kSucceeded});
    cluster.decide();
    return counter("node_evaluations") - before;
  };
  EXPECT_GE(run(), 1) << "each kind of node is looked at";
  EXPECT_LE(run(), 4) << "only the node that changed";
}

TEST_F(Shapes, AskingChangesNothing) {
  // Explanations and refusals try out dozens of requests: none of them is kept.
  cluster.node("n0", 2);
  cluster.submit("runs", gpus(1, 60'000));
  cluster.decide();
  cluster.submit("waits", gpus(1, 10'000));
  cluster.decide();
  const std::int64_t classes = counter("task_classes");
  const std::int64_t indices = counter("class_indices");
  EXPECT_TRUE(cluster.scheduler.explain("waits")->cheapest);
  EXPECT_FALSE(cluster.scheduler.admit(cluster.workload("huge", gpus(1, 65'000))));
  EXPECT_EQ(counter("shapes"), 2);
  EXPECT_LE(counter("task_classes"), classes + 1) << "the one that was refused";
  EXPECT_LE(counter("class_indices"), indices + 1);
  sound();
}

TEST_F(Shapes, AChangeOfAWorkloadChangesWhatIsHeld) {
  cluster.node("n0", 4);
  WorkloadSpec spec = cluster.workload("w", gpus(1), 2);
  spec.roles[0].min = 1;
  cluster.must(WorkloadSubmitted{spec});
  cluster.decide();
  for (const int count : {1, 3, 3, 2}) {
    cluster.must(WorkloadChanged{"w", {}, {}, {{"worker", count, {}}}});
    EXPECT_EQ(counter("shapes"), 1);
    sound();
    cluster.decide();
    EXPECT_EQ(cluster.scheduler.workload("w")->running, count);
  }
  cluster.must(WorkloadRemoved{"w"});
  EXPECT_EQ(counter("shapes"), 0);
  sound();
}

// --- what was found ---

class TwoPools : public ::testing::Test {
 protected:
  Cluster cluster;
  TwoPools() {
    PoolSpec pool;
    for (const char* name : {"a", "b"}) {
      pool.name = name;
      cluster.must(PoolDefined{pool});
      NodeSpec node = Cluster::node_spec(std::string("in-") + name, 1);
      node.pool = name;
      cluster.must(NodeUpserted{node});
    }
  }
  WorkloadSpec in(std::vector<std::string> pools, std::string name) {
    WorkloadSpec spec = cluster.workload(std::move(name), gpus(1));
    spec.pools = std::move(pools);
    return spec;
  }
};

TEST_F(TwoPools, WhatAWorkloadWantsNextIsTriedInItsOwnPoolAlone) {
  // One device per pool; an elastic workload may run in a or b. It starts in a and is full there.
  // What it wanted next once got the id of the bucket that it had in b, where it was tried, too, in
  // the same pass: one workload, two pools.
  WorkloadSpec spec = in({"a", "b"}, "elastic");
  spec.roles[0].count = 2;
  cluster.must(WorkloadSubmitted{spec});
  cluster.decide();
  EXPECT_EQ(cluster.scheduler.workload("elastic")->running, 1);
  EXPECT_EQ(cluster.scheduler.node("in-b")->devices[0].free_milli, 1'000);
  EXPECT_TRUE(cluster.scheduler.verify());
}

TEST_F(TwoPools, AWithdrawnWantDoesNotLeadAnotherIntoItsPool) {
  cluster.decide();
  cluster.must(WorkloadSubmitted{in({"a"}, "gone")});
  cluster.must(WorkloadRemoved{"gone"});
  cluster.must(WorkloadSubmitted{in({"b"}, "mine")});
  cluster.decide();
  EXPECT_EQ(cluster.scheduler.workload("mine")->pool, "b");
  ASSERT_EQ(cluster.scheduler.workload("mine")->tasks.size(), 1U);
  EXPECT_EQ(cluster.scheduler.workload("mine")->tasks[0].node, "in-b");
  EXPECT_TRUE(cluster.scheduler.verify());
}

}  // namespace
}  // namespace fairlead::sched::testing
