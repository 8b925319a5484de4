// Synthetic load: arrivals, sizes, run times and projects drawn from a seed.
//
// Shapes follow what published traces show: most jobs are small and short, a few large ones hold
// most of the GPU time, run times are lognormal, load follows the working day, sweeps come in
// bursts, and a sixth to two fifths of all jobs fail early by themselves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "sim/trace/job.h"

namespace fairlead::sim {

enum class ArrivalPattern : std::uint8_t {
  kPoisson,  // independent of each other
  kBursty,   // sweeps: 1 to 2 × burst_mean jobs of one person within minutes
  kDiurnal,  // Poisson at a rate that swings by ± 80 % over 24 h, highest at 14:00
};

struct SizeShare {
  std::int64_t milli = 1000;  // below 1000: a portion of one GPU
  double weight = 1;
};

struct ProjectShare {
  std::string name;
  double weight = 1;
};

struct GeneratorOptions {
  std::uint64_t seed = 1;
  std::int64_t jobs = 1000;
  double jobs_per_hour = 60;
  ArrivalPattern arrivals = ArrivalPattern::kPoisson;
  double burst_mean = 8;
  std::vector<SizeShare> sizes = {{250, 15}, {500, 15}, {1000, 40}, {2000, 12},
                                  {4000, 8}, {8000, 8}, {16000, 2}};
  Duration duration_median = minutes(30);
  double duration_sigma = 1.5;
  Duration duration_max = hours(24 * 7);
  std::vector<ProjectShare> projects = {{"vision", 3}, {"language", 2}, {"robotics", 1}};
  std::int64_t users_per_project = 4;
  double failing_share = 0.25;  // end after a uniform part of a tenth of their run time
  std::int64_t gpus_per_node = 8;
  std::int64_t cpu_milli_per_gpu = 8000;
  std::int64_t memory_mib_per_gpu = 32'768;
};

// Sorted by submit time; the first arrives after one inter-arrival time. Same options, same jobs.
// Requires: positive rates, weights that do not sum to 0.
std::vector<TraceJob> generate_jobs(const GeneratorOptions& options);

// "0.25:15,1:40,16:2" and "vision:3,language:2" as the options above. Error: kInvalidArgument,
// naming the part that cannot be read.
Result<std::vector<SizeShare>> parse_sizes(std::string_view text);
Result<std::vector<ProjectShare>> parse_projects(std::string_view text);

// "poisson", "bursty", "diurnal".
Result<ArrivalPattern> parse_arrivals(std::string_view text);

}  // namespace fairlead::sim
