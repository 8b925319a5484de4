// How long tasks run: what is declared, or what is known of others like them (9.1).
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"

namespace fairlead::sched {

enum class RuntimeSource : std::uint8_t {
  kUnknown,
  kMaximum,   // the workload's maxRuntime: it will not run longer
  kExpected,  // the workload's expectedRuntime
  kProject,   // its project's default
  kHistory,   // runtimes of the same template and user
};

// What a plan counts with. Plans count with `most`; `likely` tells how early it may be.
struct Runtime {
  Duration likely;
  Duration most;
  RuntimeSource source = RuntimeSource::kUnknown;
  bool known() const { return source != RuntimeSource::kUnknown; }
};

}  // namespace fairlead::sched
