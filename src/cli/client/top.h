// Who holds what right now: of nodes, of workloads, or a view that keeps itself up to date.
#pragma once

#include <string>

#include "base/time.h"
#include "cli/client/tables.h"

namespace fairlead::cli {

std::string top_node_table(const Items& nodes);
std::string top_job_table(const Items& workloads, Instant now);

// One screen of it: as many rows as fit, the rest counted; no line is wider than the screen.
std::string top_screen(const Items& nodes, const Items& workloads, const Items& waiting, int rows,
                       int columns, Instant now);

}  // namespace fairlead::cli
