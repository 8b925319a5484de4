// Who holds what during a replay, for the report: allocation over time, fragmentation, and what
// each project received and was entitled to. Reads decisions, makes none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/cluster.h"
#include "sim/cluster/fragmentation.h"
#include "sim/replay/result.h"
#include "sim/replay/running_job.h"
#include "sim/trace/job.h"

namespace fairlead::sim {

// The mix of a trace's requests, most frequent first, covering 95 % of its tasks.
std::vector<MixClass> mix_of_jobs(const ClusterSpec& cluster, const std::vector<TraceJob>& jobs);

class Ledger {
 public:
  Ledger(const ClusterSpec& cluster, const std::vector<TraceJob>& jobs);

  std::uint32_t project(const std::string& name) const { return project_numbers_.at(name); }

  void take(std::uint32_t project, std::int64_t milli, const std::vector<Hold>& holds);
  void give(std::uint32_t project, std::int64_t milli, const std::vector<Hold>& holds);
  void lose(std::uint32_t project, double gpu_ms) { projects_[project].lost_gpu_ms += gpu_ms; }
  void preempt(std::uint32_t project) { ++projects_[project].preemptions; }
  void wait_begins(std::uint32_t project, std::int64_t milli);
  void wait_ends(std::uint32_t project, std::int64_t milli);

  // Health: a node is down while any fault holds it; a device that is down on a node that is up.
  // True if the state changed, so that the core must be told.
  bool node_down(std::size_t node);
  bool node_up(std::size_t node);
  bool device_down(std::size_t node, std::size_t device);
  bool device_up(std::size_t node, std::size_t device);

  // Counts the time up to `now`. Before the changes of `now`.
  void advance(Instant now);
  // Samples the state after the changes of `now`.
  void sample(Instant now);

  // Entitled milli-GPU of a project from now on.
  void entitle(std::uint32_t project, std::int64_t milli);

  const std::map<std::string, std::uint32_t>& projects() const { return project_numbers_; }
  std::vector<Sample> take_samples() { return std::move(samples_); }
  std::vector<ProjectRecord> take_projects() { return std::move(projects_); }

 private:
  struct Account {
    std::int64_t held = 0;
    std::int64_t waiting = 0;
    std::int64_t entitled = 0;

    // Nobody is entitled to more than he asks for.
    std::int64_t due() const { return std::min(entitled, held + waiting); }
  };
  std::int64_t healthy_devices(std::size_t node) const;

  FragmentationMeter meter_;
  std::vector<std::int32_t> node_faults_;
  std::vector<std::vector<std::int32_t>> device_faults_;
  std::map<std::string, std::uint32_t> project_numbers_;
  std::vector<ProjectRecord> projects_;
  std::vector<Account> accounts_;
  std::vector<Sample> samples_;
  Sample state_;
  Instant counted_;
};

}  // namespace fairlead::sim
