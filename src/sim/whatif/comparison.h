// Two runs of one history side by side: what the change did for whom. All derived; floating point
// is fine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "sim/whatif/run.h"

namespace fairlead::sim {

// Of one run, over the workloads of a queue or of all.
struct GroupFigures {
  std::int64_t started = 0;
  std::int64_t running = 0;  // at the end of the log: not ended
  std::int64_t waiting = 0;  // at the end of the log
  std::int64_t refused = 0;
  double mean_wait_seconds = 0;  // submission to first start, of those that started
  double p95_wait_seconds = 0;   // the sorted wait at int(0.95 × n)
  std::int64_t preemptions = 0;  // times that work was stopped by rule 7 and not moved
  std::int64_t moves = 0;
  double gpu_hours = 0;
};

struct GroupRow {
  std::string queue;  // empty: all
  std::int64_t workloads = 0;
  std::int64_t earlier = 0;  // started in both runs, in the changed one earlier
  std::int64_t later = 0;
  std::int64_t newly = 0;  // started in the changed run only
  std::int64_t never = 0;  // started in the run as it was only
  GroupFigures before;
  GroupFigures after;
};

// A workload whose first start moved. A wait that had not ended counts up to the end of the log.
struct Moved {
  std::string workload;
  std::string queue;
  double wait_before_seconds = 0;
  double wait_after_seconds = 0;
  bool started_before = false;
  bool started_after = false;
  double gain_seconds() const { return wait_before_seconds - wait_after_seconds; }
};

// A workload that the change adds.
struct AddedWorkload {
  std::string workload;
  std::string queue;
  bool started = false;
  double wait_seconds = 0;  // to its first start, or to the end of the log
};

struct WhatIfComparison {
  bool ahead = false;                 // of a present state, and not of a log
  std::int64_t unknown_runtimes = 0;  // then: workloads that are taken to run to the end
  double length_seconds = 0;          // of the log, or of the time ahead
  double changed_at_seconds = 0;      // since its start
  GroupRow all;
  std::vector<GroupRow> queues;  // by name
  std::vector<Moved> gained;     // at most 10, those that gain most first
  std::vector<Moved> lost;       // at most 10, those that lose most first
  std::vector<AddedWorkload> added;
  double used_percent_before = 0;  // GPU time held, of what healthy devices offered
  double used_percent_after = 0;
  double capacity_gpu_hours_before = 0;
  double capacity_gpu_hours_after = 0;
  std::vector<UseBucket> use_before;
  std::vector<UseBucket> use_after;
  // How many workloads the run without the change starts at another time than the log does: what it
  // cannot tell exactly.
  std::int64_t not_as_recorded = 0;
};

WhatIfComparison compare(const History& history, const RunOutcome& before, const RunOutcome& after);

}  // namespace fairlead::sim
