// What the control thread keeps in memory of everything that is not over: plain structs. Their
// stored form is in stored.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "engine/task.h"
#include "model/submission.h"

namespace fairlead::control {

enum class Phase : std::uint8_t {
  kPending,
  kStarting,
  kRunning,
  kFrozen,  // its tasks stand still on what they hold
  kStopping,
  kSuspended,
  kSucceeded,
  kFailed,
  kTimedOut,
  kDeleting,
};
// It ends no more, and runs no more.
constexpr bool over(Phase phase) {
  return phase == Phase::kSucceeded || phase == Phase::kFailed || phase == Phase::kTimedOut;
}

enum class Desired : std::uint8_t { kRunning, kFrozen, kSuspended, kDeleted };
// The scheduler is to know it: it waits, runs, or stands still on what it holds.
constexpr bool for_the_scheduler(Desired desired) {
  return desired == Desired::kRunning || desired == Desired::kFrozen;
}

enum class TaskPhase : std::uint8_t {
  kStarting,
  kRunning,
  kFrozen,
  kStopping,
  kSucceeded,
  kFailed,
  kStopped,  // for others, or because somebody asked
  kLost,     // how it ended is not known
};

struct HeldDevice {
  std::string id;
  std::string device_class;
  std::int64_t milli = 0;
  std::int64_t mib = 0;
  std::string mig_profile;
  friend bool operator==(const HeldDevice&, const HeldDevice&) = default;
};

// One task of a workload, as its last attempt left it.
struct Task {
  std::string id;
  std::int32_t role = 0;
  std::int32_t index = 0;
  TaskPhase phase = TaskPhase::kStarting;
  std::int32_t attempt = 0;  // number of the last one, from 1
  std::int32_t starts = 0;   // how many of them really began
  std::string node;
  std::vector<HeldDevice> devices;
  std::int64_t pid = 0;
  Instant created;
  std::optional<Instant> started;
  std::optional<Instant> ended;
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::optional<bool> out_of_memory;
  std::int64_t cpu_ms = 0;
  std::int64_t max_rss = 0;
  std::string reason;
  std::int64_t revision = 0;

  bool active() const {
    return phase == TaskPhase::kStarting || phase == TaskPhase::kRunning ||
           phase == TaskPhase::kFrozen || phase == TaskPhase::kStopping;
  }
};

struct Workload {
  std::string id;
  std::string user;
  Submission submission;  // entry.submitted: when; spec.name: as people say it, without the project
  Instant created;
  Phase phase = Phase::kPending;
  Desired desired = Desired::kRunning;
  std::string reason;
  std::string pool;
  std::optional<Instant> started;
  std::optional<Instant> ended;
  std::optional<int> exit_code;
  std::int32_t failures = 0;
  std::int32_t losses = 0;  // since this server began; for the back-off alone
  Instant retry_after_loss{};
  std::int32_t preemptions = 0;
  std::int32_t restarts = 0;
  std::int64_t revision = 0;

  std::map<std::pair<std::int32_t, std::int32_t>, Task> tasks;  // by role and index
  std::int32_t live = 0;                                        // attempts of it that are not over
  bool in_core = false;                                         // the scheduler knows it
  std::optional<Phase> verdict;  // how it ended, while its last tasks are still stopping

  const WorkloadSpec& spec() const { return submission.entry.spec; }
  const std::string& name() const { return spec().name; }
  const std::string& project() const { return spec().queue; }
  // As the scheduler knows it, and as its explanations speak of it.
  std::string core_name() const { return project() + "/" + name(); }
};

enum class AttemptState : std::uint8_t {
  kWaiting,   // decided; what it needs is not released yet (7.8)
  kStarting,  // the engine was told, or is about to be
  kRunning,
  kStopping,  // it was told to stop
};

// One try to run a task, from the decision to its end.
struct Attempt {
  engine::AttemptId id;
  std::string workload;  // id
  std::int32_t role = 0;
  std::int32_t index = 0;
  std::int32_t number = 1;
  AttemptState state = AttemptState::kWaiting;
  std::string node;
  std::vector<HeldDevice> devices;
  std::int64_t cpu = 0;     // milli
  std::int64_t memory = 0;  // bytes
  Instant created;
  std::optional<Instant> started;
  std::string boot;                      // which start of the machine `since_boot` counts from
  Duration since_boot;                   // when it started
  std::optional<Duration> frozen_since;  // since boot; it stands still
  Duration frozen_before;                // for how long it did, other times
  bool known_to_core = true;             // the scheduler counts it as running
  engine::StopOrder stop;                // of kStopping
  std::int64_t revision = 0;
};

}  // namespace fairlead::control
