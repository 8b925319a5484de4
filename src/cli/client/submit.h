// A submission from its flags to what is said about it.
#pragma once

#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/client/connection.h"
#include "cli/client/submit_flags.h"
#include "cli/output.h"

namespace fairlead::cli {

struct SubmitOptions {
  SubmitFlags flags;
  ConnectionFlags connection;
  std::string dry_run;             // "", "server" or "client"
  std::vector<std::string> files;  // documents instead of flags
  bool follow = false;             // as `run` does: the log, and the task's exit status
  OutputFormat format = OutputFormat::kTable;
};

// Returns the exit status.
int submit(SubmitOptions options, CliContext& context);

// "train" of {"python", "train.py", …}: how `run` calls what has no name.
std::string name_of_command(const std::vector<std::string>& command);

}  // namespace fairlead::cli
