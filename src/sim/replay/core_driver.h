// One scheduling core in the hands of a replay: tells it events, turns its starts into holds.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "model/cluster.h"
#include "sched/scheduler.h"
#include "sim/cluster/core_clock.h"
#include "sim/log/recorder.h"
#include "sim/replay/running_job.h"

namespace fairlead::sim {

// Job numbers by workload name.
using JobNumbers = std::unordered_map<std::string, std::uint32_t>;

class CoreDriver {
 public:
  // A core that knows the cluster, without the workloads its document may state. `numbers` must
  // outlive the driver, and so must a recorder that watches it.
  static Result<CoreDriver> create(const ClusterSpec& cluster,
                                   const sched::SchedulerOptions& options,
                                   const JobNumbers& numbers, Recorder* recorder = nullptr);

  Result<void> tell(Instant now, const sched::Event& event);

  struct Start {
    std::uint32_t job = 0;
    std::vector<Hold> holds;  // of the whole job, by node, one each
  };
  // What one decision changed. A job that is moved was stopped and starts; a gang of which some
  // tasks are moved too, with all that it holds then.
  struct Outcome {
    std::vector<std::uint32_t> stopped;  // by rule 7; they wait again, with their place kept
    std::vector<Start> starts;
  };
  Outcome decide(Instant now);

  const sched::Scheduler& core() const { return core_; }
  double core_seconds() const { return clock_.seconds(); }

 private:
  CoreDriver(sched::Scheduler core, const JobNumbers& numbers, Recorder* recorder)
      : core_(std::move(core)), numbers_(&numbers), recorder_(recorder) {}

  sched::Scheduler core_;
  const JobNumbers* numbers_;
  Recorder* recorder_;
  std::vector<std::size_t> node_position_;  // by the core's node id
  std::unordered_map<std::uint32_t, std::vector<sched::TaskPlacement>> placed_;  // by job
  CoreClock clock_;
};

}  // namespace fairlead::sim
