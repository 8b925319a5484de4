// Logs of tasks as they come, of several merged line by line, until the workload is over or the
// person interrupts.
//
// Each task that is followed has a connection and a thread of its own; lines are never torn.
#pragma once

#include <string>

#include "cli/app.h"
#include "cli/client/lookup.h"

namespace fairlead::cli {

struct FollowOptions {
  TaskChoice choice;
  Query log;                   // tail, since, timestamps
  bool say_state = false;      // "[pending] place 3 of 9 …" on context.err
  bool keep_code = false;      // the exit status is the task's
  std::string if_interrupted;  // said then
};

// Prints what the tasks of a workload write, those included that start later; of what is over all
// there is. Returns the exit status: 0, the task's, or 130.
int follow_workload(ApiClient& api, const std::string& id, const FollowOptions& options,
                    CliContext& context);

// Prints the logs that there are of these tasks, one after the other.
int print_logs(ApiClient& api, const std::vector<const Value*>& tasks, const Query& log,
               CliContext& context);

}  // namespace fairlead::cli
