// The event loop behind replay(). See replay.h for what it does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "sim/replay/core_driver.h"
#include "sim/replay/ledger.h"
#include "sim/replay/replay.h"
#include "sim/replay/timeline.h"

namespace fairlead::sim {

class ReplayEngine {
 public:
  // The arguments must outlive the engine.
  static Result<ReplayEngine> create(const ClusterSpec& cluster, const std::vector<TraceJob>& jobs,
                                     const ReplayOptions& options);

  Result<ReplayResult> run(const Progress& progress);

 private:
  // A job stopped in the present instant: whether that was a preemption, a move or nothing is only
  // known when the instant is over.
  struct Displaced {
    std::uint32_t job = 0;
    std::vector<Hold> holds;
    bool by_fault = false;
    Duration lost;  // work since the last checkpoint, if the core stopped it
  };

  ReplayEngine(const ClusterSpec& cluster, const std::vector<TraceJob>& jobs,
               const ReplayOptions& options, std::unique_ptr<JobNumbers> numbers, CoreDriver real,
               std::optional<CoreDriver> shadow);

  Result<void> handle(const Timed& what);
  Result<void> arrive(std::uint32_t job);
  Result<void> finish(std::uint32_t job);
  void demote(std::uint32_t job);
  void strike(const Fault& fault);
  Result<void> notice(const Fault& fault);
  Result<void> repair(const Fault& fault);

  // Preemptive policies: requeues, in the real core, the jobs that should not run now. `chosen_`
  // is who should.
  Result<void> choose();
  Result<void> refresh_order();
  // If somebody who should run found no room among those who stayed, requeues, in stage 1, the jobs
  // that come after him, in stage 2 all. False: nobody is missing.
  Result<bool> make_room(int stage);
  // Lets the core start what may start; ends the instant.
  Result<void> settle();
  Result<bool> start(CoreDriver::Start&& start);  // false: refused outside the core
  Result<void> requeue(std::uint32_t job, bool by_fault);
  void take_back(std::uint32_t job);  // stopped by the core itself
  // It holds nothing and waits from now on.
  void set_aside(Displaced what);
  // Work since the last checkpoint, to be done again.
  Duration undo(RunningJob& job) const;
  void lose(std::uint32_t job, Duration time);
  void close_instant();

  Result<void> tell(const sched::Event& event);  // both cores
  Result<void> change_health(std::size_t node, bool ready);
  Result<void> change_health(std::size_t node, std::size_t device, DeviceHealth health);
  bool hit(const RunningJob& job, const Fault& fault) const;
  bool on_broken(const RunningJob& job) const;
  void advance(std::uint32_t job);
  void schedule(std::uint32_t job);
  void sample_entitlements();
  ReplayResult result();

  const ClusterSpec& cluster_;
  const std::vector<TraceJob>& trace_;
  const ReplayOptions& options_;
  std::unique_ptr<JobNumbers> numbers_;
  CoreDriver real_;
  std::optional<CoreDriver> shadow_;
  std::vector<std::uint32_t> shadow_running_;
  std::vector<bool> chosen_;
  std::vector<RunningJob> jobs_;
  std::vector<std::uint32_t> active_;  // arrived and not gone, by number
  std::vector<std::uint32_t> projects_;
  std::vector<JobRecord> records_;
  std::vector<Displaced> displaced_;
  std::vector<const Fault*> silent_;  // struck, not noticed
  Ledger ledger_;
  Timeline timeline_;
  Rng rng_;
  Instant now_;
  Instant next_entitlement_;
  Instant woken_until_;
  Duration entitlement_every_;
  std::size_t left_ = 0;  // jobs not gone
  std::size_t waiting_ = 0;
  std::int64_t sequence_ = 0;
  std::vector<std::int32_t> refusals_;
  ReplayResult totals_;
};

}  // namespace fairlead::sim
