// One event to its decisions, a pass over all that waits, and memory, at the scale that the design
// names: 10,000 nodes of 8 devices, all held; 100,000 pending workloads; 1,000 queues under 20
// departments; 50 request shapes. One site serves all, and one with claims of rule 7; every
// benchmark leaves its site full and at rest.
#include <benchmark/benchmark.h>

#include "samples.h"
#include "site.h"

namespace fairlead::bench {
namespace {

// With claims of rule 7 looked at (1) or not (0), as the benchmark says.
bool g_claims = false;

Site& site() {
  static Site* instances[2] = {};
  Site*& instance = instances[g_claims ? 1 : 0];
  if (!instance) {
    instance =
        new Site({.nodes = 10'000, .queues = 1000, .taking_back = g_claims, .pending = 100'000});
    instance->fill();
  }
  return *instance;
}

// Samples of events, with what each cost in counts that do not depend on the machine.
class Events {
 public:
  explicit Events(benchmark::State& state)
      : state_(state),
        samples_(state),
        evaluations_(site().counter("node_evaluations")),
        attempts_(site().counter("attempts")) {}

  void time(const sched::Event& event) {
    samples_.time([&] {
      site().tell(event);
      started_ += site().decide();
    });
  }
  void time_decision() {
    samples_.time([&] { started_ += site().decide(); });
  }

  void report() {
    samples_.report();
    const auto count = static_cast<double>(state_.iterations());
    const auto since = [&](const char* name, std::int64_t before) {
      return static_cast<double>(site().counter(name) - before) / count;
    };
    state_.counters["evaluations"] = since("node_evaluations", evaluations_);
    state_.counters["attempts"] = since("attempts", attempts_);
    state_.counters["started"] = static_cast<double>(started_) / count;
  }

 private:
  benchmark::State& state_;
  Samples samples_;
  std::int64_t evaluations_;
  std::int64_t attempts_;
  std::int64_t started_ = 0;
};

void task_ended(benchmark::State& state) {
  g_claims = state.range(0) != 0;
  Events events(state);
  for (auto _ : state) {
    const sched::TaskEnded event = site().end_one();
    events.time(event);
  }
  events.report();
}

void submitted(benchmark::State& state) {
  g_claims = state.range(0) != 0;
  Events events(state);
  for (auto _ : state) {
    const sched::WorkloadSubmitted event{site().next_workload()};
    events.time(event);
  }
  events.report();
}

void quota_changed(benchmark::State& state) {
  g_claims = state.range(0) != 0;
  Events events(state);
  std::int64_t i = 0;
  for (auto _ : state) {
    QueueSpec queue = site().queue(i % site().scale().queues);
    queue.pools["default"]["gpu"].quota += 1000 * (++i % 7);
    events.time(sched::QueueUpserted{queue});
  }
  events.report();
}

void node_cordoned(benchmark::State& state) {
  g_claims = state.range(0) != 0;
  Events events(state);
  std::int64_t i = 0;
  for (auto _ : state) {
    const std::string node = site().node_name(37 * (i / 2) % site().scale().nodes);
    const bool back = i++ % 2 == 1;
    events.time(sched::NodeConditionChanged{node, true, back});
  }
  events.report();
}

// Many tasks end before one decision, so that a pass goes through all queues and starts what fills
// the room again.
void full_pass(benchmark::State& state) {
  g_claims = state.range(0) != 0;
  constexpr int kEnded = 1000;
  Events events(state);
  for (auto _ : state) {
    for (int i = 0; i < kEnded; ++i) site().tell(site().end_one());
    events.time_decision();
  }
  events.report();
}

void memory(benchmark::State& state) {
  g_claims = state.range(0) != 0;
  for (auto _ : state) site();
  const Site::Memory& m = site().memory();
  const auto nodes = static_cast<double>(site().scale().nodes);
  const auto running = static_cast<double>(site().scheduler().running_count());
  const auto kib = [](std::int64_t bytes) { return static_cast<double>(bytes) / 1024; };
  state.counters["total_MiB"] = kib(resident_bytes()) / 1024;
  state.counters["node_bytes"] = static_cast<double>(m.nodes - m.before) / nodes;
  state.counters["queue_bytes"] =
      static_cast<double>(m.queues - m.nodes) / static_cast<double>(site().scale().queues);
  state.counters["index_bytes/node"] = static_cast<double>(m.indices - m.queues) / nodes;
  state.counters["pending_bytes"] =
      static_cast<double>(m.pending - m.indices) / static_cast<double>(m.submitted);
  state.counters["running_extra_bytes"] = static_cast<double>(m.running - m.pending) / running;
  state.counters["pending"] = static_cast<double>(site().scheduler().pending_count());
  state.counters["running"] = running;
}

void with_and_without_claims(benchmark::internal::Benchmark* b) {
  b->ArgName("claims")->Arg(0)->Arg(1)->UseManualTime()->Unit(benchmark::kMicrosecond);
}
BENCHMARK(memory)->ArgName("claims")->Arg(0)->Arg(1)->Iterations(1);
BENCHMARK(task_ended)->Apply(with_and_without_claims)->Iterations(2000);
BENCHMARK(submitted)->Apply(with_and_without_claims)->Iterations(2000);
BENCHMARK(quota_changed)->Apply(with_and_without_claims)->Iterations(200);
BENCHMARK(node_cordoned)->Apply(with_and_without_claims)->Iterations(200);
BENCHMARK(full_pass)->Apply(with_and_without_claims)->Iterations(10);

}  // namespace
}  // namespace fairlead::bench
