// Rule 7 by brute force: who may claim what from whom, which sets of tasks may go, and what they
// cost. Written from the rules; shares the second books (holdings.h) and the second placement
// (solver.h), and nothing with src/sched/evict.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/wide.h"
#include "holdings.h"
#include "solver.h"

namespace fairlead::property {

using TaskKey = std::tuple<std::string, std::size_t, std::int32_t>;  // workload, role, index

// What the history says beside the views.
struct Past {
  std::map<TaskKey, Instant> started;                // of what runs
  std::map<TaskKey, Instant> saved;                  // last checkpoint, if any
  std::map<std::string, std::int64_t> run_priority;  // 7.2.a, of workloads that run
  std::map<std::string, std::set<std::pair<std::size_t, std::int32_t>>> succeeded;
  std::set<TaskKey> taken;  // stopped or started by rule 7 since the last outside event (7.7)
};

// A moment: who holds what, as a claim finds it.
struct Scene {
  const Holdings& holdings;
  sched::Scheduler& scheduler;  // for fair shares, which a decision does not move
  const sim::Symbols& symbols;
  const Past& past;
  Instant now;
};

struct Claimant {
  std::string workload;
  std::string pool;
  std::vector<PlacedTask> running;
  std::vector<PlacedTask> tasks;  // what it wants started, without nodes
  bool non_preemptible = false;
};

enum class ClaimRule : std::uint8_t { kReclaim, kPreempt };

// 7.5.a of one task.
Int128 disruption_of(const HeldTask& task, const Scene& scene);

// How well a scene is known in which a claim was made.
enum class Known : std::uint8_t {
  kLittle,  // there were starts that were unsaid later, so more ran than is known
  kTasks,   // all that ran; not the shares, which moved with demand from pool to pool
  kAll,
};

// What is wrong with stopping `victims` for the claimant by the rule; empty if nothing.
std::string wrong_with(const std::vector<HeldTask>& victims, const Claimant& claimant,
                       ClaimRule rule, const Scene& scene, Known known);

// The cheapest legal set of victims with which the claimant fits. Nothing if there is none, or the
// scene is too large or too unclear to tell: more than `kMostUnits` units that the rule could take,
// charges that depend on the device, cores near devices.
struct Cheapest {
  Int128 cost = 0;
  std::size_t workloads = 0;
  std::string text;
};
inline constexpr std::size_t kMostUnits = 10;
std::optional<Cheapest> cheapest_victims(const Claimant& claimant, ClaimRule rule,
                                         const Scene& scene, std::optional<Int128> below = {});

}  // namespace fairlead::property
