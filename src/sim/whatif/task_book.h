// Which tasks run, since when, on how much GPU: a mirror of what a core was told and said.
//
// The core says what starts and what it stops; what is lost with a node it does not say, so the
// book asks it after each event that may lose tasks. Cost: O(tasks named); of an event about a node
// O(tasks running).
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "sched/event.h"
#include "sched/scheduler.h"
#include "sim/log/record.h"
#include "sim/scenario/symbols.h"

namespace fairlead::sim {

struct TaskName {
  std::string role;
  std::int32_t index = 0;
  friend auto operator<=>(const TaskName&, const TaskName&) = default;
};

struct TaskHeld {
  Instant since;
  std::string node;
  std::int64_t milli = 0;  // of GPUs; of a memory request what it is charged (rule 2.3)
};

enum class TaskStop : std::uint8_t {
  kEnded,      // TaskEnded said so
  kTakenBack,  // by rule 7: its work starts over
  kLost,       // with its node, or shrunk: starts over
  kRequeued,   // from outside, in good order: goes on where it was
  kRefused,    // never really started
  kOver,       // its workload was removed or finished
};

class TaskBook {
 public:
  // Called after the book has changed; `stopped` for each task, also when all of a workload stop.
  struct Watcher {
    std::function<void(const std::string& workload, const TaskName&, const TaskHeld&)> started;
    std::function<void(const std::string& workload, const TaskName&, const TaskHeld&, TaskStop)>
        stopped;
  };
  explicit TaskBook(Watcher watcher) : watcher_(std::move(watcher)) {}

  // An event that the core accepted.
  void note(Instant now, const sched::Event& event, const sched::Scheduler& core);
  void note(Instant now, const std::vector<NamedDecision>& decisions);

  std::size_t running(const std::string& workload) const;
  // All tasks that run.
  void each(const std::function<void(const std::string& workload, const TaskHeld&)>& visit) const;
  // What everything was told last, by name.
  const Symbols& symbols() const { return symbols_; }

 private:
  using Tasks = std::map<TaskName, TaskHeld>;

  void start(const std::string& workload, TaskName task, TaskHeld held);
  void stop(const std::string& workload, const TaskName& task, TaskStop why);
  void stop_all(const std::string& workload, TaskStop why);
  void look_for_lost(const std::string& node, const sched::Scheduler& core);
  void adopt(Instant now, const WorkloadEntry& entry, const sched::Scheduler& core);
  std::int64_t milli_of(const std::string& node, std::size_t device, std::int64_t milli,
                        std::int64_t mib) const;
  std::string role_name(const std::string& workload, std::int32_t position) const;

  Watcher watcher_;
  Symbols symbols_;
  std::map<std::string, Tasks> tasks_;
};

}  // namespace fairlead::sim
