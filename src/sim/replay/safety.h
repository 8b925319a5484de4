// A check of what a quota promises (HiveD's property): whoever stays within its quota never waits
// longer than it would in a private cluster of that quota, plus the time one gang takes to drain.
//
// A job stays within quota if its project never asked for more than that between the job's submit
// and its start. The private cluster has nodes like the largest of the real one, the last with the
// devices that are left, and the project's jobs alone. A gang drains when it ends: the longest run
// time of the other projects' jobs. What they borrowed is taken back at once (rule 7), but a job in
// quota that lies where a gang would fit is not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/replay/replay.h"

namespace fairlead::sim {

struct SafetyRow {
  std::string project;
  double quota_gpus = 0;
  std::int64_t within = 0;  // jobs that stayed within quota, of those that use GPUs and started
  std::int64_t longer = 0;  // of them, waited longer than in the private cluster …
  std::int64_t unsafe = 0;  // … and longer than one gang's drain beyond that
  double drain_seconds = 0;
  double longest_excess_seconds = 0;  // wait beyond that in the private cluster
};

// `result` is that of replay() with the same arguments. Projects with a quota of at least one GPU,
// by name; those of unlimited quota are left out. Cost: one replay of each project's jobs.
Result<std::vector<SafetyRow>> check_safety(const ClusterSpec& cluster,
                                            const std::vector<TraceJob>& jobs,
                                            const ReplayOptions& options,
                                            const ReplayResult& result);

}  // namespace fairlead::sim
