#include "sched/scheduler.h"

#include "sched/core/core.h"

namespace fairlead::sched {

Scheduler::Scheduler(std::unique_ptr<Core> core) : core_(std::move(core)) {}
Scheduler::Scheduler(Scheduler&&) noexcept = default;
Scheduler& Scheduler::operator=(Scheduler&&) noexcept = default;
Scheduler::~Scheduler() = default;

Result<Scheduler> Scheduler::create(SchedulerOptions options) {
  FAIRLEAD_TRY(make_scorer(options.placement, PoolSpec{}));
  return Scheduler(std::make_unique<Core>(std::move(options)));
}

Result<void> Scheduler::apply(Instant now, const Event& event) {
  return core_->apply(now, event);
}
std::vector<Decision> Scheduler::decide(Instant now) {
  return core_->decide(now);
}
Instant Scheduler::next_wakeup() const {
  return core_->next_wakeup();
}
Result<void> Scheduler::admit(const WorkloadSpec& workload) const {
  return core_->admit(workload);
}
Result<Explanation> Scheduler::explain(const std::string& workload) const {
  return core_->explain(workload);
}

const std::string& Scheduler::workload_name(WorkloadId id) const {
  return core_->workloads().get(id).name;
}
const std::string& Scheduler::node_name(NodeId id) const {
  return core_->node(id).spec.name;
}
const std::string& Scheduler::pool_name(PoolId id) const {
  return core_->pool_name(id);
}

std::optional<WorkloadView> Scheduler::workload(const std::string& name) const {
  return core_->workload_view(name);
}
std::optional<QueueView> Scheduler::queue(const std::string& name, const std::string& pool) const {
  return core_->queue_view(name, pool);
}
std::optional<NodeView> Scheduler::node(const std::string& name) const {
  return core_->node_view(name);
}
std::optional<PoolView> Scheduler::pool(const std::string& name) const {
  return core_->pool_view(name);
}
std::vector<UsageRestored> Scheduler::usage() const {
  return core_->usage();
}
std::vector<RuntimesRestored> Scheduler::runtimes() const {
  return core_->runtimes();
}
std::optional<Duration> Scheduler::usual_runtime(const std::string& workload) const {
  return core_->usual_runtime(workload);
}
std::vector<KeptView> Scheduler::kept_by_people() const {
  return core_->kept_by_people();
}
std::vector<std::string> Scheduler::waiting() const {
  return core_->waiting();
}
std::vector<NodeDemandView> Scheduler::node_demand() const {
  return core_->node_demand();
}
std::vector<std::string> Scheduler::workload_names() const {
  return core_->workload_names();
}
std::vector<std::string> Scheduler::queue_names() const {
  return core_->queue_names();
}
std::vector<std::string> Scheduler::node_names() const {
  return core_->node_names();
}
std::vector<std::string> Scheduler::pool_names() const {
  return core_->pool_names();
}
std::size_t Scheduler::pending_count() const {
  return core_->pending_count();
}
std::size_t Scheduler::running_count() const {
  return core_->running_count();
}
Result<void> Scheduler::verify() const {
  return core_->verify();
}
std::vector<std::pair<std::string, std::int64_t>> Scheduler::counters() const {
  return core_->counters();
}

}  // namespace fairlead::sched
