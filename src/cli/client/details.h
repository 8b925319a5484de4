// One thing that the server keeps, with all that a person may want to know of it: describe.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "cli/client/tables.h"
#include "model/document.h"

namespace fairlead::cli {

// "Name:    train" for each pair that has a value, values set in line.
std::string key_lines(const std::vector<std::pair<std::string, std::string>>& pairs);

std::string workload_details(const Value& workload, const Items& tasks, const Items& events,
                             Instant now);
std::string node_details(const Value& node);
// A department or project.
std::string queue_details(const Value& queue);
std::string pool_details(const Value& pool);
std::string reservation_details(const Value& reservation);

}  // namespace fairlead::cli
