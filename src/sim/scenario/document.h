// Scenarios in their document form: YAML or JSON, `kind: Scenario`, schemas/scenario.schema.json.
//
// The same content as the readable language, for programs that generate cases. The cluster at the
// beginning is stated as in a `kind: Cluster` document; then come steps, each with a time, events
// and expectations. An event or expectation may also be one string in the readable language.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/scenario/scenario.h"

namespace fairlead::sim {

// Errors: all of them, by line, each with the field, what is allowed and a cure.
std::expected<Scenario, std::vector<Error>> parse_scenario_document(std::string_view text,
                                                                    std::string file);

// Reads back to the same steps. One that names nodes that are not there is marked `unchecked`.
std::string scenario_yaml(const Scenario& scenario);
std::string scenario_json(const Scenario& scenario);

// Either form, by the name of the file (*.yaml, *.yml, *.json) or, if that does not tell, by how
// the text begins.
std::expected<Scenario, std::vector<Error>> parse_scenario(std::string_view text, std::string file);

}  // namespace fairlead::sim
