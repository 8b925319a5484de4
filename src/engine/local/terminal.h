// A pseudo-terminal: the supervisor holds the master, the task's processes see the slave.
#pragma once

#include <string>

#include "base/result.h"
#include "engine/descriptor.h"
#include "engine/task.h"

namespace fairlead::engine {

struct Terminal {
  Descriptor master;  // does not block
  Descriptor slave;
};

// The slave belongs to whom the task runs as. Error: kIo.
Result<Terminal> open_terminal(WindowSize window, const std::optional<RunAs>& owner);

void resize_terminal(int master, WindowSize window);

}  // namespace fairlead::engine
