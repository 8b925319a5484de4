// How long it takes to be sure that a gang cannot start: now (it waits), or ever (it is refused).
#include <benchmark/benchmark.h>

#include "base/check.h"
#include "samples.h"
#include "site.h"

namespace fairlead::bench {
namespace {

// One device held in every rack, so that no rack and no cluster is whole.
void take_one_per_rack(Site& site) {
  for (std::int64_t i = 0; i < site.scale().nodes; i += kNodesPerRack) {
    WorkloadEntry entry;
    entry.spec = gang("held-" + std::to_string(i), site.queue_name(0), kMilli);
    entry.running = {{"worker", 0, site.node_name(i), {}}};
    site.tell(sched::WorkloadAdopted{entry});
  }
  site.decide();
}

// The attempt of a gang that would fit if nothing ran.
void attempt(benchmark::State& state, std::int64_t milli, std::int64_t tasks,
             const std::string& within) {
  Site site({.nodes = state.range(0), .queues = 1});
  take_one_per_rack(site);
  Samples samples(state);
  WorkloadSpec spec = gang("gang", site.queue_name(0), milli, static_cast<std::int32_t>(tasks));
  spec.roles.front().topology.within = within;
  for (auto _ : state) {
    site.tell(sched::WorkloadSubmitted{spec});
    std::int64_t started = 0;
    samples.time([&] { started = site.decide(); });
    FAIRLEAD_CHECK(started == 0, "a device is missing");
    site.tell(sched::WorkloadRemoved{"gang"});
    site.decide();
  }
  samples.report();
}

void gang_one_device_short(benchmark::State& state) {
  attempt(state, 8000, state.range(0), "");
}
void gang_no_whole_rack(benchmark::State& state) {
  attempt(state, 8000, kNodesPerRack, "rack");
}

// Refused at submit: more than the empty cluster, or a rack, could hold.
void refuse(benchmark::State& state, std::int64_t tasks, const std::string& within) {
  Site site({.nodes = state.range(0), .queues = 1});
  take_one_per_rack(site);
  Samples samples(state);
  WorkloadSpec spec = gang("gang", site.queue_name(0), 8000, static_cast<std::int32_t>(tasks));
  spec.roles.front().topology.within = within;
  for (auto _ : state) {
    bool accepted = true;
    samples.time([&] { accepted = site.scheduler().admit(spec).has_value(); });
    FAIRLEAD_CHECK(!accepted, "it is too large");
  }
  samples.report();
}

void refuse_larger_than_cluster(benchmark::State& state) {
  refuse(state, state.range(0) + 1, "");
}
void refuse_larger_than_rack(benchmark::State& state) {
  refuse(state, kNodesPerRack + 1, "rack");
}

void sizes(benchmark::internal::Benchmark* b) {
  b->ArgName("nodes")->Arg(1000)->Arg(10'000)->Iterations(200)->UseManualTime();
  b->Unit(benchmark::kMicrosecond);
}
BENCHMARK(gang_one_device_short)->Apply(sizes);
BENCHMARK(gang_no_whole_rack)->Apply(sizes);
BENCHMARK(refuse_larger_than_cluster)->Apply(sizes);
BENCHMARK(refuse_larger_than_rack)->Apply(sizes);

}  // namespace
}  // namespace fairlead::bench
