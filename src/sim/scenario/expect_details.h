// What stands behind the state in an expectation about workloads. Inside of reading.h.
#pragma once

#include <string_view>

#include "sim/scenario/reading.h"

namespace fairlead::sim {

// [exactly|at least|at most] N
Result<Bound> read_bound(Cursor& cursor, std::string_view what);

// Details up to the end of the statement, and whether they go with the state.
Result<void> read_details(Cursor& cursor, const Reading& reading, ExpectWorkloads& e);
Result<void> check_details(const Cursor& cursor, const ExpectWorkloads& e);

}  // namespace fairlead::sim
