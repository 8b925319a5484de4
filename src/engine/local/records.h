// The records of an attempt folder as values, and back. What each file means: README.md.
#pragma once

#include <string>
#include <string_view>

#include "engine/local/fields.h"
#include "engine/task.h"
#include "node/processes.h"

namespace fairlead::engine {

std::string launch_record(const TaskLaunch& launch);
Result<TaskLaunch> parse_launch(std::string_view text);

// Who began, so that it is recognised after this number was used again and after a restart of the
// machine.
struct StartedRecord {
  node::ProcessRef process;
  Instant at;
  std::string boot;  // the kernel's id of this run of the machine
  std::string
      mark;  // "NAME=value" in the environment of all that belongs to it, and of nothing else
};
std::string started_record(const StartedRecord& started);
Result<StartedRecord> parse_started(std::string_view text);
std::string boot_id();

std::string stop_record(const StopOrder& order);
Result<StopOrder> parse_stop(std::string_view text);

// Ended, StartFailed or NeverBegan: what is final.
using Outcome = std::variant<Ended, StartFailed, NeverBegan>;
std::string outcome_record(const Outcome& outcome);
Result<Outcome> parse_outcome(const AttemptId& attempt, std::string_view text);

// The notice that a task finds in the file FAIRLEAD_NOTICE_FILE names.
std::string notice_json(const StopOrder& order, Instant deadline);

Instant wall_clock();

}  // namespace fairlead::engine
