// A scenario: a cluster, what happens to it, and what must be true at which point.
//
// One value with two written forms: the readable language (reader.h, printer.h) and the document
// form in YAML or JSON (document.h). runner.h plays it through the production core. A scenario is
// a list of steps in the order in which they are written; every name in it is a name that people
// gave. docs/scenarios.md is the reference of the language.
//
// When the core decides: events that follow each other form a block and happen at one instant;
// the core decides once, when the block ends: at the next expectation, before time moves, at a
// `decide` step, and at the end of the file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.h"
#include "sched/event.h"
#include "sched/explanation.h"
#include "sched/scheduler.h"

namespace fairlead::sim {

// 2026-01-05T00:00:00Z, a Monday: where the clock of a scenario stands unless it says otherwise.
inline constexpr Instant kScenarioStart{1'767'571'200'000};

// The clock moves. On the way the core is woken at each of its next_wakeup() times, unless
// `asleep`; what starts then starts at that time.
struct ClockMoved {
  Instant to;
  bool asleep = false;
  friend bool operator==(const ClockMoved&, const ClockMoved&) = default;
};

// Ends a block in the middle: what came before is decided upon before what comes after happens.
struct DecideNow {
  friend bool operator==(const DecideNow&, const DecideNow&) = default;
};

// Running tasks end. Which they are is known when the step is played: all running tasks of the
// workload, of one role, or the one task named.
struct TasksEnd {
  std::string workload;
  std::string role;         // empty: every role
  std::int32_t index = -1;  // -1: every task of the role
  sched::TaskOutcome outcome = sched::TaskOutcome::kSucceeded;
  friend bool operator==(const TasksEnd&, const TasksEnd&) = default;
};

enum class Comparison : std::uint8_t { kExactly, kAtLeast, kAtMost };

struct Bound {
  Comparison comparison = Comparison::kExactly;
  std::int64_t value = 0;

  bool holds(std::int64_t is) const {
    switch (comparison) {
      case Comparison::kExactly:
        return is == value;
      case Comparison::kAtLeast:
        return is >= value;
      case Comparison::kAtMost:
        return is <= value;
    }
    return false;
  }
  friend bool operator==(const Bound&, const Bound&) = default;
};

// "in one rack", "in rack r1", "in 2 switches", "in one switch per 4 tasks". Levels are those of
// the cluster and, inside a node, "numa", "pcie" and "nvlink" of the devices held.
struct DomainCheck {
  std::string level;
  std::string domain;      // by name; empty: counted
  std::int64_t count = 1;  // distinct domains
  std::int32_t per = 0;    // > 0: of tasks [0, per), [per, 2 per), … each
  friend bool operator==(const DomainCheck&, const DomainCheck&) = default;
};

enum class ExpectedState : std::uint8_t {
  kRunning,   // something of it runs
  kPending,   // it is known and nothing of it runs
  kRefused,   // its submission was turned away
  kFinished,  // it ended well and left
  kFailed,    // it passed its back-off limit and left
  kGone,      // not known now: ended, removed, refused or never there
};

// About workloads (or one role, or one task, of them).
struct ExpectWorkloads {
  std::vector<std::string> names;  // "train-a", or with "*": "half-*"
  std::optional<Bound> of;         // how many of them; unset: each one
  std::string role;
  std::int32_t index = -1;
  ExpectedState state = ExpectedState::kRunning;

  // Of those running:
  std::optional<Bound> tasks;  // running
  std::optional<std::int64_t> wanted;
  std::optional<Bound> hosts;         // distinct nodes
  std::optional<Bound> device_count;  // distinct devices
  std::vector<std::string> nodes;     // exactly these
  std::vector<std::string> among;     // none but these
  std::vector<std::string> avoided;   // none of these
  std::vector<std::string> devices;   // exactly these: "0" (position), "gpu-0", "n1:0"
  std::vector<DomainCheck> domains;
  std::string pool;
  bool near_cpus = false;             // each task's CPUs lie in its devices' NUMA cells
  std::optional<std::int64_t> milli;  // of devices, in all
  std::optional<std::int64_t> mib;    // of devices, in all
  std::vector<std::int32_t> slices;   // first memory slices of its MIG instances, in order
  std::optional<Instant> started_at;  // its first start

  std::optional<std::int64_t> failures;
  std::optional<std::int64_t> succeeded;

  // 9.2, of what waits.
  std::optional<bool> reserved;
  std::optional<Instant> reserved_at;       // it starts then at the latest
  std::vector<std::string> reserved_nodes;  // exactly these
  std::optional<Instant> starts_from;       // 9.4: at the earliest
  std::optional<Instant> starts_by;         // at the latest

  // Of the explanation (pending, or running with tasks still wanted) or the refusal. Each text is
  // a part of the sentences, the code of a reason ("no-room") or a rule ("5.1").
  std::vector<std::string> texts;
  std::optional<bool> never;
  std::vector<std::string> changes;  // kind of a change suggested, or a part of its text
  bool cure_works = false;           // the change suggested, applied to a copy, starts it (10.2)

  friend bool operator==(const ExpectWorkloads&, const ExpectWorkloads&) = default;
};

// Whether workloads meet on a device or on a node; pairwise.
struct ExpectShared {
  std::vector<std::string> names;
  bool device = true;  // false: node
  bool shared = true;
  friend bool operator==(const ExpectShared&, const ExpectShared&) = default;
};

// Amounts by resource: "gpu" (whole free devices), "milli", "mib", "cpu" (milli), "memory" (bytes),
// or an extended resource.
struct ExpectFree {
  std::string node;    // empty: all ready and schedulable nodes
  std::string device;  // with node: one device, by position or id
  std::map<std::string, std::int64_t> amounts;
  friend bool operator==(const ExpectFree&, const ExpectFree&) = default;
};

// A figure of a queue or pool: "allocated", "non-preemptible", "requested", "fair-share", "quota",
// "limit"; of a pool "capacity", "allocated".
struct ExpectFigures {
  bool of_pool = false;
  std::string name;
  std::string pool = "default";  // of a queue
  std::map<std::string, std::map<std::string, std::int64_t>> figures;
  friend bool operator==(const ExpectFigures&, const ExpectFigures&) = default;
};

struct ExpectNode {
  std::string node;
  std::optional<bool> ready;
  std::optional<bool> schedulable;
  bool gone = false;
  friend bool operator==(const ExpectNode&, const ExpectNode&) = default;
};

struct ExpectDevice {
  std::string node;
  std::string device;
  std::optional<bool> healthy;
  std::optional<std::vector<std::string>> holders;  // exactly these workloads, in any order
  friend bool operator==(const ExpectDevice&, const ExpectDevice&) = default;
};

// First starts come strictly one after the other.
struct ExpectStartOrder {
  std::vector<std::string> names;
  friend bool operator==(const ExpectStartOrder&, const ExpectStartOrder&) = default;
};

// The event just before was turned away, and the message has each of these parts.
struct ExpectError {
  std::vector<std::string> texts;
  friend bool operator==(const ExpectError&, const ExpectError&) = default;
};

using Expectation = std::variant<ExpectWorkloads, ExpectShared, ExpectFree, ExpectFigures,
                                 ExpectNode, ExpectDevice, ExpectStartOrder, ExpectError>;

struct Step {
  std::int32_t line = 0;  // in the file; 0: unknown
  std::variant<sched::Event, ClockMoved, DecideNow, TasksEnd, Expectation> what;
};

struct Scenario {
  std::string file;                // as it was named on the command line
  std::string title;               // one sentence
  std::vector<std::string> story;  // the rest of the opening comment
  std::vector<std::string> rules;  // "6.4"
  Instant start = kScenarioStart;
  sched::SchedulerOptions options;
  std::vector<Step> steps;
};

}  // namespace fairlead::sim
