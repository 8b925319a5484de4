// The Philly jobs (ATC'19) in the five-column form: timestamp, duration, num_gpus, gpu_time,
// cluster.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "sim/csv/csv_file.h"
#include "sim/trace/job.h"

namespace fairlead::sim {

// Columns timestamp ("2017-10-09 07:01:55"), duration (s), num_gpus, cluster (the virtual cluster,
// taken as the project). Jobs of more than `gpus_per_node` become gangs over whole nodes; a
// duration below 1 ms counts as 1 ms. Submit times count from the earliest timestamp. Sorted.
// CPU and memory are not in the trace: tasks ask for none.
Checked<std::vector<TraceJob>> read_philly_jobs(const CsvFile& file, std::int64_t gpus_per_node);

}  // namespace fairlead::sim
