// Fairlead's own trace format: comma-separated values, one job a line; docs/simulate.md has the
// table of columns. What `fairlead simulate generate` prints and `fairlead simulate trace` reads.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sim/csv/csv_file.h"
#include "sim/trace/job.h"

namespace fairlead::sim {

// Columns submit_s and duration_s are needed, all others may be absent. Sorted by submit time.
// Error: kInvalidArgument for a column that is not known, with the nearest that is.
Checked<std::vector<TraceJob>> read_trace(const CsvFile& file);

// Reads back as the same jobs.
std::string trace_text(const std::vector<TraceJob>& jobs);

}  // namespace fairlead::sim
