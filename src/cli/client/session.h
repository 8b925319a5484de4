// A process in or beside a task, with the person's own input and output: exec and attach.
//
// The stream is that of api/openapi.yaml: binary messages, the first byte their channel.
#pragma once

#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/client/api_client.h"

namespace fairlead::cli {

struct SessionOptions {
  std::string path;  // of the API
  Query query;
  bool tty = false;    // the person's terminal is the process's
  bool input = false;  // what the person types goes there
};

// Until the process ends or the person detaches (Ctrl-P Ctrl-Q in a terminal). Returns the exit
// status of the process, or ours.
int run_session(const ApiClient& api, const SessionOptions& options, CliContext& context);

// Waits until a task of the workload runs, then attaches to it with terminal and input.
int attach_when_running(ApiClient& api, const std::string& workload, CliContext& context);

}  // namespace fairlead::cli
