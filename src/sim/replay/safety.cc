#include "sim/replay/safety.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

namespace fairlead::sim {
namespace {

// What a project asks for over time, and the most of it in any interval.
class Demand {
 public:
  void change(Instant at, std::int64_t milli) { changes_[at] += milli; }

  void finish() {
    std::int64_t now = 0;
    levels_.emplace_back();
    for (const auto& [at, change] : changes_) {
      times_.push_back(at);
      levels_[0].push_back(now += change);
    }
    for (std::size_t width = 1; 2 * width <= times_.size(); width *= 2) {
      const std::vector<std::int64_t>& half = levels_.back();
      std::vector<std::int64_t> whole;
      for (std::size_t i = 0; i + width < half.size(); ++i) {
        whole.push_back(std::max(half[i], half[i + width]));
      }
      levels_.push_back(std::move(whole));
    }
  }

  // In [from, to]. Requires: a change at `from`.
  std::int64_t most(Instant from, Instant to) const {
    const auto begin = static_cast<std::size_t>(
        std::lower_bound(times_.begin(), times_.end(), from) - times_.begin());
    const auto end = static_cast<std::size_t>(std::upper_bound(times_.begin(), times_.end(), to) -
                                              times_.begin());
    std::size_t level = 0;
    while ((std::size_t{2} << level) <= end - begin) ++level;
    const std::vector<std::int64_t>& row = levels_[level];
    return std::max(row[begin], row[end - (std::size_t{1} << level)]);
  }

 private:
  std::map<Instant, std::int64_t> changes_;
  std::vector<Instant> times_;
  std::vector<std::vector<std::int64_t>> levels_;  // [k][i]: the most of 2^k levels from i on
};

ClusterSpec private_cluster(const ClusterSpec& cluster, const std::string& project,
                            std::int64_t gpus) {
  const NodeSpec& largest = *std::max_element(
      cluster.nodes.begin(), cluster.nodes.end(),
      [](const NodeSpec& a, const NodeSpec& b) { return a.devices.size() < b.devices.size(); });
  ClusterSpec own = cluster;
  own.nodes.clear();
  own.workloads.clear();
  own.queues.clear();
  while (gpus > 0) {
    NodeSpec node = largest;
    node.name = fmt::format("own-{}", own.nodes.size());
    const auto devices = std::min<std::size_t>(node.devices.size(), static_cast<std::size_t>(gpus));
    node.devices.resize(devices);
    gpus -= static_cast<std::int64_t>(devices);
    own.nodes.push_back(std::move(node));
  }
  QueueSpec queue;
  queue.name = project;
  queue.pools[largest.pool]["gpu"].quota = kUnlimited;
  own.queues.push_back(std::move(queue));
  return own;
}

bool uses_gpus(const JobRecord& job) {
  return job.milli > 0 && job.first_start != kNever;
}

Result<SafetyRow> check_project(const ClusterSpec& cluster, const std::vector<TraceJob>& jobs,
                                const ReplayOptions& options, const ReplayResult& result,
                                const ProjectRecord& project) {
  SafetyRow row;
  row.project = project.name;
  row.quota_gpus = static_cast<double>(project.quota) / kMilli;
  ReplayOptions alone = options;
  alone.faults.clear();
  alone.start_costs.clear();
  alone.refused_starts_milli = 0;
  std::vector<TraceJob> own;
  Demand demand;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const JobRecord& job = result.jobs[i];
    if (jobs[i].project != project.name) {
      row.drain_seconds =
          std::max(row.drain_seconds, static_cast<double>(jobs[i].run_time.ms) / 1000);
      continue;
    }
    if (job.end == JobEnd::kRefused) continue;
    own.push_back(jobs[i]);
    if (!options.start_costs.empty()) alone.start_costs.push_back(options.start_costs[i]);
    demand.change(job.submit, job.milli);
    if (job.ended != kNever) demand.change(job.ended, -job.milli);
  }
  demand.finish();
  FAIRLEAD_ASSIGN(
      const ReplayResult in_private,
      replay(private_cluster(cluster, project.name, project.quota / kMilli), own, alone));
  std::map<std::string, const JobRecord*> by_name;
  for (const JobRecord& job : in_private.jobs) by_name[job.name] = &job;
  for (const JobRecord& job : result.jobs) {
    if (job.project != project.name || !uses_gpus(job)) continue;
    const JobRecord& there = *by_name.at(job.name);
    if (!uses_gpus(there) || demand.most(job.submit, job.first_start) > project.quota) continue;
    ++row.within;
    const double excess = static_cast<double>((job.wait() - there.wait()).ms) / 1000;
    if (excess <= 0) continue;
    ++row.longer;
    if (excess > row.drain_seconds) ++row.unsafe;
    row.longest_excess_seconds = std::max(row.longest_excess_seconds, excess);
  }
  return row;
}

}  // namespace

Result<std::vector<SafetyRow>> check_safety(const ClusterSpec& cluster,
                                            const std::vector<TraceJob>& jobs,
                                            const ReplayOptions& options,
                                            const ReplayResult& result) {
  std::vector<SafetyRow> rows;
  for (const ProjectRecord& project : result.projects) {
    if (project.quota < kMilli) continue;  // nothing, or unlimited
    FAIRLEAD_ASSIGN(SafetyRow row, check_project(cluster, jobs, options, result, project));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace fairlead::sim
