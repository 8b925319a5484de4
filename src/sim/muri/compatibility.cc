#include "sim/muri/compatibility.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "base/check.h"
#include "sim/muri/cluster.h"
#include "sim/replay/core_driver.h"

namespace fairlead::sim {
namespace {

constexpr std::size_t kLists = 3;
constexpr std::array<std::int64_t, 2> kDemoteAt{3'250'000, 7'200'000};  // GPU-ms
constexpr Instant kFar = kNever;

struct Job {
  std::int64_t gpus = 1;
  Duration overhead;
  Duration remaining;
  Duration executed;  // time on GPUs, overhead included
  std::size_t list = 0;
  bool runs = false;
  std::int64_t order_key = 0;
};

class Published {
 public:
  Published(const std::vector<TraceJob>& trace, const std::vector<MuriJob>& jobs, PolicyKind kind,
            CoreDriver core)
      : trace_(trace), kind_(kind), core_(std::move(core)) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      Job job;
      job.gpus = jobs[i].gpus;
      job.remaining = jobs[i].work;
      job.overhead = muri_start_overhead(jobs[i].model, jobs[i].gpus);
      jobs_.push_back(job);
      JobRecord record;
      record.name = trace[i].name;
      record.project = trace[i].project;
      record.milli = job_milli(trace[i]);
      record.submit = trace[i].submit;
      record.run_time = trace[i].run_time;
      result_.jobs.push_back(std::move(record));
    }
  }

  Result<ReplayResult> run(const Progress& progress) {
    while (next_arrival_ < jobs_.size() || !active_.empty()) {
      FAIRLEAD_TRY(step());
      if (progress) {
        progress(static_cast<double>(next_arrival_ - active_.size()) /
                 static_cast<double>(jobs_.size()));
      }
    }
    result_.end = now_;
    result_.core_seconds = core_.core_seconds();
    return std::move(result_);
  }

 private:
  bool tiresias() const { return kind_ == PolicyKind::kTiresias; }

  std::int64_t key(const Job& job) const {
    return job.remaining.ms * (kind_ == PolicyKind::kSrsf ? job.gpus : 1);
  }

  Result<void> step() {
    const Instant before = now_;
    const Instant arrival = next_arrival_ < jobs_.size() ? trace_[next_arrival_].submit : kFar;
    now_ = std::min(arrival, next_end_);
    if (now_ > next_demotion_) {
      now_ = next_demotion_;
    } else {
      if (next_end_ <= arrival) FAIRLEAD_TRY(complete());
      if (arrival <= next_end_) FAIRLEAD_TRY(arrive(arrival));
    }
    progress_running(now_ - before);
    FAIRLEAD_TRY(place());
    project();
    return {};
  }

  Result<void> complete() {
    for (const std::uint32_t n : ending_) {
      FAIRLEAD_TRY(core_.tell(now_, sched::WorkloadRemoved{trace_[n].name}));
      result_.jobs[n].end = JobEnd::kFinished;
      result_.jobs[n].ended = now_;
      jobs_[n].runs = false;
      std::erase(active_, n);
      std::erase(lists_[jobs_[n].list], n);
    }
    return {};
  }

  Result<void> arrive(Instant at) {
    while (next_arrival_ < jobs_.size() && trace_[next_arrival_].submit == at) {
      const auto n = static_cast<std::uint32_t>(next_arrival_++);
      jobs_[n].order_key = key(jobs_[n]);
      WorkloadSpec spec = workload_of(trace_[n]);
      spec.order_key = jobs_[n].order_key;
      FAIRLEAD_TRY(core_.tell(now_, sched::WorkloadSubmitted{std::move(spec)}));
      active_.push_back(n);
      lists_[0].push_back(n);
    }
    return {};
  }

  void progress_running(Duration passed) {
    for (const std::uint32_t n : active_) {
      Job& job = jobs_[n];
      if (!job.runs) continue;
      const Duration work = std::max(passed - job.overhead, Duration{0});
      job.remaining = std::max(job.remaining - work, Duration{0});
      job.executed = job.executed + passed;
      if (tiresias() && job.list + 1 < kLists &&
          job.executed.ms * job.gpus >= kDemoteAt[job.list]) {
        std::erase(lists_[job.list], n);
        lists_[++job.list].push_back(n);
      }
    }
  }

  // Tells the core the order, where it changed; requeues everything; lets the core place.
  Result<void> place() {
    std::int64_t position = 0;
    const auto order = [&](std::uint32_t n, std::int64_t value) -> Result<void> {
      if (jobs_[n].order_key == value) return {};
      jobs_[n].order_key = value;
      sched::WorkloadChanged change;
      change.workload = trace_[n].name;
      change.order_key = value;
      return core_.tell(now_, change);
    };
    if (tiresias()) {
      for (const auto& list : lists_) {
        for (const std::uint32_t n : list) FAIRLEAD_TRY(order(n, position++));
      }
    } else {
      for (const std::uint32_t n : active_) FAIRLEAD_TRY(order(n, key(jobs_[n])));
    }
    std::vector<bool> ran(active_.size());
    for (std::size_t i = 0; i < active_.size(); ++i) {
      const std::uint32_t n = active_[i];
      ran[i] = jobs_[n].runs;
      if (!ran[i]) continue;
      FAIRLEAD_TRY(core_.tell(now_, sched::WorkloadRequeued{trace_[n].name}));
      jobs_[n].runs = false;
    }
    for (const CoreDriver::Start& start : core_.decide(now_).starts) {
      jobs_[start.job].runs = true;
      ++result_.decisions;
    }
    for (std::size_t i = 0; i < active_.size(); ++i) {
      JobRecord& record = result_.jobs[active_[i]];
      const bool runs = jobs_[active_[i]].runs;
      if (ran[i] && !runs) {
        ++record.preemptions;
        ++result_.preemptions;
      }
      if (runs && record.first_start == kNever) record.first_start = now_;
    }
    for (auto& list : lists_) {
      std::stable_partition(list.begin(), list.end(),
                            [&](std::uint32_t n) { return jobs_[n].runs; });
    }
    return {};
  }

  void project() {
    next_end_ = kFar;
    next_demotion_ = kFar;
    ending_.clear();
    for (const std::uint32_t n : active_) {
      const Job& job = jobs_[n];
      if (!job.runs) continue;
      const Instant end = now_ + job.remaining;
      if (end < next_end_) ending_.clear();
      next_end_ = std::min(next_end_, end);
      if (end == next_end_) ending_.push_back(n);
      if (tiresias() && job.list + 1 < kLists) {
        // The published simulator rounds the limit up to a whole second.
        const std::int64_t gpu_ms = job.gpus * 1000;
        const Duration limit{(kDemoteAt[job.list] + gpu_ms - 1) / gpu_ms * 1000};
        next_demotion_ = std::min(next_demotion_, now_ + (limit - job.executed));
      }
    }
  }

  const std::vector<TraceJob>& trace_;
  PolicyKind kind_;
  CoreDriver core_;
  std::vector<Job> jobs_;
  std::vector<std::uint32_t> active_;  // in order of arrival
  std::array<std::vector<std::uint32_t>, kLists> lists_;
  std::vector<std::uint32_t> ending_;
  std::size_t next_arrival_ = 0;
  Instant now_;
  Instant next_end_ = kFar;
  Instant next_demotion_ = kFar;
  ReplayResult result_;
};

}  // namespace

Result<ReplayResult> replay_as_published(const std::vector<MuriJob>& jobs, std::int64_t nodes,
                                         std::int64_t gpus_per_node, const ServicePolicy& policy,
                                         const Progress& progress) {
  const PolicyKind kind = policy.kind();
  if (kind != PolicyKind::kSrtf && kind != PolicyKind::kSrsf && kind != PolicyKind::kTiresias) {
    return fail(
        ErrorCode::kInvalidArgument,
        "there are published overheads for srtf, srsf and tiresias, not for " + policy.name(),
        "choose one of them, or leave out --published-overheads");
  }
  if (kind == PolicyKind::kTiresias) {
    gpus_per_node *= nodes;
    nodes = 1;
  }
  FAIRLEAD_ASSIGN(const std::vector<TraceJob> trace, muri_trace(jobs, nodes, gpus_per_node));
  ClusterSpec cluster = uniform_cluster(nodes, gpus_per_node);
  QueueSpec queue;
  queue.name = "muri";
  queue.pools["default"]["gpu"].quota = kUnlimited;
  cluster.queues.push_back(std::move(queue));
  JobNumbers numbers;
  for (std::uint32_t i = 0; i < trace.size(); ++i) numbers[trace[i].name] = i;
  sched::SchedulerOptions options;
  options.reclaim = options.preempt = options.consolidate = false;  // as published
  options.placement = "firstfit";
  FAIRLEAD_ASSIGN(CoreDriver core, CoreDriver::create(cluster, options, numbers));
  return Published(trace, jobs, kind, std::move(core)).run(progress);
}

}  // namespace fairlead::sim
