#include "sched/core/checks.h"

#include <algorithm>
#include <set>

#include "base/decimal.h"
#include "base/wide.h"
#include "sched/share/division.h"

namespace fairlead::sched {
namespace {

constexpr std::size_t kMostRoles = 256;
constexpr std::size_t kMostDevices = 1024;  // of a node
constexpr std::size_t kMostCells = 64;
constexpr std::int32_t kMostSlices = 16;
constexpr std::int64_t kMostBytes = kMaxAmount << 16;
constexpr std::int64_t kMostRate = 1'000'000;
constexpr std::int64_t kMostPrice = 1'000'000'000;
constexpr std::int64_t kMostK = 1'000'000;
constexpr std::int32_t kMostPriority = 1'000'000'000;
constexpr std::int32_t kMostRank = 1'000'000;
constexpr std::int32_t kMinutesOfWeek = 7 * 24 * 60;
constexpr Duration kLongest = hours(24 * 366 * 100);

// Refuses what lies outside of [least, most]. `places`: decimals of the number as it is written.
class Checks {
 public:
  explicit Checks(std::string subject, std::string at = {})
      : subject_(std::move(subject)), at_(std::move(at)) {}

  Error error(ErrorCode code, const std::string& field, const std::string& message,
              std::string cure = {}) const {
    Error error;
    error.code = code;
    error.field = at_ + field;
    error.message = subject_ + ": " + message;
    error.cure = std::move(cure);
    return error;
  }
  Result<void> number(const std::string& field, std::int64_t value, std::int64_t least,
                      std::int64_t most, int places = 0) const {
    if (value >= least && value <= most) return {};
    return outside(field, decimal_text(value, places),
                   decimal_text(least, places) + " to " + decimal_text(most, places));
  }
  Result<void> number(const std::string& field, const std::optional<std::int64_t>& value,
                      std::int64_t least, std::int64_t most, int places = 0) const {
    return value ? number(field, *value, least, most, places) : Result<void>{};
  }
  Result<void> duration(const std::string& field, Duration value, Duration least) const {
    if (value >= least && value <= kLongest) return {};
    // Negative times have no text of their own.
    return outside(field, std::to_string(value.ms) + "ms",
                   (least.ms > 0 ? "above 0" : "0") + std::string(" to 100 years"));
  }
  Result<void> duration(const std::string& field, const std::optional<Duration>& value) const {
    return value ? duration(field, *value, Duration{0}) : Result<void>{};
  }
  // A named resource that is not one of those with a field of their own.
  Result<void> extended(const std::string& name, std::int64_t amount) const {
    if (name.empty() || name == "gpu" || name == "cpu" || name == "memory") {
      return fail(error(ErrorCode::kInvalidArgument, "resources[" + name + "]",
                        name.empty() ? "a named resource needs a name"
                                     : "'" + name + "' is no named resource, it has its own field",
                        name.empty() ? "" : "state it as " + name + ", or choose another name"));
    }
    return number("resources[" + name + "]", amount, 0, kMaxAmount);
  }

 private:
  Result<void> outside(const std::string& field, const std::string& value,
                       const std::string& allowed) const {
    return fail(
        error(ErrorCode::kOutOfRange, field, field + " is " + value + "; allowed are " + allowed));
  }

  std::string subject_;
  std::string at_;
};

Result<void> check_request(const Checks& checks, const TaskRequest& request) {
  const GpuRequest& gpu = request.gpu;
  if (!gpu.none()) FAIRLEAD_TRY(checks.number("gpu.count", gpu.count, 1, kMostDevices));
  if (gpu.kind == GpuRequestKind::kPortion)
    FAIRLEAD_TRY(checks.number("gpu.portion", gpu.portion.value, 1, kMilli - 1, 3));
  if (gpu.kind == GpuRequestKind::kMemory)
    FAIRLEAD_TRY(checks.number("gpu.memory", gpu.memory.value, 1, kMaxAmount));
  if (gpu.kind == GpuRequestKind::kMig && gpu.mig_profile.empty()) {
    return fail(checks.error(ErrorCode::kInvalidArgument, "gpu.mig", "names no MIG profile"));
  }
  const bool fraction = gpu.kind == GpuRequestKind::kPortion || gpu.kind == GpuRequestKind::kMemory;
  if ((gpu.compute_limit || gpu.memory_limit) && !fraction) {
    return fail(checks.error(ErrorCode::kInvalidArgument, "gpu.limit",
                             "a limit goes with a portion or a memory request only (2.4)"));
  }
  if (gpu.compute_limit) {
    const std::int64_t least = std::max<std::int64_t>(1, gpu.portion.value);
    FAIRLEAD_TRY(checks.number("gpu.limit", gpu.compute_limit->value, least, kMilli, 3));
  }
  if (gpu.memory_limit) {
    const std::int64_t least = std::max<std::int64_t>(1, gpu.memory.value);
    FAIRLEAD_TRY(checks.number("gpu.limit", gpu.memory_limit->value, least, kMaxAmount));
  }
  FAIRLEAD_TRY(checks.number("cpu", request.cpu.value, 0, kMaxAmount, 3));
  FAIRLEAD_TRY(checks.number("memory", request.memory.value, 0, kMostBytes));
  for (const auto& [name, amount] : request.extended) FAIRLEAD_TRY(checks.extended(name, amount));
  return {};
}

}  // namespace

Result<void> check_device_class(const DeviceClass& c) {
  const Checks checks("device class '" + c.name + "'");
  if (c.name.empty()) return fail(ErrorCode::kInvalidArgument, "a device class needs a name");
  FAIRLEAD_TRY(checks.number("memory", c.memory.value, 1, kMaxAmount));
  FAIRLEAD_TRY(checks.number("mig.computeSlices", c.mig_compute_slices, 0, kMostSlices));
  FAIRLEAD_TRY(checks.number("mig.memorySlices", c.mig_memory_slices, 0, kMostSlices));
  std::set<std::string> names;
  for (const MigProfile& p : c.mig_profiles) {
    const Checks of("device class '" + c.name + "'", "mig.profiles[" + p.name + "].");
    if (p.name.empty() || !names.insert(p.name).second) {
      return fail(of.error(ErrorCode::kInvalidArgument, "name",
                           "a MIG profile has no name, or that of another"));
    }
    FAIRLEAD_TRY(of.number("computeSlices", p.compute_slices, 0, c.mig_compute_slices));
    FAIRLEAD_TRY(of.number("memorySlices", p.memory_slices, 1, c.mig_memory_slices));
    FAIRLEAD_TRY(of.number("memory", p.memory.value, 1, c.memory.value));
    if (p.starts.empty())
      return fail(of.error(ErrorCode::kInvalidArgument, "starts", "an instance starts nowhere"));
    for (const std::int32_t start : p.starts)
      FAIRLEAD_TRY(of.number("starts", start, 0, c.mig_memory_slices - p.memory_slices));
  }
  return {};
}

Result<void> check_pool(const PoolSpec& pool) {
  if (pool.name.empty()) return fail(ErrorCode::kInvalidArgument, "a pool needs a name");
  const Checks checks("pool '" + pool.name + "'");
  for (const auto& [name, rate] : pool.exchange_rates)
    FAIRLEAD_TRY(checks.number("exchangeRates[" + name + "]", rate, 1, kMostRate, 3));
  for (const auto& [name, price] : pool.prices)
    FAIRLEAD_TRY(checks.number("prices[" + name + "]", price, 0, kMostPrice, 3));
  FAIRLEAD_TRY(checks.number("usage.k", pool.k_value_milli, 0, kMostK, 3));
  FAIRLEAD_TRY(checks.duration("usage.halfLife", pool.usage_half_life, Duration{1}));
  FAIRLEAD_TRY(checks.duration("usage.windowLength", pool.usage_window_length, Duration{1}));
  FAIRLEAD_TRY(checks.duration("aging.interval", pool.aging_interval, Duration{0}));
  FAIRLEAD_TRY(checks.number("aging.max", pool.aging_max, 0, kMostPriority));
  FAIRLEAD_TRY(checks.number("reservations", pool.reservations, 0, kMostReservations));
  if ((pool.aging_interval.ms > 0) != (pool.aging_max > 0)) {
    return fail(checks.error(ErrorCode::kInvalidArgument, "aging",
                             "aging.interval is " + to_text(pool.aging_interval) +
                                 " and aging.max is " + std::to_string(pool.aging_max) +
                                 "; both lie above 0, or both are 0 (off)"));
  }
  return {};
}

Result<void> check_node(const NodeSpec& node) {
  if (node.name.empty()) return fail(ErrorCode::kInvalidArgument, "a node needs a name");
  const Checks checks("node '" + node.name + "'");
  FAIRLEAD_TRY(checks.number("cpu", node.cpu.value, 0, kMaxAmount, 3));
  FAIRLEAD_TRY(checks.number("memory", node.memory.value, 0, kMostBytes));
  FAIRLEAD_TRY(checks.number("numa", std::ssize(node.numa), 0, kMostCells));
  for (const NumaCell& cell : node.numa)
    FAIRLEAD_TRY(checks.number("numa", cell.cpu.value, 0, kMaxAmount, 3));
  for (const auto& [name, amount] : node.extended) FAIRLEAD_TRY(checks.extended(name, amount));
  FAIRLEAD_TRY(checks.number("gpus", std::ssize(node.devices), 0, kMostDevices));
  std::set<std::string> ids;
  for (const DeviceSpec& d : node.devices) {
    const Checks of("node '" + node.name + "'", "gpus[" + d.id + "].");
    if (!ids.insert(d.id).second) {
      return fail(
          of.error(ErrorCode::kInvalidArgument, "id", "two devices are named '" + d.id + "'"));
    }
    const auto cells =
        static_cast<std::int64_t>(node.numa.empty() ? kMostCells + 1 : node.numa.size());
    FAIRLEAD_TRY(of.number("numa", d.numa, -1, cells - 1));
    FAIRLEAD_TRY(of.number("pcieSwitch", d.pcie_switch, -1, kMostDevices));
    FAIRLEAD_TRY(of.number("nvlinkIsland", d.nvlink_island, -1, kMostDevices));
  }
  return {};
}

Result<void> check_queue(const QueueSpec& queue) {
  if (queue.name.empty()) return fail(ErrorCode::kInvalidArgument, "a queue needs a name");
  const Checks checks("queue '" + queue.name + "'");
  FAIRLEAD_TRY(checks.number("rank", queue.rank, -kMostRank, kMostRank));
  for (const auto& [pool, entitlements] : queue.pools) {
    for (const auto& [resource, x] : entitlements) {
      const Checks of("queue '" + queue.name + "'", "pools[" + pool + "].");
      const std::string in = "[" + resource + "]";
      const int places = resource == "gpu" || resource == "cpu" ? 3 : 0;
      for (const auto& [field, amount] :
           {std::pair{"quota", x.quota}, std::pair{"limit", x.limit}}) {
        if (amount == kUnlimited) continue;
        FAIRLEAD_TRY(of.number(field + in, amount, 0, kMaxDivisible, places));
      }
      FAIRLEAD_TRY(
          of.number("overQuotaWeight" + in, x.over_quota_weight, 0, kMaxDivisionWeight, 3));
    }
  }
  FAIRLEAD_TRY(checks.duration("reclaimMinRuntime", queue.reclaim_min_runtime));
  FAIRLEAD_TRY(checks.duration("preemptMinRuntime", queue.preempt_min_runtime));
  FAIRLEAD_TRY(checks.duration("defaultExpectedRuntime", queue.default_expected_runtime));
  if (queue.budget) {
    FAIRLEAD_TRY(checks.number("budget.gpuHours", queue.budget->gpu_milli_hours, 0, kMaxAmount, 3));
    FAIRLEAD_TRY(checks.number("budget.cost", queue.budget->cost_milli, 0, kMaxAmount, 3));
  }
  for (const TimeWindow& window : queue.windows) {
    FAIRLEAD_TRY(checks.number("windows.from", window.from_minute, 0, kMinutesOfWeek));
    FAIRLEAD_TRY(checks.number("windows.to", window.to_minute, 0, kMinutesOfWeek));
  }
  return {};
}

Result<void> check_priority(const std::string& workload, std::int32_t priority) {
  return Checks("workload '" + workload + "'")
      .number("priority", priority, -kMostPriority, kMostPriority);
}

Result<void> check_workload(const WorkloadSpec& spec) {
  const Checks checks("workload '" + spec.name + "'");
  FAIRLEAD_TRY(check_priority(spec.name, spec.priority));
  FAIRLEAD_TRY(checks.duration("expectedRuntime", spec.expected_runtime));
  FAIRLEAD_TRY(checks.duration("maxRuntime", spec.max_runtime));
  FAIRLEAD_TRY(checks.duration("gracePeriod", spec.grace_period, Duration{0}));
  if (spec.staleness_grace_period != kNeverStale) {
    FAIRLEAD_TRY(checks.duration("stalenessGracePeriod", spec.staleness_grace_period, Duration{0}));
  }
  FAIRLEAD_TRY(checks.number("completions", spec.completions, 0, kMostTasks));
  FAIRLEAD_TRY(checks.number("parallelism", spec.parallelism, 0, kMostTasks));
  FAIRLEAD_TRY(checks.number("backoffLimit", spec.backoff_limit, 0, INT32_MAX));
  FAIRLEAD_TRY(checks.number("roles", std::ssize(spec.roles), 1, kMostRoles));
  if (spec.independent_tasks() && (spec.roles.size() != 1 || spec.parallelism < 1)) {
    return fail(
        checks.error(ErrorCode::kInvalidArgument, "completions",
                     "independent tasks are of one role, with a parallelism of at least 1"));
  }
  if (spec.independent_tasks() && spec.roles.front().count != spec.parallelism) {
    const std::string count = std::to_string(spec.roles.front().count);
    const std::string at_once = std::to_string(spec.parallelism);
    return fail(checks.error(ErrorCode::kInvalidArgument, "parallelism",
                             "the count of the role is " + count + " and parallelism is " +
                                 at_once +
                                 "; with completions both say how many tasks run at once (8.2)",
                             "state parallelism alone"));
  }
  if (!spec.independent_tasks() && spec.parallelism != 0) {
    return fail(checks.error(ErrorCode::kInvalidArgument, "parallelism",
                             "parallelism is " + std::to_string(spec.parallelism) +
                                 " without completions, whose tasks it counts (8.2)",
                             "add completions, or use count"));
  }
  std::set<std::string> names;
  std::int64_t tasks = 0;
  Int128 devices = 0;
  for (const RoleSpec& role : spec.roles) {
    const std::string at = "roles[" + role.name + "]";
    const Checks of("workload '" + spec.name + "'", at + ".");
    if (!names.insert(role.name).second) {
      return fail(
          checks.error(ErrorCode::kInvalidArgument, at, "two roles are named '" + role.name + "'"));
    }
    FAIRLEAD_TRY(of.number("count", role.count, 1, kMostTasks));
    FAIRLEAD_TRY(of.number("min", role.min, 0, role.count));
    FAIRLEAD_TRY(of.number("segments.size", role.segment_size, 0, kMostTasks));
    FAIRLEAD_TRY(check_request(of, role.request));
    tasks += role.count;
    if (!role.request.gpu.none()) devices += Int128{role.count} * role.request.gpu.count;
  }
  FAIRLEAD_TRY(checks.number("tasks", tasks, 1, kMostTasks));
  return checks.number("devices", static_cast<std::int64_t>(devices), 0, std::int64_t{1} << 24);
}

Result<void> check_reservation(const ReservationSpec& reservation) {
  if (reservation.name.empty())
    return fail(ErrorCode::kInvalidArgument, "a reservation needs a name");
  const Checks checks("reservation '" + reservation.name + "'");
  FAIRLEAD_TRY(checks.number("from", reservation.from.ms, -kMaxInstant.ms, kMaxInstant.ms));
  FAIRLEAD_TRY(checks.number("until", reservation.until.ms, -kMaxInstant.ms, kMaxInstant.ms));
  if (reservation.from >= reservation.until) {
    return fail(checks.error(ErrorCode::kInvalidArgument, "until",
                             "it ends at " + to_rfc3339(reservation.until) +
                                 ", which is not after its begin at " +
                                 to_rfc3339(reservation.from)));
  }
  if (reservation.nodes.empty()) {
    return fail(checks.error(ErrorCode::kInvalidArgument, "nodes",
                             "none is named; a reservation keeps whole nodes"));
  }
  return {};
}

Result<void> check_mix(const MixStated& mix) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < mix.entries.size(); ++i) {
    const Checks checks("the mix", "entries[" + std::to_string(i) + "].");
    const MixStated::Entry& entry = mix.entries[i];
    FAIRLEAD_TRY(checks.number("count", entry.count, 0, kMaxAmount - sum));
    FAIRLEAD_TRY(check_request(checks, entry.request));
    sum += entry.count;
  }
  return {};
}

}  // namespace fairlead::sched
