// A trace on a cluster in virtual time, every decision by the production scheduling core.
//
// Time jumps from event to event: jobs arrive, finish, are stopped; nodes and devices fail and are
// repaired; starts are refused and tried again. With policy default the core takes back (rule 7):
// who is stopped loses the work since its last checkpoint and waits again. Policies that stop
// running jobs ask a second core, a shadow in which everything waits, who should run; the jobs that
// should not are requeued in the real core, which then decides where the others go. If that does
// not start them all, first those that come after the missing one are placed anew, then everything.
// A job that is put back on the nodes it held in the same instant was not touched.
//
// Deterministic: same arguments, same result (core_seconds apart).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/cluster.h"
#include "sim/cluster/progress.h"
#include "sim/log/recorder.h"
#include "sim/replay/faults.h"
#include "sim/replay/policy.h"
#include "sim/replay/result.h"
#include "sim/trace/job.h"

namespace fairlead::sim {

struct ReplayOptions {
  ServicePolicy policy = *ServicePolicy::named("default");
  std::string placement = "default";
  std::uint64_t seed = 1;
  Duration restart_cost{0};                 // each start after a job's first one, and each move
  std::vector<Duration> start_costs;        // per job instead, at every start; empty: restart_cost
  Duration checkpoint_every = minutes(30);  // work since the last one is done again after a fault,
                                            // and when it was stopped by rule 7
  bool take_back = true;                    // rule 7, with policy default only
  std::vector<Fault> faults;
  std::int64_t refused_starts_milli = 0;  // of 1000 starts, how many fail outside (rule 4.3)
  Recorder* recorder = nullptr;           // watches the core that decides; must outlive the replay
};

// `jobs` sorted by submit time. Projects that the cluster has no queue for get one at the top level
// without quota and with weight 1; with policy fifo everybody shares one queue. Jobs try the pools
// in the order of the cluster. Error: what the core refuses about the cluster or a job, except a
// job that can never run, which is a record of the result.
Result<ReplayResult> replay(const ClusterSpec& cluster, const std::vector<TraceJob>& jobs,
                            const ReplayOptions& options, const Progress& progress = {});

}  // namespace fairlead::sim
