// Reads a scenario in the readable language (docs/scenarios.md), or in its document form.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/scenario/scenario.h"

namespace fairlead::sim {

// The readable language. Error: kInvalidArgument or kOutOfRange with "FILE:LINE:COLUMN", the word,
// what is allowed there, and a cure. Cost: linear in the text and in the nodes it names.
Result<Scenario> read_scenario(std::string_view text, std::string_view file);
// The same, with the errors of all statements (at most 20). Once one is wrong that is no
// expectation, names in those after it are not looked up.
std::expected<Scenario, std::vector<Error>> read_whole_scenario(std::string_view text,
                                                                std::string_view file);

}  // namespace fairlead::sim
