// A job of a trace: what was asked, when, and how long it ran. Every reader and the generator make
// these; workload_of() turns one into what the scheduling core is told.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/workload.h"

namespace fairlead::sim {

// How a job ended where the trace was taken. A job that failed is replayed as one that ends after
// its run time: it held its devices just as long.
enum class JobOutcome : std::uint8_t { kSucceeded, kFailed };

struct TraceJob {
  std::string name;     // unique in the trace
  std::string project;  // leaf of the queue tree
  std::string user;
  Instant submit;     // since the start of the trace
  Duration run_time;  // time on its devices, undisturbed; at least 1 ms
  WorkloadKind kind = WorkloadKind::kTraining;
  std::int32_t priority = 50;
  std::int32_t tasks = 1;      // a gang of this many identical tasks
  TaskRequest request;         // of each task
  std::int32_t last_gpus = 0;  // > 0: one more task with this many whole devices (12 = 8 + 4)
  std::vector<std::string> device_classes;  // any of; empty: all
  JobOutcome outcome = JobOutcome::kSucceeded;
};

// Milli-GPU of the whole job: a memory or MIG request counts 0 here, as it depends on the device.
std::int64_t job_milli(const TraceJob& job);

// A gang of whole devices spread over as few nodes as possible: `gpus` as tasks of `per_node` and
// one for the remainder. Requires: gpus > 0, per_node > 0.
void shape_gang(TraceJob& job, std::int64_t gpus, std::int64_t per_node);

WorkloadSpec workload_of(const TraceJob& job);

// By submit time; equal times keep the order of the trace.
void sort_by_submit(std::vector<TraceJob>& jobs);

}  // namespace fairlead::sim
