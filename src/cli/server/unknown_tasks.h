// Tasks that the engine holds and the store knows nothing of: the store was lost, emptied, or put
// back from a copy older than they are. To start all the same would grant their devices twice.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "store/store.h"

namespace fairlead::cli {

struct UnknownTasksCheck {
  std::string store_path;
  std::string engine_state;
  bool end_them = false;  // --end-unknown-tasks: stop them, and set aside what is kept of them
  std::function<void(const std::string&)> warn;
};

// `store`: nullptr if its file is missing or empty, which makes all that the engine keeps unknown.
// With `end_them` it returns when none is left. Error: kConflict, naming them and both ways on;
// kFailed if one cannot be ended; kIo.
Result<void> check_unknown_tasks(const UnknownTasksCheck& check, const store::Store* store);

}  // namespace fairlead::cli
