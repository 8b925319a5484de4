// Prints a scenario in the readable language, so that reading it again gives the same steps.
//
// For people, and for property tests: a counterexample is printed as a scenario file that anybody
// can run. Built-in device classes are not printed (the reader knows them); everything else is.
#pragma once

#include <string>

#include "sim/scenario/scenario.h"

namespace fairlead::sim {

// A scenario that names what is not there (as one may that was generated) begins with "unchecked".
std::string print_scenario(const Scenario& scenario);

// What stands after "expect": "train-a running on 3 nodes".
std::string expectation_text(const Expectation& expectation, Instant start);

}  // namespace fairlead::sim
