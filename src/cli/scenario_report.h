// What `fairlead scenario run` prints.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/runner.h"

namespace fairlead::cli {

// One line for a scenario that passed; its trace and failures above it otherwise.
std::string scenario_text(const sim::RunReport& report);

// "170 scenarios, 2 failed: a.scn b.scn".
std::string scenarios_summary(const std::vector<sim::RunReport>& reports);

// {"scenarios": […], "passed": n, "failed": n}; docs/scenarios.md has the fields.
std::string scenarios_json(const std::vector<sim::RunReport>& reports);

}  // namespace fairlead::cli
