// What the control room drives: starts tasks, stops them, and says what became of them.
//
// Contract: whoever drives persists an attempt first and asks then. Everything is keyed by attempt
// and may be asked again after a crash without being done twice. What is reported may be reported
// again after adopt(); nothing is reported never.
//
// Thread-safe. Reports come from a thread of the engine, one at a time; the sink must not block for
// long, and may call the engine except for adopt() and open_session().
#pragma once

#include <functional>
#include <vector>

#include "engine/descriptor.h"
#include "engine/output_log.h"
#include "engine/task.h"

namespace fairlead::engine {

using Sink = std::function<void(Report)>;

class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  // Started, or StartFailed, is reported later; then Ended. Asked again for an attempt that is
  // known, it does nothing. Error: kInvalidArgument, kOutOfRange (check_launch).
  virtual Result<void> start(TaskLaunch launch) = 0;

  // Notice, then the grace, then all of it is killed, also if the server dies meanwhile. A second
  // order can only make the end come sooner. Error: kNotFound.
  virtual Result<void> stop(const AttemptId& attempt, const StopOrder& order) = 0;

  // Stands still and keeps what it holds, until it is resumed; a stop order wakes it. Orders, like
  // stop(): carried out soon, in their order, and not kept: whoever drives says after adopt() again
  // what shall stand still. Nothing happens to what has ended. Error: kNotFound.
  virtual Result<void> suspend(const AttemptId& attempt) = 0;
  virtual Result<void> resume(const AttemptId& attempt) = 0;

  // Called once after a restart with all attempts that the store does not know to have ended,
  // before anything is started. The answer is in their order.
  virtual Result<std::vector<Adopted>> adopt(const std::vector<AttemptId>& attempts) = 0;

  // Deletes what is kept of an attempt that has ended, its output too. The id must not be used
  // again. Removing what is not there is no error. Error: kConflict while it runs.
  virtual Result<void> remove(const AttemptId& attempt) = 0;

  // A stream socket that speaks engine/frames.h. Error: kNotFound, kConflict (not running),
  // kInvalidArgument, kFailed.
  virtual Result<Descriptor> open_session(const AttemptId& attempt,
                                          const SessionRequest& request) = 0;

  // Reads what the task wrote, also while it runs. Error: kNotFound.
  virtual Result<OutputReader> output(const AttemptId& attempt) = 0;
};

}  // namespace fairlead::engine
