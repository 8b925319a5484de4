#include "sim/report/summary.h"

#include <algorithm>
#include <array>
#include <map>

#include "sim/report/text.h"

namespace fairlead::sim {
namespace {

constexpr double kHourMs = 3'600'000;

struct SizeClass {
  const char* label;
  std::int64_t up_to;  // milli-GPU
};
constexpr std::array<SizeClass, 7> kSizes{{{"CPU only", 0},
                                           {"below 1 GPU", 999},
                                           {"1 GPU", 1'000},
                                           {"2–4 GPUs", 4'000},
                                           {"5–8 GPUs", 8'000},
                                           {"9–16 GPUs", 16'000},
                                           {"above 16 GPUs", INT64_MAX}}};

double secs(Duration d) {
  return static_cast<double>(d.ms) / 1000;
}
double gpus(std::int64_t milli) {
  return static_cast<double>(milli) / 1000;
}

std::vector<WaitGroup> waits_by_size(const std::vector<JobRecord>& jobs) {
  std::vector<WaitGroup> groups;
  std::int64_t above = -1;
  for (const SizeClass& size : kSizes) {
    std::vector<double> waits;
    for (const JobRecord& job : jobs) {
      if (job.first_start == kNever || job.milli <= above || job.milli > size.up_to) continue;
      waits.push_back(secs(job.wait()));
    }
    above = size.up_to;
    if (!waits.empty()) groups.push_back({size.label, quantiles_of(std::move(waits))});
  }
  return groups;
}

std::vector<WaitGroup> waits_by_project(const std::vector<JobRecord>& jobs) {
  std::map<std::string, std::vector<double>> waits;
  for (const JobRecord& job : jobs) {
    if (job.first_start != kNever) waits[job.project].push_back(secs(job.wait()));
  }
  std::vector<WaitGroup> groups;
  for (auto& [project, values] : waits)
    groups.push_back({project, quantiles_of(std::move(values))});
  return groups;
}

std::vector<FairnessRow> fairness_rows(const ReplayResult& result) {
  double all = 0;
  for (const ProjectRecord& project : result.projects) all += project.received_gpu_ms;
  std::vector<FairnessRow> rows;
  for (const ProjectRecord& project : result.projects) {
    FairnessRow row;
    row.project = project.name;
    row.quota_gpus = project.quota < 0 ? -1 : gpus(project.quota);
    row.received_gpu_hours = project.received_gpu_ms / kHourMs;
    row.received_percent = all > 0 ? 100 * project.received_gpu_ms / all : 0;
    row.entitled_gpu_hours = project.entitled_gpu_ms / kHourMs;
    row.received_of_entitled =
        project.entitled_gpu_ms > 0 ? project.received_gpu_ms / project.entitled_gpu_ms : 0;
    row.missed_gpu_hours = project.missing_gpu_ms / kHourMs;
    row.lent_gpu_hours = project.lent_gpu_ms / kHourMs;
    row.waiting_gpu_hours = project.waiting_gpu_ms / kHourMs;
    row.lost_gpu_hours = project.lost_gpu_ms / kHourMs;
    row.preemptions = project.preemptions;
    rows.push_back(std::move(row));
  }
  return rows;
}

// Mean of a step function over intervals, by its integral at each sample.
class MeanJobs {
 public:
  explicit MeanJobs(const std::vector<Sample>& samples) : samples_(samples) {
    double sum = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (i > 0) sum += value(i - 1) * static_cast<double>((samples[i].at - samples[i - 1].at).ms);
      integral_.push_back(sum);
    }
  }
  double mean(Instant from, Instant to) const {
    const double span = static_cast<double>((to - from).ms);
    return span > 0 ? (at(to) - at(from)) / span : 1;
  }

 private:
  double value(std::size_t i) const {
    return static_cast<double>(samples_[i].running_jobs + samples_[i].waiting_jobs);
  }
  double at(Instant t) const {
    auto it = std::upper_bound(samples_.begin(), samples_.end(), t,
                               [](Instant x, const Sample& s) { return x < s.at; });
    if (it == samples_.begin()) return 0;
    const auto i = static_cast<std::size_t>(it - samples_.begin()) - 1;
    return integral_[i] + value(i) * static_cast<double>((t - samples_[i].at).ms);
  }
  const std::vector<Sample>& samples_;
  std::vector<double> integral_;
};

FinishTimeFairness finish_time_fairness(const ReplayResult& result, double capacity) {
  FinishTimeFairness out;
  const MeanJobs contention(result.samples);
  for (const JobRecord& job : result.jobs) {
    if (!job.finished() || job.completion_time().ms <= 0 || job.milli <= 0 || capacity <= 0)
      continue;
    const double contending = std::max(1.0, contention.mean(job.submit, job.ended));
    const double stretch = std::max(1.0, gpus(job.milli) * contending / capacity);
    out.sorted.push_back(secs(job.completion_time()) / (secs(job.run_time) * stretch));
  }
  if (out.sorted.empty()) return out;
  std::sort(out.sorted.begin(), out.sorted.end());
  const std::size_t n = out.sorted.size();
  out.worst = out.sorted.back();
  out.p50 = out.sorted[n / 2];
  out.p90 = out.sorted[n * 9 / 10];
  out.p99 = out.sorted[n * 99 / 100];
  // A job that ran undisturbed alone in the cluster has ρ = 1 up to rounding.
  const auto fair = std::upper_bound(out.sorted.begin(), out.sorted.end(), 1 + 1e-9);
  out.unfair_percent =
      100.0 * static_cast<double>(out.sorted.end() - fair) / static_cast<double>(n);
  return out;
}

// Time-weighted means of the samples in equal parts of [start, end).
std::vector<Bucket> bucketed(const std::vector<Sample>& samples, Instant start, Instant end,
                             std::size_t count) {
  std::vector<Bucket> buckets;
  const double span = static_cast<double>((end - start).ms);
  if (span <= 0 || samples.empty()) return buckets;
  const double width = span / static_cast<double>(count);
  buckets.resize(count);
  for (std::size_t b = 0; b < count; ++b) {
    buckets[b].from_hours = width * static_cast<double>(b) / kHourMs;
  }
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Sample& s = samples[i];
    const double from = static_cast<double>((s.at - start).ms);
    const Instant until = i + 1 < samples.size() ? samples[i + 1].at : end;
    const double to = std::min(span, static_cast<double>((until - start).ms));
    for (auto b = static_cast<std::size_t>(std::max(0.0, from / width)); b < count; ++b) {
      const double low = std::max(from, width * static_cast<double>(b));
      const double high = std::min(to, width * static_cast<double>(b + 1));
      if (high <= low) break;
      const double part = (high - low) / width;
      buckets[b].capacity += part * gpus(s.capacity);
      buckets[b].allocated += part * gpus(s.allocated);
      buckets[b].waiting += part * gpus(s.waiting);
      buckets[b].fragmented += part * s.fragmented / 1000;
      buckets[b].running_jobs += part * s.running_jobs;
      buckets[b].waiting_jobs += part * s.waiting_jobs;
    }
  }
  return buckets;
}

}  // namespace

Quantiles quantiles_of(std::vector<double> values) {
  Quantiles q;
  if (values.empty()) return q;
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  q.count = static_cast<std::int64_t>(n);
  for (const double v : values) q.mean += v;
  q.mean /= static_cast<double>(n);
  q.p50 = values[n / 2];
  q.p90 = values[n * 9 / 10];
  q.p99 = values[n * 99 / 100];
  q.max = values.back();
  return q;
}

Summary summarise(const ReplayResult& result, std::size_t buckets) {
  Summary s;
  s.jobs = static_cast<std::int64_t>(result.jobs.size());
  std::vector<double> completions;
  std::vector<double> waits;
  Instant first = kNever;
  Instant last;
  for (const JobRecord& job : result.jobs) {
    first = std::min(first, job.submit);
    if (job.first_start != kNever) waits.push_back(secs(job.wait()));
    if (job.end == JobEnd::kRefused) ++s.refused;
    if (job.end == JobEnd::kUnfinished) ++s.unfinished;
    if (!job.finished()) continue;
    ++s.finished;
    last = std::max(last, job.ended);
    completions.push_back(secs(job.completion_time()));
  }
  s.completion = quantiles_of(std::move(completions));
  s.wait = quantiles_of(std::move(waits));
  if (s.finished > 0) s.makespan_seconds = secs(last - first);
  s.lost_gpu_hours = result.lost_gpu_ms / kHourMs;
  s.by_size = waits_by_size(result.jobs);
  s.by_project = waits_by_project(result.jobs);
  s.fairness = fairness_rows(result);
  if (result.samples.empty()) return s;
  s.capacity_gpus = gpus(result.samples.front().capacity);
  s.finish_time = finish_time_fairness(result, s.capacity_gpus);
  s.buckets = bucketed(result.samples, first, std::max(first, last), buckets);
  double capacity = 0;
  double allocated = 0;
  double fragmented = 0;
  for (const Bucket& b : s.buckets) {
    capacity += b.capacity;
    allocated += b.allocated;
    fragmented += b.fragmented;
  }
  if (capacity > 0) {
    s.allocated_percent = 100 * allocated / capacity;
    s.fragmentation_percent = 100 * fragmented / capacity;
  }
  return s;
}

std::vector<std::string> fairness_cells(const FairnessRow& row, const std::string& none) {
  const bool entitled = row.entitled_gpu_hours > 0;
  return {row.project,
          row.quota_gpus < 0 ? "unlimited" : fixed(row.quota_gpus, 0),
          grouped(row.received_gpu_hours),
          fixed(row.received_percent, 1) + " %",
          entitled ? grouped(row.entitled_gpu_hours) : none,
          entitled ? fixed(row.received_of_entitled, 2) : none,
          entitled ? grouped(row.missed_gpu_hours) : none,
          entitled ? grouped(row.lent_gpu_hours) : none,
          grouped(static_cast<double>(row.preemptions)),
          grouped(row.lost_gpu_hours)};
}

}  // namespace fairlead::sim
