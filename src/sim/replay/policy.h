// Service-order policies by name: which job of a queue is served first, as the order key that the
// scheduling core compares (lower first, after priority).
//
//   default   the core's own order (rule 4): shares between projects, submit time inside one
//   fifo      one line for everybody, by submit time; nothing that runs is stopped
//   planner   one line for everybody, and jobs declare how long they run (rule 9): by submit time
//             plus 50 times their time × GPUs, so that small ones come first and nobody waits for
//             ever; nothing that runs is stopped
//   srtf      shortest remaining time first
//   srsf      shortest remaining service (time × GPUs) first
//   tiresias  attained service in three levels, demoted at 3,250 and 7,200 GPU-seconds, those that
//             run before those that wait (Tiresias-L, NSDI'19, with Muri's thresholds)
//   las       least attained service in four levels that end at 40, 700 and 2,000 GPU-hours; inside
//             a level the job with the fewest GPUs first, then the older one
//
// srtf and srsf read the future (the job's remaining time), planner what is declared; the others do
// not. The last four stop
// running jobs for ones that come first.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace fairlead::sim {

struct JobProgress {
  std::int64_t milli = 1000;  // milli-GPU; CPU-only jobs count as one
  Duration remaining;
  Duration attained;          // time on its devices so far
  std::int64_t sequence = 0;  // place in its list: newer with each submit and each demotion
  std::int64_t arrival = 0;   // number in the order of submits
  bool running = false;
  Instant submitted;
};

enum class PolicyKind : std::uint8_t { kDefault, kFifo, kPlanner, kSrtf, kSrsf, kTiresias, kLas };

class ServicePolicy {
 public:
  // Error: kInvalidArgument, naming those that there are.
  static Result<ServicePolicy> named(std::string_view name);
  static std::vector<std::string> names();

  PolicyKind kind() const { return kind_; }
  const std::string& name() const { return name_; }
  bool one_line() const { return kind_ == PolicyKind::kFifo || kind_ == PolicyKind::kPlanner; }
  bool preemptive() const { return kind_ >= PolicyKind::kSrtf; }

  // Level of attained service, 0 for policies without levels.
  int level(const JobProgress& job) const;

  // Lower is served first.
  std::int64_t order_key(const JobProgress& job) const;

  // Running time after which the job's level changes; nullopt if it never does.
  std::optional<Duration> until_demotion(const JobProgress& job) const;

 private:
  PolicyKind kind_ = PolicyKind::kDefault;
  std::string name_;
  std::span<const std::int64_t> limits_;  // attained service in GPU-ms at which a level ends
};

}  // namespace fairlead::sim
