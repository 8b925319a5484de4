// Rule 9 on a cluster full of one-device tasks that say how long they run: what a reservation for a
// gang costs, a task's end while gangs hold reservations, and when all that waits will start.
#include <benchmark/benchmark.h>

#include "base/check.h"
#include "samples.h"
#include "site.h"

namespace fairlead::bench {
namespace {

// Every device held by a task that may run up to 100 hours, each an hour or so longer than the one
// before.
struct Planned {
  Site site;
  std::int64_t devices;
  std::int64_t tasks = 0;

  explicit Planned(std::int64_t nodes)
      : site({.nodes = nodes, .queues = 0, .taking_back = false}),
        devices(nodes * kDevicesPerNode) {
    QueueSpec queue;
    queue.name = "all";
    site.tell(sched::QueueUpserted{queue});
    Rng rng(7);
    for (std::int64_t n = 0; n < nodes; ++n) {
      for (std::int64_t d = 0; d < kDevicesPerNode; ++d) {
        WorkloadEntry entry;
        entry.spec = gang("task-" + std::to_string(tasks++), "all", kMilli);
        entry.spec.max_runtime = minutes(static_cast<std::int64_t>(60 + rng.below(6000)));
        entry.running = {{"worker", 0, site.node_name(n), {}}};
        site.tell(sched::WorkloadAdopted{entry});
      }
    }
    site.decide();
  }

  WorkloadSpec waiting(const std::string& name, std::int64_t milli, std::int32_t count) {
    WorkloadSpec spec = gang(name, "all", milli, count);
    spec.max_runtime = hours(10);
    return spec;
  }
};

// All tasks of half the nodes have to end.
void reserve_for_gang_of_half_the_cluster(benchmark::State& state) {
  Planned planned(state.range(0));
  Samples samples(state);
  for (auto _ : state) {
    planned.site.tell(sched::WorkloadSubmitted{
        planned.waiting("gang", 8000, static_cast<std::int32_t>(state.range(0) / 2))});
    samples.time([&] { planned.site.decide(); });
    FAIRLEAD_CHECK(planned.site.scheduler().workload("gang")->reservation.has_value(),
                   "the gang has a reservation");
    planned.site.tell(sched::WorkloadRemoved{"gang"});
    planned.site.decide();
  }
  samples.report();
}

// One of eight gangs of ten nodes that hold reservations; a task ends early, another takes its
// device.
void task_ends_beside_eight_reservations(benchmark::State& state) {
  Planned planned(state.range(0));
  for (int g = 0; g < 8; ++g) {
    planned.site.tell(
        sched::WorkloadSubmitted{planned.waiting("gang-" + std::to_string(g), 8000, 10)});
    planned.site.decide();
  }
  for (int i = 0; i < 2000; ++i) {
    planned.site.tell(
        sched::WorkloadSubmitted{planned.waiting("next-" + std::to_string(i), kMilli, 1)});
  }
  planned.site.decide();
  Samples samples(state);
  std::int64_t ended = 0;
  for (auto _ : state) {
    const std::string name = "task-" + std::to_string(ended++ * 7 % planned.tasks);
    samples.time([&] {
      planned.site.tell(sched::TaskEnded{name, "worker", 0, sched::TaskOutcome::kSucceeded});
      planned.site.decide();
    });
  }
  samples.report();
}

// 100,000 that wait: the first answer after something happened.
void forecast_100000_waiting(benchmark::State& state) {
  Planned planned(state.range(0));
  for (int i = 0; i < 100'000; ++i) {
    planned.site.tell(sched::WorkloadSubmitted{planned.waiting(
        "next-" + std::to_string(i), i % 10 == 0 ? 8000 : kMilli, i % 100 == 0 ? 4 : 1)});
  }
  planned.site.decide();
  Samples samples(state);
  for (auto _ : state) {
    planned.site.tell(sched::TimePassed{});
    samples.time([&] {
      const auto explained = planned.site.scheduler().explain("next-99999");
      FAIRLEAD_CHECK(explained->start && explained->start->latest, "it starts at some time");
    });
  }
  samples.report();
}

void sizes(benchmark::internal::Benchmark* b) {
  b->ArgName("nodes")->Arg(100)->Arg(500)->Arg(1000)->Arg(10'000);
  b->UseManualTime()->Unit(benchmark::kMicrosecond);
}
BENCHMARK(reserve_for_gang_of_half_the_cluster)->Apply(sizes)->Iterations(3);
BENCHMARK(task_ends_beside_eight_reservations)->Apply(sizes)->Iterations(200);
BENCHMARK(forecast_100000_waiting)->Apply(sizes)->Iterations(3);

}  // namespace
}  // namespace fairlead::bench
