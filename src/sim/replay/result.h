// What a replay leaves behind: one record per job, samples over time, counts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"

namespace fairlead::sim {

enum class JobEnd : std::uint8_t {
  kFinished,
  kRefused,     // the core proved at submit that it can never run
  kUnfinished,  // still waiting when nothing more could happen
};

struct JobRecord {
  std::string name;
  std::string project;
  std::int64_t milli = 0;  // milli-GPU of the whole job
  Instant submit;
  Instant first_start = kNever;
  Instant ended = kNever;
  Duration run_time;  // undisturbed
  std::int32_t preemptions = 0;
  std::int32_t faults = 0;  // times that a fault of the cluster stopped it
  JobEnd end = JobEnd::kUnfinished;
  std::string note;  // why it was refused or never ran

  bool finished() const { return end == JobEnd::kFinished; }
  Duration wait() const { return first_start - submit; }       // Requires: it started
  Duration completion_time() const { return ended - submit; }  // Requires: it finished
};

// The state from `at` until the next sample.
struct Sample {
  Instant at;
  std::int64_t capacity = 0;   // milli-GPU of healthy devices on ready nodes
  std::int64_t allocated = 0;  // milli-GPU
  std::int64_t waiting = 0;    // milli-GPU asked by jobs that wait
  std::int32_t running_jobs = 0;
  std::int32_t waiting_jobs = 0;
  double fragmented = 0;  // milli-GPU free that the trace's mix cannot use
};

struct ProjectRecord {
  std::string name;
  std::int64_t quota = 0;      // milli-GPU over all pools; -1 unlimited
  double received_gpu_ms = 0;  // GPU × ms held
  double entitled_gpu_ms = 0;  // fair share (rule 3.2) over time, sampled; at most what it asked
  double missing_gpu_ms = 0;   // what it was entitled to, asked for and did not hold …
  double lent_gpu_ms = 0;      // … of that, while others held more than they were entitled to
  double waiting_gpu_ms = 0;   // GPU × ms asked for while waiting
  double lost_gpu_ms = 0;      // GPU × ms spent on starts and on work done twice
  std::int64_t preemptions = 0;
};

struct ReplayResult {
  std::vector<JobRecord> jobs;  // in the order of the trace
  std::vector<Sample> samples;
  std::vector<ProjectRecord> projects;  // by name
  Instant end;
  std::int64_t preemptions = 0;  // running jobs stopped for another and not put back at once
  std::int64_t moves = 0;        // running jobs put on other nodes in the same instant
  std::int64_t fault_stops = 0;  // running jobs stopped by a fault
  std::int64_t faults = 0;
  std::int64_t refused_starts = 0;
  double lost_gpu_ms = 0;      // GPU × ms spent on starts and on work done twice
  std::int64_t decisions = 0;  // jobs started by the core
  double core_seconds = 0;
};

}  // namespace fairlead::sim
