// Who watches a scheduling core at work: told each event before the core is, then what came of it.
#pragma once

#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "sched/decision.h"
#include "sched/event.h"
#include "sched/scheduler.h"

namespace fairlead::sim {

class Recorder {
 public:
  virtual ~Recorder() = default;

  // A core was made, which knows nothing yet.
  virtual void begins(const sched::SchedulerOptions& options) = 0;
  // Before apply(), so that what the core cannot bear is on record.
  virtual void tells(Instant now, const sched::Event& event) = 0;
  // apply() turned the event away.
  virtual void refused(Instant now, const Error& error) = 0;
  // decide() returned; of the core at that moment.
  virtual void decided(Instant now, const std::vector<sched::Decision>& decisions,
                       const sched::Scheduler& core) = 0;
};

// A core under the eyes of a recorder, which may be nobody.
inline Result<sched::Scheduler> create_recorded(const sched::SchedulerOptions& options,
                                                Recorder* recorder) {
  Result<sched::Scheduler> core = sched::Scheduler::create(options);
  if (recorder != nullptr && core) recorder->begins(options);
  return core;
}

inline Result<void> apply_recorded(sched::Scheduler& core, Recorder* recorder, Instant now,
                                   const sched::Event& event) {
  if (recorder != nullptr) recorder->tells(now, event);
  Result<void> applied = core.apply(now, event);
  if (recorder != nullptr && !applied) recorder->refused(now, applied.error());
  return applied;
}

inline std::vector<sched::Decision> decide_recorded(sched::Scheduler& core, Recorder* recorder,
                                                    Instant now) {
  std::vector<sched::Decision> decisions = core.decide(now);
  if (recorder != nullptr) recorder->decided(now, decisions, core);
  return decisions;
}

}  // namespace fairlead::sim
