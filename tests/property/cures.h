// Rule 10.2 and the word "never": what an explanation says is done to copies of the state.
#pragma once

#include <string>

#include "driver.h"

namespace fairlead::property {

// What is untrue in the explanation of a workload that waits; empty if nothing.
//
// `cheapest`: applied to a copy in which nobody else waits, it makes the workload start. `never`:
// in a copy that is emptied, with every node up and every device healthy, it does not start, nor
// does any placement that keeps the rules exist.
std::string untrue_in(Driver& driver, const std::string& workload);

// What is untrue in a submission turned away as impossible (10.1): a placement in the emptied
// cluster. Empty if nothing.
std::string wrongly_impossible(const Driver& driver, const WorkloadSpec& spec);

}  // namespace fairlead::property
