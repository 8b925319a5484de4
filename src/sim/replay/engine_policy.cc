// The replay's preemptive policies: who should run, asked of a shadow core.
#include <algorithm>
#include <optional>
#include <utility>

#include "sim/replay/engine.h"

namespace fairlead::sim {

Result<void> ReplayEngine::refresh_order() {
  for (const std::uint32_t n : active_) {
    RunningJob& job = jobs_[n];
    if (job.phase == JobPhase::kRunning) advance(n);
    const std::int64_t key = options_.policy.order_key(job.progress());
    if (key == job.order_key) continue;
    job.order_key = key;
    sched::WorkloadChanged change;
    change.workload = trace_[n].name;
    change.order_key = key;
    FAIRLEAD_TRY(tell(change));
  }
  return {};
}

Result<void> ReplayEngine::choose() {
  if (!shadow_) return {};
  std::fill(chosen_.begin(), chosen_.end(), false);
  if (waiting_ == 0) return {};
  FAIRLEAD_TRY(refresh_order());
  for (const std::uint32_t n : shadow_running_) {
    FAIRLEAD_TRY(shadow_->tell(now_, sched::WorkloadRequeued{trace_[n].name}));
  }
  shadow_running_.clear();
  for (const CoreDriver::Start& start : shadow_->decide(now_).starts) {
    shadow_running_.push_back(start.job);
    chosen_[start.job] = true;
  }
  for (const std::uint32_t n : active_) {
    if (jobs_[n].phase == JobPhase::kRunning && !chosen_[n]) FAIRLEAD_TRY(requeue(n, false));
  }
  return {};
}

Result<bool> ReplayEngine::make_room(int stage) {
  const auto place = [&](std::uint32_t n) {
    return std::pair(-trace_[n].priority, jobs_[n].order_key);
  };
  std::optional<std::pair<std::int32_t, std::int64_t>> first;
  for (const std::uint32_t n : active_) {
    if (!chosen_[n] || jobs_[n].phase != JobPhase::kWaiting) continue;
    if (!first || place(n) < *first) first = place(n);
  }
  if (!first) return false;
  for (const std::uint32_t n : active_) {
    if (jobs_[n].phase != JobPhase::kRunning) continue;
    if (stage == 2 || place(n) > *first) FAIRLEAD_TRY(requeue(n, false));
  }
  return true;
}

}  // namespace fairlead::sim
