// Gavel's generated jobs and its measured throughputs (OSDI'20).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "sim/csv/csv_file.h"

namespace fairlead::sim {

struct GavelJob {
  std::string name;
  double arrival_unit = 0;  // in mean inter-arrival times
  std::string type;         // "ResNet-18 (batch size 64)"
  std::int32_t gpus = 1;    // scale factor
  double steps = 0;         // to be done
};

// Steps per second by (GPU type, job type, scale factor), isolated and consolidated.
using GavelThroughputs = std::map<std::tuple<std::string, std::string, std::int32_t>, double>;

// Columns job_id, arrival_unit, job_type, scale_factor, total_steps. Sorted by arrival.
Checked<std::vector<GavelJob>> read_gavel_jobs(const CsvFile& file);

// Columns worker_type, job_type, scale_factor, steps_per_s; one row per triple. A rate of 0 means
// that the job cannot run there.
Checked<GavelThroughputs> read_gavel_throughputs(const CsvFile& file);

}  // namespace fairlead::sim
