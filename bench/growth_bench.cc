// How the cost of one event grows with the cluster, with what waits, and with the queues, for the
// same mix of requests; and what a request never seen before, or a renewed mix, costs by nodes.
// Counts do not depend on the machine; times are compared as ratios.
#include <benchmark/benchmark.h>

#include "samples.h"
#include "site.h"

namespace fairlead::bench {
namespace {

// A task ended, then a workload was submitted: two events with their decisions, the site stays as
// full as it was.
void one_out_one_in(benchmark::State& state) {
  const std::int64_t before = resident_bytes();
  Site site({.nodes = state.range(0), .queues = state.range(2), .pending = state.range(1)});
  site.fill();
  const auto grown = static_cast<double>(resident_bytes() - before);
  Samples samples(state);
  const std::int64_t evaluations = site.counter("node_evaluations");
  const std::int64_t attempts = site.counter("attempts");
  std::int64_t started = 0;
  for (auto _ : state) {
    const sched::TaskEnded ended = site.end_one();
    const sched::WorkloadSubmitted submitted{site.next_workload()};
    samples.time([&] {
      site.tell(ended);
      started += site.decide();
      site.tell(submitted);
      started += site.decide();
    });
  }
  samples.report();
  const auto rounds = static_cast<double>(state.iterations());
  state.counters["evaluations"] =
      static_cast<double>(site.counter("node_evaluations") - evaluations) / rounds;
  state.counters["attempts"] = static_cast<double>(site.counter("attempts") - attempts) / rounds;
  state.counters["started"] = static_cast<double>(started) / rounds;
  state.counters["running"] = static_cast<double>(site.scheduler().running_count());
  state.counters["MiB"] = grown / (1 << 20);
}
BENCHMARK(one_out_one_in)
    ->ArgNames({"nodes", "pending", "queues"})
    ->Args({100, 10'000, 100})
    ->Args({1000, 10'000, 100})
    ->Args({10'000, 10'000, 100})
    ->Args({1000, 1000, 100})
    ->Args({1000, 100'000, 100})
    ->Args({1000, 10'000, 10})
    ->Args({1000, 10'000, 1000})
    ->Iterations(500)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

// What one round cost in node evaluations, beside its time.
void report_evaluations(benchmark::State& state, Samples& samples, std::int64_t evaluations) {
  samples.report();
  state.counters["evaluations"] =
      static_cast<double>(evaluations) / static_cast<double>(state.iterations());
}

void fill_for_shapes(Site& site, bool full) {
  if (full) {
    site.fill();
    return;
  }
  site.tell(sched::WorkloadSubmitted{gang("first", site.queue_name(0), kMilli)});
  site.decide();
}

// A workload of a shape that nobody asked for yet, submitted and decided. "full" is the site at
// rest with every device held, where nodes are in many different states; otherwise one is held.
void new_shape(benchmark::State& state) {
  Site site({.nodes = state.range(0), .queues = 100, .pending = state.range(1) ? 1000 : 0});
  fill_for_shapes(site, state.range(1) != 0);
  Samples samples(state);
  const std::int64_t evaluations = site.counter("node_evaluations");
  std::int64_t i = 0;
  for (auto _ : state) {
    WorkloadSpec spec = gang("new-" + std::to_string(i), site.queue_name(0), 8 * kMilli);
    spec.roles.front().request.cpu = MilliCpu(10'001 + i++);
    samples.time([&] {
      site.tell(sched::WorkloadSubmitted{spec});
      site.decide();
    });
  }
  report_evaluations(state, samples, site.counter("node_evaluations") - evaluations);
}

// The mix is stated anew, which makes all scores void, then a task ends: every shape that waits for
// what it held is asked again.
void mix_renewed(benchmark::State& state) {
  Site site({.nodes = state.range(0), .queues = 100, .pending = 1000});
  site.fill();
  sched::MixStated mix;
  for (int i = 0; i < 50; ++i) {
    const WorkloadSpec spec = site.next_workload();
    mix.entries.push_back({spec.roles.front().request, {}, 1 + i % 7});
  }
  Samples samples(state);
  const std::int64_t evaluations = site.counter("node_evaluations");
  for (auto _ : state) {
    const sched::TaskEnded ended = site.end_one();
    const sched::WorkloadSubmitted submitted{site.next_workload()};
    ++mix.entries.front().count;
    samples.time([&] {
      site.tell(mix);
      site.tell(ended);
      site.decide();
    });
    site.tell(submitted);
    site.decide();
  }
  report_evaluations(state, samples, site.counter("node_evaluations") - evaluations);
}

BENCHMARK(new_shape)
    ->ArgNames({"nodes", "full"})
    ->ArgsProduct({{1000, 10'000}, {0, 1}})
    ->Iterations(50)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(mix_renewed)
    ->ArgName("nodes")
    ->Arg(1000)
    ->Arg(10'000)
    ->Iterations(50)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace fairlead::bench
