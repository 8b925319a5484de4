// Gavel's experiment (OSDI'20) through the production core: single- and multi-GPU training jobs on
// GPUs of several types, scheduled anew in rounds of six minutes.
//
// A policy says, once a round, who should run and on which type; the core places. A job that is to
// run on another type than before is submitted anew with that device class as its constraint; one
// that should not run is taken back. What does not change is not touched.
//   fifo     by arrival; each takes the fastest type that has GPUs left
//   las      those with the least attained service (hours on the fastest type) run; types are
//   chosen
//            so that the sum of relative speeds is highest (assignment.h)
//   default  the same, with attained service in levels (below 1, 10, 50 hours, above) and arrival
//            inside a level, so that jobs take turns less often
// A start after a job's first one, on a type it did not have in the round before, costs
// restart_cost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "sim/cluster/over_time.h"
#include "sim/cluster/progress.h"
#include "sim/trace/gavel.h"

namespace fairlead::sim {

struct GavelPool {
  std::string type;  // worker_type of the throughputs
  std::int64_t gpus = 0;
};

struct GavelOptions {
  std::vector<GavelPool> cluster;
  double jobs_per_hour = 1;
  std::string policy = "default";
  Duration restart_cost{0};
  std::size_t first = 4000;  // the jobs measured: positions in order of arrival, both included;
  std::size_t last = 4999;   // all jobs if the trace is shorter than that
};

struct GavelResult {
  double avg_hours = 0;  // completion time of the measured jobs
  double p50_hours = 0;
  double p99_hours = 0;
  std::size_t measured = 0;
  std::size_t first = 0;
  std::size_t last = 0;
  std::int64_t rounds = 0;
  std::int64_t preemptions = 0;  // a job that ran in the round before does not run
  std::int64_t moves = 0;        // … runs on another type
  double mean_active = 0;        // jobs in the system at the start of a round
  std::vector<double> hours;     // completion times of the measured jobs, ascending
  std::vector<GavelPool> types;
  // By hours: jobs in the system, then for each type the % of its GPUs that work.
  OverTime use{0, 1};
  double core_seconds = 0;
};

// "v100:36,p100:36,k80:36". Error: kInvalidArgument, naming the part that cannot be read.
Result<std::vector<GavelPool>> parse_gavel_cluster(std::string_view text);

// Error: kInvalidArgument for an unknown policy, a GPU type or a job without throughputs, a job
// that fits no type.
Result<GavelResult> run_gavel(const std::vector<GavelJob>& jobs, const GavelThroughputs& rates,
                              const GavelOptions& options, const Progress& progress = {});

}  // namespace fairlead::sim
