// A replay in numbers for people and programs. Everything here is derived; floating point is fine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/replay/result.h"

namespace fairlead::sim {

// Of a set of durations in seconds. A quantile q of n values is the sorted value at int(q · n).
struct Quantiles {
  std::int64_t count = 0;
  double mean = 0;
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
  double max = 0;
};
Quantiles quantiles_of(std::vector<double> values);

struct WaitGroup {
  std::string label;  // "2–4 GPUs", or a project
  Quantiles wait;     // submit to first start, jobs that started
};

struct FairnessRow {
  std::string project;
  double quota_gpus = 0;  // -1: unlimited
  double received_gpu_hours = 0;
  double received_percent = 0;      // of what all projects received
  double entitled_gpu_hours = 0;    // fair share (rule 3.2) over time
  double received_of_entitled = 0;  // ratio; 0 if nothing was ever entitled
  double missed_gpu_hours = 0;      // entitled to, asked for and not held …
  double lent_gpu_hours = 0;        // … of that, while others held more than their due
  double waiting_gpu_hours = 0;
  double lost_gpu_hours = 0;  // on starts and on work done twice
  std::int64_t preemptions = 0;
};

// A row as a reader sees it: project, quota, received, of all, entitled, of entitled, missed, while
// lent, preempted, lost; `none` stands for what an unentitled project cannot have.
std::vector<std::string> fairness_cells(const FairnessRow& row, const std::string& none);

// Finish-time fairness: ρ = completion time ÷ completion time alone in a private cluster of N/n̄
// GPUs, n̄ the mean number of jobs in the system during the job's life; a job larger than N/n̄ runs
// there proportionally longer. Of jobs that finished.
struct FinishTimeFairness {
  double worst = 0;
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
  double unfair_percent = 0;   // jobs with ρ > 1
  std::vector<double> sorted;  // all ρ
};

struct Bucket {
  double from_hours = 0;
  double capacity = 0;  // GPUs, mean over the bucket; so are the others
  double allocated = 0;
  double waiting = 0;
  double fragmented = 0;
  double running_jobs = 0;
  double waiting_jobs = 0;
};

struct Summary {
  std::int64_t jobs = 0;
  std::int64_t finished = 0;
  std::int64_t refused = 0;
  std::int64_t unfinished = 0;
  Quantiles completion;  // submit to end, finished jobs
  Quantiles wait;
  double makespan_seconds = 0;       // first submit to last completion
  double allocated_percent = 0;      // of healthy capacity, mean over the makespan
  double fragmentation_percent = 0;  // free capacity the mix cannot use ÷ capacity, mean
  double capacity_gpus = 0;          // at the start
  double lost_gpu_hours = 0;
  std::vector<WaitGroup> by_size;
  std::vector<WaitGroup> by_project;
  std::vector<FairnessRow> fairness;
  FinishTimeFairness finish_time;
  std::vector<Bucket> buckets;
};

Summary summarise(const ReplayResult& result, std::size_t buckets = 240);

}  // namespace fairlead::sim
