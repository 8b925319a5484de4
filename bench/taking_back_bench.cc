// Rule 7 on a cluster full of one-device tasks of a project that borrowed all of it: what a claim
// of the owner costs, and a "no".
#include <benchmark/benchmark.h>

#include "base/check.h"
#include "samples.h"
#include "site.h"

namespace fairlead::bench {
namespace {

QueueSpec project(const std::string& name, std::int64_t quota) {
  QueueSpec spec;
  spec.name = name;
  spec.pools["default"]["gpu"].quota = quota;
  return spec;
}

// Every device of every node held by a task of "borrower", but for `free` devices of the first node
// and, if `half`, every second device of each node.
struct Borrowed {
  Site site;
  std::int64_t devices;

  explicit Borrowed(std::int64_t nodes, std::int64_t borrower_quota, std::int64_t owner_quota,
                    bool half = false)
      : site({.nodes = nodes, .queues = 0}), devices(nodes * kDevicesPerNode) {
    site.tell(sched::QueueUpserted{project("borrower", borrower_quota)});
    site.tell(sched::QueueUpserted{project("owner", owner_quota)});
    for (std::int64_t n = 0; n < nodes; ++n) {
      for (std::int64_t d = 0; d < kDevicesPerNode; d += half ? 2 : 1) {
        WorkloadEntry entry;
        entry.spec =
            gang("task-" + std::to_string(n) + "-" + std::to_string(d), "borrower", kMilli);
        entry.running = {{"worker", 0, site.node_name(n), {}}};
        site.tell(sched::WorkloadAdopted{entry});
      }
    }
    site.decide();
  }

  // Submits, times the decision, and says how many tasks started.
  std::int64_t claim(Samples& samples, const WorkloadSpec& spec) {
    site.tell(sched::WorkloadSubmitted{spec});
    std::int64_t started = 0;
    samples.time([&] { started = site.decide(); });
    return started;
  }
};

void reclaim_gang_of_half_the_cluster(benchmark::State& state) {
  Samples samples(state);
  for (auto _ : state) {
    const std::int64_t devices = state.range(0) * kDevicesPerNode;
    Borrowed borrowed(state.range(0), devices / 2 * kMilli, devices / 2 * kMilli);
    const std::int64_t started = borrowed.claim(
        samples, gang("gang", "owner", 8000, static_cast<std::int32_t>(state.range(0) / 2)));
    FAIRLEAD_CHECK(started == 1, "the owner gets its half");
  }
  samples.report();
}

// One decision for all of them; the time is that of one.
void reclaim_many_single_devices(benchmark::State& state) {
  constexpr std::int64_t kClaims = 400;
  std::vector<double> seconds;
  for (auto _ : state) {
    const std::int64_t devices = state.range(0) * kDevicesPerNode;
    Borrowed borrowed(state.range(0), devices / 2 * kMilli, devices / 2 * kMilli);
    for (std::int64_t i = 0; i < kClaims; ++i) {
      borrowed.site.tell(
          sched::WorkloadSubmitted{gang("claim-" + std::to_string(i), "owner", kMilli)});
    }
    const double begin = thread_seconds();
    const std::int64_t started = borrowed.site.decide();
    const double took = thread_seconds() - begin;
    FAIRLEAD_CHECK(started == kClaims, "the owner gets what it asks");
    state.SetIterationTime(took / static_cast<double>(kClaims));
  }
}

void prove_ten_nodes_one_device_short(benchmark::State& state) {
  // The borrower may lose down to its quota, which leaves the owner's gang one device short.
  const std::int64_t devices = state.range(0) * kDevicesPerNode;
  Borrowed borrowed(state.range(0), (devices - 79) * kMilli, 80 * kMilli);
  Samples samples(state);
  const WorkloadSpec spec = gang("gang", "owner", 8000, 10);
  for (auto _ : state) {
    const std::int64_t started = borrowed.claim(samples, spec);
    FAIRLEAD_CHECK(started == 0, "a device is missing");
    borrowed.site.tell(sched::WorkloadRemoved{"gang"});
    borrowed.site.decide();
  }
  samples.report();
}

void consolidate_for_a_whole_node(benchmark::State& state) {
  Samples samples(state);
  for (auto _ : state) {
    const std::int64_t devices = state.range(0) * kDevicesPerNode;
    Borrowed borrowed(state.range(0), devices * kMilli, devices * kMilli, true);
    const std::int64_t started = borrowed.claim(samples, gang("gang", "owner", 8000));
    FAIRLEAD_CHECK(started == 5, "four move, and the claimant starts");
  }
  samples.report();
}

void sizes(benchmark::internal::Benchmark* b) {
  b->ArgName("nodes")->Arg(100)->Arg(500)->Arg(1000)->Arg(10'000);
  b->Iterations(3)->UseManualTime()->Unit(benchmark::kMicrosecond);
}
BENCHMARK(reclaim_gang_of_half_the_cluster)->Apply(sizes);
BENCHMARK(reclaim_many_single_devices)->Apply(sizes);
BENCHMARK(prove_ten_nodes_one_device_short)->Apply(sizes);
BENCHMARK(consolidate_for_a_whole_node)->Apply(sizes);

}  // namespace
}  // namespace fairlead::bench
