// How the cost of one event grows with the cluster, with what waits, and with the queues, for the
// same mix of requests. Counts do not depend on the machine; times are compared as ratios.
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

}  // namespace
}  // namespace fairlead::bench
