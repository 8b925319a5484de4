// Placements per second on an empty cluster, by size of the request and of the cluster.
#include <benchmark/benchmark.h>

#include "samples.h"
#include "site.h"

namespace fairlead::bench {
namespace {

std::int64_t room_for(const SiteScale& scale, std::int64_t milli) {
  return scale.nodes * kDevicesPerNode * kMilli / milli;
}

// All submitted, then one decision that starts them all.
void fill_cluster(benchmark::State& state) {
  const SiteScale scale{.nodes = state.range(0), .queues = 1};
  const std::int64_t milli = state.range(1);
  const std::int64_t count = room_for(scale, milli);
  double submit_seconds = 0;
  std::int64_t evaluations = 0;
  for (auto _ : state) {
    Site site(scale);
    const double begin = thread_seconds();
    for (std::int64_t i = 0; i < count; ++i) {
      site.tell(
          sched::WorkloadSubmitted{gang("w-" + std::to_string(i), site.queue_name(0), milli)});
    }
    submit_seconds += thread_seconds() - begin;
    std::vector<sched::Decision> decisions;
    Samples(state).time([&] { decisions = site.scheduler().decide(Instant{1 << 30}); });
    if (static_cast<std::int64_t>(decisions.size()) != count)
      state.SkipWithError("not all have started");
    evaluations += site.counter("node_evaluations");
  }
  const double placed = static_cast<double>(count * state.iterations());
  state.counters["placements"] = static_cast<double>(count);
  state.counters["placements/s"] = benchmark::Counter(placed, benchmark::Counter::kIsRate);
  state.counters["submit_us"] = submit_seconds * 1e6 / placed;
  state.counters["evaluations/placement"] = static_cast<double>(evaluations) / placed;
}
BENCHMARK(fill_cluster)
    ->ArgNames({"nodes", "milli_gpu"})
    ->ArgsProduct({{100, 1000, 10'000}, {500, 1000, 8000}})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

// Submit, decide; submit, decide; …
void one_by_one(benchmark::State& state) {
  const SiteScale scale{.nodes = state.range(0), .queues = 1};
  Site site(scale);
  site.tell(sched::WorkloadSubmitted{gang("first", site.queue_name(0), kMilli)});
  site.decide();
  Samples samples(state);
  std::int64_t i = 0;
  std::int64_t started = 0;
  const std::int64_t evaluations = site.counter("node_evaluations");
  for (auto _ : state) {
    const WorkloadSpec spec = gang("w-" + std::to_string(i++), site.queue_name(0), kMilli);
    samples.time([&] {
      site.tell(sched::WorkloadSubmitted{spec});
      started += site.decide();
    });
  }
  if (started != i) state.SkipWithError("not all have started");
  samples.report();
  state.counters["placements/s"] =
      benchmark::Counter(static_cast<double>(started), benchmark::Counter::kIsRate);
  state.counters["evaluations/placement"] =
      static_cast<double>(site.counter("node_evaluations") - evaluations) /
      static_cast<double>(started);
}
BENCHMARK(one_by_one)
    ->ArgName("nodes")
    ->Arg(100)
    ->Arg(1000)
    ->Arg(10'000)
    ->Iterations(700)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace fairlead::bench
