// What an expectation is checked against: the core's state, and what was seen of its past.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "sched/scheduler.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/symbols.h"

namespace fairlead::sim {

struct StartSeen {
  Instant at;
  std::int64_t sequence = 0;  // of the decision
};

struct Observed {
  const sched::Scheduler* scheduler = nullptr;
  Symbols symbols;                             // as accepted by the core
  Instant start;                               // of the scenario
  std::set<std::string> names;                 // of every workload there ever was, refused or not
  std::map<std::string, StartSeen> starts;     // first ones
  std::map<std::string, Error> refused;        // submissions turned away, and not accepted later
  std::map<std::string, bool> ended;           // succeeded?
  std::map<std::string, std::string> stopped;  // why it was last stopped by rule 7 (10.3)
  std::optional<Error> last_error;             // of the event just before
  // Applies a change to a copy of the state: did the workload start? An Error says why the change
  // could not be applied.
  std::function<Result<bool>(const std::string& workload, const sched::Change& change)> try_change;
};

// What is instead, and the explanation of it.
struct Mismatch {
  std::string actual;
  std::string why;
};

// nullopt: the expectation holds.
std::optional<Mismatch> check(const Expectation& expectation, const Observed& observed);

// Names of the workloads that an expectation speaks of, patterns resolved, in order.
std::vector<std::string> resolve(const std::vector<std::string>& patterns,
                                 const Observed& observed);

// "pending: no-room (6.1): needs 2 nodes …", "running: worker 0 on n1:gpu-0 …".
std::string state_text(const std::string& workload, const Observed& observed);
std::string explanation_text(const std::string& workload, const Observed& observed);

// check_workloads.cc
std::optional<Mismatch> check_workloads(const ExpectWorkloads& e, const Observed& observed);

}  // namespace fairlead::sim
