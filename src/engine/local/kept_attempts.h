// What the folder of attempts holds, without an engine: for a server that asks before it starts.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/task.h"

namespace fairlead::engine {

struct KeptAttempt {
  AttemptId id;
  bool over = false;  // its result is written
  bool may_run =
      false;  // a supervisor holds it, or was killed while it ran since the machine began
  std::int64_t pid = 0;  // of its main process; 0: it has not begun
  std::string workload;  // name, and project
  std::string project;
};

// By id; none where there is no folder. `state`: as of LocalEngineOptions. Cost: some small files
// for each. Error: kIo.
Result<std::vector<KeptAttempt>> kept_attempts(const std::string& state);

// Moves attempts that are over out of the engine's sight, into a new folder beside theirs, whose
// path is the answer. Requires: no engine uses the state. Error: kIo.
Result<std::string> set_aside(const std::string& state, const std::vector<AttemptId>& attempts);

}  // namespace fairlead::engine
