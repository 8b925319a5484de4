#include "sim/replay/policy.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "base/nearest.h"
#include "base/wide.h"

namespace fairlead::sim {
namespace {

constexpr std::array<const char*, 7> kNames{"default", "fifo",     "planner", "srtf",
                                            "srsf",    "tiresias", "las"};

constexpr std::int64_t kGpuSecond = 1000;  // GPU-ms
constexpr std::int64_t kGpuHour = 3600 * kGpuSecond;
constexpr std::array<std::int64_t, 2> kTiresiasLimits{3'250 * kGpuSecond, 7'200 * kGpuSecond};
constexpr std::array<std::int64_t, 3> kLasLimits{40 * kGpuHour, 700 * kGpuHour, 2000 * kGpuHour};

// How much later a job that takes a GPU-hour more may be served: hours. Chosen on Muri's traces.
constexpr std::int64_t kPatience = 50;

// Room in an order key: levels above, then one more criterion, then the sequence.
constexpr int kLevelShift = 56;
constexpr int kSecondShift = 32;
constexpr std::int64_t kMaxSecond = (std::int64_t{1} << (kLevelShift - kSecondShift)) - 1;

std::int64_t service(const JobProgress& job, Duration time) {
  return mul_div_floor(time.ms, job.milli, 1000);
}

}  // namespace

std::vector<std::string> ServicePolicy::names() {
  return {kNames.begin(), kNames.end()};
}

Result<ServicePolicy> ServicePolicy::named(std::string_view name) {
  const auto it = std::find(kNames.begin(), kNames.end(), name);
  if (it == kNames.end()) {
    const std::vector<std::string> known = names();
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("policy '{}' is not known; there are {}", name, listing(known)));
  }
  ServicePolicy policy;
  policy.kind_ = static_cast<PolicyKind>(it - kNames.begin());
  policy.name_ = name;
  if (policy.kind_ == PolicyKind::kTiresias) policy.limits_ = kTiresiasLimits;
  if (policy.kind_ == PolicyKind::kLas) policy.limits_ = kLasLimits;
  return policy;
}

int ServicePolicy::level(const JobProgress& job) const {
  const std::int64_t attained = service(job, job.attained);
  return static_cast<int>(std::upper_bound(limits_.begin(), limits_.end(), attained) -
                          limits_.begin());
}

std::int64_t ServicePolicy::order_key(const JobProgress& job) const {
  const std::int64_t level_part = std::int64_t{level(job)} << kLevelShift;
  switch (kind_) {
    case PolicyKind::kDefault:
    case PolicyKind::kFifo:
      return 0;
    case PolicyKind::kPlanner:
      return job.submitted.ms + kPatience * service(job, job.remaining);
    case PolicyKind::kSrtf:
      return job.remaining.ms;
    case PolicyKind::kSrsf:
      return service(job, job.remaining);
    case PolicyKind::kTiresias:
      return level_part + (std::int64_t{job.running ? 0 : 1} << kSecondShift) + job.sequence;
    case PolicyKind::kLas:
      return level_part + (std::min(job.milli, kMaxSecond) << kSecondShift) + job.arrival;
  }
  return 0;
}

std::optional<Duration> ServicePolicy::until_demotion(const JobProgress& job) const {
  const auto at = static_cast<std::size_t>(level(job));
  if (at >= limits_.size()) return std::nullopt;
  const std::int64_t whole = mul_div_ceil(limits_[at], 1000, job.milli);
  return Duration{std::max<std::int64_t>(1, whole - job.attained.ms)};
}

}  // namespace fairlead::sim
