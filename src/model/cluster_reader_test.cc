// The shorthands of the format and what they stand for. What is refused is in tests/documents.
#include "model/cluster_reader.h"

#include <gtest/gtest.h>

#include "model/cluster_printer.h"

namespace fairlead {
namespace {

ClusterDocument must_read(const std::string& fields) {
  auto read = parse_cluster("apiVersion: fairlead/v1\nkind: Cluster\n" + fields, "t.yaml");
  EXPECT_TRUE(read.has_value()) << (read ? "" : read.error().front().text());
  return read ? std::move(*read) : ClusterDocument();
}

WorkloadSpec workload(const std::string& fields) {
  const ClusterDocument document =
      must_read("queues: [{name: q}]\nworkloads:\n  - {name: w, queue: q, " + fields + "}\n");
  return document.cluster.workloads.empty() ? WorkloadSpec() : document.cluster.workloads[0].spec;
}

GpuRequest gpu(const std::string& text) {
  const WorkloadSpec spec = workload("gpu: " + text);
  return spec.roles.empty() ? GpuRequest() : spec.roles[0].request.gpu;
}

TEST(Nodes, AGroupIsNumberedFromTheNumberInItsName) {
  const auto nodes = must_read("nodes: [{name: \"n-{08}\", count: 3}]").cluster.nodes;
  ASSERT_EQ(nodes.size(), 3U);
  EXPECT_EQ(nodes[0].name, "n-08");
  EXPECT_EQ(nodes[2].name, "n-10");
}

TEST(Nodes, DomainsOfAGroupHoldSoManyEach) {
  const auto nodes = must_read(
                         "topology: [zone, rack]\n"
                         "nodes: [{name: \"n-{0}\", count: 5, topology: {zone: z, rack: {name: "
                         "\"r{1}\", every: 2}}}]")
                         .cluster.nodes;
  ASSERT_EQ(nodes.size(), 5U);
  EXPECT_EQ(nodes[0].topology, (std::vector<std::string>{"z", "r1"}));
  EXPECT_EQ(nodes[1].topology, (std::vector<std::string>{"z", "r1"}));
  EXPECT_EQ(nodes[4].topology, (std::vector<std::string>{"z", "r3"}));
}

TEST(Nodes, DevicesByCountAreNumberedAndKnown) {
  const ClusterSpec cluster = must_read("nodes: [{name: a, gpus: 2 x A100-40GB}]").cluster;
  ASSERT_EQ(cluster.nodes[0].devices.size(), 2U);
  EXPECT_EQ(cluster.nodes[0].devices[1].id, "gpu-1");
  EXPECT_EQ(cluster.nodes[0].devices[1].device_class, "A100-40GB");
  ASSERT_EQ(cluster.device_classes.size(), 1U);  // added, because a node has one
  EXPECT_EQ(cluster.device_classes[0].memory, MiB(40'960));
}

TEST(Nodes, DevicesAreSpreadOverNumaSwitchesAndIslands) {
  const ClusterSpec cluster = must_read(
                                  "nodes:\n  - {name: a, cpu: 8, numa: 2, gpus: {class: T4, count: "
                                  "4, perNuma: 2, perPcieSwitch: 1, "
                                  "perNvlinkIsland: 4}}")
                                  .cluster;
  const DeviceSpec& last = cluster.nodes[0].devices[3];
  EXPECT_EQ(last.numa, 1);
  EXPECT_EQ(last.pcie_switch, 3);
  EXPECT_EQ(last.nvlink_island, 0);
  EXPECT_EQ(cluster.nodes[0].numa, (std::vector<NumaCell>{{MilliCpu(4000)}, {MilliCpu(4000)}}));
}

TEST(Queues, NestedAndFlatAreTheSame) {
  const auto nested =
      must_read("departments: [{name: d, projects: [{name: p, projects: [{name: deep}]}]}]");
  const auto flat = must_read("queues: [{name: d}, {name: p, parent: d}, {name: deep, parent: p}]");
  EXPECT_EQ(nested.cluster.queues, flat.cluster.queues);
}

TEST(Queues, AmountsAreInTheUnitsOfTheirResource) {
  const auto queues = must_read(
                          "nodes: [{name: n, resources: {rdma: 8}}]\n"
                          "queues: [{name: a, quota: {gpu: 1.5, cpu: 2, memory: 1Gi, rdma: 3}, "
                          "limit: {gpu: none, cpu: 500m}, "
                          "overQuotaWeight: 2}]")
                          .cluster.queues;
  const Entitlements& e = queues[0].pools.at("default");
  EXPECT_EQ(e.at("gpu"), (Entitlement{1500, kUnlimited, 2000}));
  EXPECT_EQ(e.at("cpu"), (Entitlement{2000, 500, 2000}));
  EXPECT_EQ(e.at("memory"), (Entitlement{std::int64_t{1} << 30, kUnlimited, 2000}));
  EXPECT_EQ(e.at("rdma"), (Entitlement{3, kUnlimited, 2000}));
}

// What a queue does not state: no GPUs guaranteed, other resources without bound.
TEST(Queues, DefaultsDifferForGpus) {
  EXPECT_EQ(default_entitlement("gpu"), (Entitlement{0, kUnlimited, 1000}));
  EXPECT_EQ(default_entitlement("cpu"), (Entitlement{kUnlimited, kUnlimited, 1000}));
}

TEST(Queues, WindowsAreMinutesOfTheWeek) {
  const auto queues = must_read(
                          "queues: [{name: a, windows: [\"Mon-Tue 08:00-18:00\", \"Sun "
                          "22:00-02:00\", \"Fri 18:00-Mon 08:00\"]}]")
                          .cluster.queues;
  EXPECT_EQ(
      queues[0].windows,
      (std::vector<TimeWindow>{
          {480, 1080}, {1440 + 480, 1440 + 1080}, {6 * 1440 + 1320, 120}, {4 * 1440 + 1080, 480}}));
}

std::vector<std::string> warnings_of(const std::string& fields) {
  std::vector<std::string> out;
  for (const Error& w : must_read(fields).warnings) out.push_back(w.message);
  return out;
}

// Guarantees that do not add up are allowed and reported (3.4); an unlimited child counts as more
// than any number (a check that ignored -1 let this pass elsewhere).
TEST(Queues, GuaranteesThatDoNotAddUpAreReported) {
  EXPECT_EQ(
      warnings_of("queues: [{name: d, quota: {gpu: 8}, queues: [{name: a, quota: {gpu: 6}}, "
                  "{name: b, quota: {gpu: 6}}]}]"),
      (std::vector<std::string>{"the children of \"d\" are guaranteed 12 GPUs of pool \"default\", "
                                "\"d\" itself only 8 GPUs"}));
  EXPECT_EQ(
      warnings_of("queues: [{name: d, quota: {gpu: 8}, queues: [{name: a, quota: {gpu: -1}}]}]"),
      (std::vector<std::string>{
          "queue \"a\" is guaranteed unlimited gpu, its parent \"d\" itself only 8 GPUs"}));
  EXPECT_EQ(warnings_of("nodes: [{name: n, gpus: 8 x T4}]\nqueues: [{name: a, quota: {gpu: 9}}]"),
            (std::vector<std::string>{
                "the queues are guaranteed 9 GPUs of pool \"default\", which has 8 GPUs"}));
  EXPECT_EQ(warnings_of("nodes: [{name: n, gpus: 8 x T4}]\n"
                        "queues: [{name: a, quota: {gpu: -1}}, {name: b, quota: {gpu: 1}}]")
                .size(),
            1U);
  EXPECT_EQ(warnings_of("queues: [{name: a, quota: {gpu: 4}, limit: {gpu: 2}}]"),
            (std::vector<std::string>{"queue \"a\" is guaranteed 4 GPUs but limited to 2 GPUs"}));
}

TEST(Queues, GuaranteesThatAddUpAreNotReported) {
  EXPECT_TRUE(warnings_of("nodes: [{name: n, cpu: 4, gpus: 8 x T4}]\n"
                          "queues: [{name: d, quota: {gpu: 8, cpu: 4}, overQuotaWeight: 2, queues: "
                          "[{name: a, quota: {gpu: 8}, overQuotaWeight: 3}, {name: b}]}]")
                  .empty());
}

// 2.7: an H100 that counts two has room for twice the quota.
TEST(Queues, CapacityCountsInExchangeUnits) {
  const std::string cluster =
      "pools: [{name: default, exchangeRates: {T4: 2}}]\nnodes: [{name: n, gpus: 8 x T4}]\n";
  EXPECT_TRUE(warnings_of(cluster + "queues: [{name: a, quota: {gpu: 16}}]").empty());
  EXPECT_EQ(warnings_of(cluster + "queues: [{name: a, quota: {gpu: 16.5}}]").size(), 1U);
}

TEST(Gpu, EveryKindHasAShortForm) {
  EXPECT_EQ(gpu("0"), GpuRequest());
  EXPECT_EQ(gpu("2").kind, GpuRequestKind::kDevices);
  EXPECT_EQ(gpu("2").count, 2);
  EXPECT_EQ(gpu("0.3").kind, GpuRequestKind::kPortion);
  EXPECT_EQ(gpu("0.3").portion, MilliGpu(300));
  EXPECT_EQ(gpu("{devices: 4}"), gpu("4"));
  EXPECT_EQ(gpu("{portion: 0.5}"), gpu("0.5"));
  EXPECT_EQ(gpu("{memory: 4Gi, count: 2}").memory, MiB(4096));
  EXPECT_EQ(gpu("{memory: 4Gi, count: 2}").count, 2);
  EXPECT_EQ(gpu("{mig: 1g.10gb}").mig_profile, "1g.10gb");
}

TEST(Gpu, ALimitIsOfWhatIsAskedFor) {
  EXPECT_EQ(gpu("{portion: 0.3, limit: 0.6}").compute_limit, MilliGpu(600));
  EXPECT_EQ(gpu("{memory: 4Gi, limit: 8Gi}").memory_limit, MiB(8192));
  EXPECT_EQ(gpu("{memory: 4Gi, limit: 8Gi, computeLimit: 1}").compute_limit, MilliGpu(1000));
}

TEST(Workload, WithoutRolesItsFieldsAreThoseOfOneWorker) {
  const WorkloadSpec spec =
      workload("count: 4, min: 2, cpu: 1, gpu: 1, segments: {size: 2, within: host}");
  ASSERT_EQ(spec.roles.size(), 1U);
  EXPECT_EQ(spec.roles[0].name, "worker");
  EXPECT_EQ(spec.roles[0].count, 4);
  EXPECT_EQ(spec.roles[0].min, 2);
  EXPECT_EQ(spec.roles[0].segment_size, 2);
}

TEST(Workload, AllTasksAreAGangUnlessAMinimumIsStated) {
  EXPECT_EQ(workload("count: 4").roles[0].min, 4);
}

TEST(Workload, IndependentTasksHaveTheirParallelismAsCount) {
  const WorkloadSpec spec = workload("completions: 100, parallelism: 8");
  EXPECT_EQ(spec.roles[0].count, 8);
  EXPECT_EQ(spec.backoff_limit, 6);
  EXPECT_TRUE(spec.independent_tasks());
}

TEST(Workload, PriorityFollowsTypeAndPreemptibilityFollowsPriority) {
  EXPECT_EQ(workload("type: training").priority, 50);
  EXPECT_EQ(workload("type: workspace").preemptibility, Preemptibility::kNonPreemptible);
  EXPECT_EQ(workload("priority: build-preemptible").priority, 75);
  EXPECT_EQ(workload("priority: 99").preemptibility, Preemptibility::kPreemptible);
  EXPECT_EQ(workload("priority: 100").preemptibility, Preemptibility::kNonPreemptible);
  EXPECT_EQ(workload("priority: 100, preemptibility: preemptible").preemptibility,
            Preemptibility::kPreemptible);
}

TEST(Workload, SubmittedIsADateOrSinceTheStartOfTheTrace) {
  const auto document = must_read(
      "queues: [{name: q}]\nworkloads: [{name: a, queue: q, submitted: 90s}, "
      "{name: b, queue: q, submitted: 1970-01-01T00:01:30Z}]");
  EXPECT_EQ(document.cluster.workloads[0].submitted, document.cluster.workloads[1].submitted);
}

TEST(Workload, AloneItsNamesAreNotLookedUp) {
  const auto read = parse_cluster(
      "apiVersion: fairlead/v1\nkind: Workload\nname: w\nqueue: anywhere\n", "t.yaml");
  ASSERT_TRUE(read.has_value());
  EXPECT_FALSE(read->has_cluster);
}

TEST(DeviceClass, MigInstancesFitTheirDevice) {
  for (const std::string& name : known_device_class_names()) {
    const DeviceClass& device_class = *known_device_class(name);
    EXPECT_EQ(device_class.name, name);
    EXPECT_GT(device_class.memory.value, 0);
    for (const MigProfile& profile : device_class.mig_profiles) {
      EXPECT_LE(profile.compute_slices, device_class.mig_compute_slices)
          << name << " " << profile.name;
      // As many as start somewhere, side by side, never hold more than there is.
      const auto side_by_side = static_cast<std::int64_t>(profile.starts.size());
      EXPECT_LE(profile.memory.value * side_by_side, device_class.memory.value)
          << name << " " << profile.name;
      for (const std::int32_t start : profile.starts) {
        EXPECT_LE(start + profile.memory_slices, device_class.mig_memory_slices);
      }
    }
  }
}

// A hundred thousand workloads are a document that a site's own history makes.
TEST(ClusterReader, LargeDocumentsAreReadOnce) {
  ClusterSpec cluster =
      must_read("nodes: [{name: \"n{0}\", count: 2000, gpus: 8 x T4}]\nqueues: [{name: q}]")
          .cluster;
  WorkloadEntry entry;
  entry.spec.queue = "q";
  entry.spec.roles.resize(1);
  for (int i = 0; i < 20'000; ++i) {
    entry.spec.name = "w" + std::to_string(i);
    cluster.workloads.push_back(entry);
  }
  const auto read = parse_cluster(to_json(cluster_tree(cluster)), "t.json");
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(read->cluster == cluster);
}

}  // namespace
}  // namespace fairlead
