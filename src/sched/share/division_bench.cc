// Time of one division (one resource) by number of queues and by what makes it dearer.
#include <benchmark/benchmark.h>

#include "base/rng.h"
#include "sched/share/division.h"

namespace fairlead::sched {
namespace {

enum Kind { kPlain, kHistory, kBytes, kRanks, kFewFit };

// `fanout` children per parent; the demand is three times what there is.
std::vector<DivisionQueue> queues_of(std::size_t count, std::size_t fanout, Kind kind,
                                     std::int64_t total) {
  Rng rng(7);
  std::vector<DivisionQueue> queues(count);
  const std::int64_t mean = total / static_cast<std::int64_t>(count) + 1;
  for (std::size_t i = 0; i < count; ++i) {
    DivisionQueue& q = queues[i];
    if (fanout > 0 && i > 0) q.parent = static_cast<std::int32_t>((i - 1) / fanout);
    q.quota = rng.between(0, mean);
    q.requested = rng.between(0, 6 * mean);
    if (kind == kFewFit) q.requested = (std::int64_t{1} << rng.below(40)) % (6 * mean);
    q.over_quota_weight = rng.between(1, 4) * 500;
    if (kind == kHistory) q.usage_ppb = rng.between(0, 2'000'000'000 / static_cast<int>(count));
    if (kind == kRanks) q.rank = static_cast<std::int32_t>(rng.below(5)) * 10;
    q.created = static_cast<std::int64_t>(rng.below(1000));
    q.id = static_cast<std::int64_t>(i);
  }
  for (std::size_t i = 0; fanout > 0 && i < count; ++i) {
    if (i * fanout + 1 < count) queues[i].requested = kSumOfChildren;
  }
  return queues;
}

void divide(benchmark::State& state, std::size_t fanout, Kind kind) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const std::int64_t total = kind == kBytes ? std::int64_t{1} << 54 : 80'000'000;
  const auto queues = queues_of(count, fanout, kind, total);
  std::vector<std::int64_t> shares(count);
  Divider divider;
  const Division division{total, kind == kBytes ? 1 : 1000, kind == kHistory ? 1000 : 0, queues};
  for (auto _ : state) {
    divider.divide(division, shares);
    benchmark::DoNotOptimize(shares.data());
  }
  DivisionTrace trace;
  divider.divide(division, shares, &trace);
  state.counters["rounds"] = static_cast<double>(trace.rounds.size());
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(count));
}

BENCHMARK_CAPTURE(divide, siblings, 0, kPlain)->Arg(100)->Arg(1000)->Arg(10000);
BENCHMARK_CAPTURE(divide, siblings_with_history, 0, kHistory)->Arg(1000);
BENCHMARK_CAPTURE(divide, siblings_bytes, 0, kBytes)->Arg(1000);
BENCHMARK_CAPTURE(divide, siblings_five_ranks, 0, kRanks)->Arg(1000);
BENCHMARK_CAPTURE(divide, siblings_demand_by_powers_of_two, 0, kFewFit)->Arg(1000);
BENCHMARK_CAPTURE(divide, tree_of_tens, 10, kPlain)->Arg(1000)->Arg(10000);
BENCHMARK_CAPTURE(divide, tree_of_tens_with_history, 10, kHistory)->Arg(1000);

}  // namespace
}  // namespace fairlead::sched
