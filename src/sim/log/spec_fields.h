// The fields of what events speak of: clusters, nodes, queues, workloads. See fields.h.
#pragma once

#include "model/cluster.h"
#include "sched/event.h"
#include "sched/scheduler.h"
#include "sim/log/fields.h"

namespace fairlead::sim {

template <>
inline constexpr auto kLastValue<DeviceHealth> = DeviceHealth::kUnhealthy;
template <>
inline constexpr auto kLastValue<TaintEffect> = TaintEffect::kNoExecute;
template <>
inline constexpr auto kLastValue<Strategy> = Strategy::kSpread;
template <>
inline constexpr auto kLastValue<UsageWindow> = UsageWindow::kTumbling;
template <>
inline constexpr auto kLastValue<BudgetPeriod> = BudgetPeriod::kTotal;
template <>
inline constexpr auto kLastValue<WorkloadKind> = WorkloadKind::kExternal;
template <>
inline constexpr auto kLastValue<Preemptibility> = Preemptibility::kSemiPreemptible;
template <>
inline constexpr auto kLastValue<NumaPolicy> = NumaPolicy::kRequired;
template <>
inline constexpr auto kLastValue<MatchOperator> = MatchOperator::kLess;
template <>
inline constexpr auto kLastValue<GpuRequestKind> = GpuRequestKind::kMig;
template <>
inline constexpr auto kLastValue<sched::TaskOutcome> = sched::TaskOutcome::kLost;
template <>
inline constexpr auto kLastValue<ErrorCode> = ErrorCode::kTimeout;

template <>
struct Fields<MigProfile> {
  static constexpr auto list =
      std::tuple{Field{"name", &MigProfile::name}, Field{"compute", &MigProfile::compute_slices},
                 Field{"slices", &MigProfile::memory_slices}, Field{"memory", &MigProfile::memory},
                 Field{"starts", &MigProfile::starts}};
};

template <>
struct Fields<DeviceClass> {
  static constexpr auto list =
      std::tuple{Field{"name", &DeviceClass::name}, Field{"memory", &DeviceClass::memory},
                 Field{"compute", &DeviceClass::mig_compute_slices},
                 Field{"slices", &DeviceClass::mig_memory_slices},
                 Field{"profiles", &DeviceClass::mig_profiles}};
};

template <>
struct Fields<DeviceSpec> {
  static constexpr auto list = std::tuple{Field{"id", &DeviceSpec::id},
                                          Field{"class", &DeviceSpec::device_class},
                                          Field{"numa", &DeviceSpec::numa},
                                          Field{"pcie", &DeviceSpec::pcie_switch},
                                          Field{"nvlink", &DeviceSpec::nvlink_island},
                                          Field{"mig", &DeviceSpec::mig_enabled},
                                          Field{"health", &DeviceSpec::health}};
};

template <>
struct Fields<PoolSpec> {
  static constexpr auto list = std::tuple{Field{"name", &PoolSpec::name},
                                          Field{"gpu", &PoolSpec::gpu_strategy},
                                          Field{"cpu", &PoolSpec::cpu_strategy},
                                          Field{"rates", &PoolSpec::exchange_rates},
                                          Field{"prices", &PoolSpec::prices},
                                          Field{"k", &PoolSpec::k_value_milli},
                                          Field{"halfLife", &PoolSpec::usage_half_life},
                                          Field{"window", &PoolSpec::usage_window},
                                          Field{"windowLength", &PoolSpec::usage_window_length},
                                          Field{"agingInterval", &PoolSpec::aging_interval},
                                          Field{"agingMax", &PoolSpec::aging_max},
                                          Field{"reservations", &PoolSpec::reservations},
                                          Field{"consolidate", &PoolSpec::consolidate}};
};

template <>
struct Fields<Taint> {
  static constexpr auto list = std::tuple{Field{"key", &Taint::key}, Field{"value", &Taint::value},
                                          Field{"effect", &Taint::effect}};
};

template <>
struct Fields<NumaCell> {
  static constexpr auto list = std::tuple{Field{"cpu", &NumaCell::cpu}};
};

template <>
struct Fields<NodeSpec> {
  static constexpr auto list = std::tuple{Field{"name", &NodeSpec::name},
                                          Field{"pool", &NodeSpec::pool},
                                          Field{"type", &NodeSpec::node_type},
                                          Field{"labels", &NodeSpec::labels},
                                          Field{"taints", &NodeSpec::taints},
                                          Field{"cpu", &NodeSpec::cpu},
                                          Field{"memory", &NodeSpec::memory},
                                          Field{"extended", &NodeSpec::extended},
                                          Field{"numa", &NodeSpec::numa},
                                          Field{"devices", &NodeSpec::devices},
                                          Field{"topology", &NodeSpec::topology},
                                          Field{"ready", &NodeSpec::ready},
                                          Field{"schedulable", &NodeSpec::schedulable}};
};

template <>
struct Fields<Entitlement> {
  static constexpr auto list =
      std::tuple{Field{"quota", &Entitlement::quota}, Field{"limit", &Entitlement::limit},
                 Field{"weight", &Entitlement::over_quota_weight}};
};

template <>
struct Fields<Budget> {
  static constexpr auto list =
      std::tuple{Field{"period", &Budget::period}, Field{"gpuHours", &Budget::gpu_milli_hours},
                 Field{"cost", &Budget::cost_milli}};
};

template <>
struct Fields<TimeWindow> {
  static constexpr auto list =
      std::tuple{Field{"from", &TimeWindow::from_minute}, Field{"to", &TimeWindow::to_minute}};
};

template <>
struct Fields<QueueSpec> {
  static constexpr auto list =
      std::tuple{Field{"name", &QueueSpec::name},
                 Field{"parent", &QueueSpec::parent},
                 Field{"rank", &QueueSpec::rank},
                 Field{"pools", &QueueSpec::pools},
                 Field{"reclaimMinRuntime", &QueueSpec::reclaim_min_runtime},
                 Field{"preemptMinRuntime", &QueueSpec::preempt_min_runtime},
                 Field{"budget", &QueueSpec::budget},
                 Field{"windows", &QueueSpec::windows},
                 Field{"expectedRuntime", &QueueSpec::default_expected_runtime}};
};

template <>
struct Fields<GpuRequest> {
  static constexpr auto list = std::tuple{Field{"kind", &GpuRequest::kind},
                                          Field{"count", &GpuRequest::count},
                                          Field{"portion", &GpuRequest::portion},
                                          Field{"memory", &GpuRequest::memory},
                                          Field{"mig", &GpuRequest::mig_profile},
                                          Field{"computeLimit", &GpuRequest::compute_limit},
                                          Field{"memoryLimit", &GpuRequest::memory_limit}};
};

template <>
struct Fields<TaskRequest> {
  static constexpr auto list =
      std::tuple{Field{"gpu", &TaskRequest::gpu}, Field{"cpu", &TaskRequest::cpu},
                 Field{"memory", &TaskRequest::memory}, Field{"extended", &TaskRequest::extended},
                 Field{"numa", &TaskRequest::numa}};
};

template <>
struct Fields<MatchTerm> {
  static constexpr auto list =
      std::tuple{Field{"key", &MatchTerm::key}, Field{"op", &MatchTerm::op},
                 Field{"values", &MatchTerm::values}};
};

template <>
struct Fields<Toleration> {
  static constexpr auto list =
      std::tuple{Field{"key", &Toleration::key}, Field{"value", &Toleration::value},
                 Field{"effect", &Toleration::effect}};
};

template <>
struct Fields<Constraints> {
  static constexpr auto list = std::tuple{
      Field{"types", &Constraints::node_types}, Field{"classes", &Constraints::device_classes},
      Field{"selector", &Constraints::node_selector}, Field{"affinity", &Constraints::affinity},
      Field{"tolerations", &Constraints::tolerations}};
};

template <>
struct Fields<TopologyGoal> {
  static constexpr auto list =
      std::tuple{Field{"within", &TopologyGoal::within}, Field{"prefer", &TopologyGoal::prefer},
                 Field{"fewest", &TopologyGoal::fewest_hosts}};
};

template <>
struct Fields<RoleSpec> {
  static constexpr auto list = std::tuple{Field{"name", &RoleSpec::name},
                                          Field{"count", &RoleSpec::count},
                                          Field{"min", &RoleSpec::min},
                                          Field{"request", &RoleSpec::request},
                                          Field{"constraints", &RoleSpec::constraints},
                                          Field{"topology", &RoleSpec::topology},
                                          Field{"segment", &RoleSpec::segment_size},
                                          Field{"segmentTopology", &RoleSpec::segment_topology}};
};

template <>
struct Fields<WorkloadSpec> {
  static constexpr auto list = std::tuple{Field{"name", &WorkloadSpec::name},
                                          Field{"queue", &WorkloadSpec::queue},
                                          Field{"kind", &WorkloadSpec::kind},
                                          Field{"priority", &WorkloadSpec::priority},
                                          Field{"preemptibility", &WorkloadSpec::preemptibility},
                                          Field{"pools", &WorkloadSpec::pools},
                                          Field{"roles", &WorkloadSpec::roles},
                                          Field{"topology", &WorkloadSpec::topology},
                                          Field{"completions", &WorkloadSpec::completions},
                                          Field{"parallelism", &WorkloadSpec::parallelism},
                                          Field{"backoffLimit", &WorkloadSpec::backoff_limit},
                                          Field{"expectedRuntime", &WorkloadSpec::expected_runtime},
                                          Field{"maxRuntime", &WorkloadSpec::max_runtime},
                                          Field{"grace", &WorkloadSpec::grace_period},
                                          Field{"staleness", &WorkloadSpec::staleness_grace_period},
                                          Field{"orderKey", &WorkloadSpec::order_key},
                                          Field{"user", &WorkloadSpec::user},
                                          Field{"template", &WorkloadSpec::template_name}};
};

template <>
struct Fields<ReservationSpec> {
  using T = ReservationSpec;
  static constexpr auto list =
      std::tuple{Field{"name", &T::name}, Field{"nodes", &T::nodes}, Field{"from", &T::from},
                 Field{"until", &T::until}, Field{"queues", &T::queues}};
};

template <>
struct Fields<RunningTask> {
  static constexpr auto list =
      std::tuple{Field{"role", &RunningTask::role}, Field{"index", &RunningTask::index},
                 Field{"node", &RunningTask::node}, Field{"devices", &RunningTask::devices},
                 Field{"started", &RunningTask::started}};
};

template <>
struct Fields<SucceededTask> {
  static constexpr auto list =
      std::tuple{Field{"role", &SucceededTask::role}, Field{"index", &SucceededTask::index}};
};

template <>
struct Fields<WorkloadEntry> {
  static constexpr auto list = std::tuple{
      Field{"spec", &WorkloadEntry::spec},           Field{"submitted", &WorkloadEntry::submitted},
      Field{"started", &WorkloadEntry::started},     Field{"running", &WorkloadEntry::running},
      Field{"succeeded", &WorkloadEntry::succeeded}, Field{"failures", &WorkloadEntry::failures}};
};

template <>
struct Fields<sched::SchedulerOptions> {
  using T = sched::SchedulerOptions;
  static constexpr auto list = std::tuple{Field{"placement", &T::placement},
                                          Field{"seed", &T::seed},
                                          Field{"searchSteps", &T::search_steps},
                                          Field{"reclaim", &T::reclaim},
                                          Field{"preempt", &T::preempt},
                                          Field{"consolidate", &T::consolidate},
                                          Field{"plan", &T::plan},
                                          Field{"restartCost", &T::restart_cost}};
};

template <>
struct Fields<Error> {
  static constexpr auto list = std::tuple{
      Field{"code", &Error::code}, Field{"message", &Error::message}, Field{"where", &Error::where},
      Field{"field", &Error::field}, Field{"cure", &Error::cure}};
};

}  // namespace fairlead::sim
