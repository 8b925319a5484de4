// Reads a scenario in the readable language (docs/scenarios.md), or in its document form.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "sim/scenario/scenario.h"

namespace fairlead::sim {

// The readable language. Error: kInvalidArgument or kOutOfRange with "FILE:LINE:COLUMN", the word,
// what is allowed there, and a cure. Cost: linear in the text and in the nodes it names.
Result<Scenario> read_scenario(std::string_view text, std::string_view file);

}  // namespace fairlead::sim
