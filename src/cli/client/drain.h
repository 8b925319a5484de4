// Emptying a node: nothing new starts there, and what runs ends or is suspended.
#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "cli/app.h"
#include "cli/client/connection.h"

namespace fairlead::cli {

struct DrainOptions {
  ConnectionFlags connection;
  std::string node;
  bool suspend = false;             // what runs is suspended instead of waited for
  std::optional<Duration> timeout;  // for all of it; nullopt: none
};

// Cordons the node and returns once nothing runs there: 0; 124 if the time is over and 130 if the
// person interrupts, and the node stays cordoned. Looks once a second.
int drain(const DrainOptions& options, CliContext& context);

}  // namespace fairlead::cli
