// When what waits will start (9.4): what is running and waiting, as a forecast counts it.
#include <algorithm>
#include <map>

#include "sched/core/core.h"
#include "sched/explain/text.h"
#include "sched/order/service_line.h"
#include "sched/plan/forecast.h"

namespace fairlead::sched {

// 9.4, of all that waits for the pool.
void Core::forecast(PoolCore& pool) {
  ensure_ordered(pool);
  divide(pool);
  const PoolId pool_id = pool.state().id;
  // Nodes by what GPUs they have: PoolState::group_at(), 1 + the class of their first device.
  const std::size_t groups = pool.state().group_count();
  ForecastRoom free;
  for (std::size_t g = 0; g < groups; ++g) free.milli.push_back(pool.state().free_in_group(g));
  for (const NodeId id : pool.members) {
    const NodeState& node = nodes_[id.index()];
    if (!node.usable()) continue;
    free.cpu += node.free.cpu;
    free.memory += node.free.memory;
  }
  Forecast forecast(now_, std::move(free));
  bool declared = true;
  for (const NodeId id : pool.members) {
    const NodeState& node = nodes_[id.index()];
    if (!node.usable()) continue;
    for (const TaskRef& t : node.tasks) {
      const WorkloadRecord& w = workloads_.get(t.workload);
      const TaskSlot& slot = task_slot(w, t);
      if (slot.ends == kNever) continue;
      const Runtime runtime = runtime_of(w);
      declared = declared && runtime.source == RuntimeSource::kMaximum;
      const TaskClass& task =
          classes_.get(shapes_.get(w.shape).classes[static_cast<std::size_t>(t.role)]);
      std::int64_t milli = 0;
      for (const DeviceClaim& claim : slot.placement.devices) milli += claim.milli.value;
      const Instant likely = slot.started + runtime.likely;
      forecast.ends(likely > now_ ? std::min(likely, slot.ends) : slot.ends, slot.ends,
                    pool.state().group_at(node.slot), milli, task.cpu, task.memory);
    }
  }

  std::map<RequirementId, std::size_t> needs;
  const auto need_of = [&](RequirementId id) {
    const auto [it, fresh] = needs.try_emplace(id, 0);
    if (!fresh) return it->second;
    Forecast::Need need;
    need.groups.assign(groups, false);
    for (const auto& [task_class, n] : pending_.requirement(id).needs) {
      const TaskClass& task = classes_.get(task_class);
      need.cpu += n * task.cpu;
      need.memory += n * task.memory;
      if (!task.needs_gpu()) continue;
      need.milli += n * task.milli * task.gpu_count;
      for (std::size_t c = 0; c < task.on_device.size(); ++c) {
        if (task.on_device[c].allowed && c + 1 < groups) need.groups[c + 1] = true;
      }
    }
    return it->second = forecast.need(std::move(need));
  };
  const auto demand_of = [&](RequirementId id) -> const ResourceVector& {
    return demand_in(pending_.requirement(id), pool_id);
  };
  const auto stands = [&](const Bucket& bucket) {
    const Requirement& requirement = pending_.requirement(bucket.requirement);
    if (requirement.kind != EntryKind::kGang) return false;
    const GateRequest gate{pool_id, bucket.queue, &demand_of(bucket.requirement),
                           requirement.non_preemptible, true};
    return gates_open(queues_, resources_, gate, now_, nullptr);
  };
  std::vector<WorkloadId> line;
  std::vector<bool> bounded;
  {
    ServiceLine service(queues_, pending_, pool_id, pool.state().capacity, demand_of, stands, now_);
    while (const auto head = service.next()) {
      const WorkloadId id = head->key.workload;
      const Runtime runtime = runtime_of(workloads_.get(id));
      bounded.push_back(declared);
      declared = declared && runtime.source == RuntimeSource::kMaximum;
      line.push_back(id);
      if (runtime.known()) {
        forecast.waits(need_of(head->requirement), runtime.likely, runtime.most);
      } else {
        forecast.waits(need_of(head->requirement), std::nullopt, std::nullopt);
      }
    }
  }
  line_.insert(line_.end(), line.begin(), line.end());
  const std::vector<Forecast::Range> ranges = forecast.play();
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i].index() >= starts_.size()) starts_.resize(line[i].index() + 1);
    StartRange& start = starts_[line[i].index()];
    const auto sooner = [](std::optional<Instant>& known, std::optional<Instant> other) {
      const bool is = other && (!known || *other < *known);
      if (is) known = other;
      return is;
    };
    sooner(start.earliest, ranges[i].earliest);
    if (sooner(start.latest, ranges[i].latest) || !start.latest) start.declared = bounded[i];
  }
}

void Core::forecast_all() {
  if (starts_known_) return;
  starts_known_ = true;
  starts_.clear();
  line_.clear();
  for (auto& pool : pools_) {
    if (!pending_.requirements_in(pool->state().id).empty()) forecast(*pool);
  }
}

std::vector<std::string> Core::waiting() {
  forecast_all();
  std::vector<bool> named(workloads_.slots());
  std::vector<std::string> names;
  const auto name = [&](WorkloadId id) {
    if (named[id.index()]) return;  // in several pools, or each of its roles grows
    named[id.index()] = true;
    names.push_back(workloads_.get(id).name);
  };
  for (const WorkloadId id : line_) name(id);
  std::vector<WorkloadId> rest;
  for (std::size_t i = 0; i < workloads_.slots(); ++i) {
    const WorkloadRecord& w = workloads_.get(WorkloadId(i));
    if (w.alive && w.running == 0 && !named[i]) rest.emplace_back(i);
  }
  std::sort(rest.begin(), rest.end(), [&](WorkloadId a, WorkloadId b) {
    return workloads_.get(a).sequence < workloads_.get(b).sequence;
  });
  for (const WorkloadId id : rest) name(id);
  return names;
}

// What is promised is what it starts at the latest.
ExpectedStart Core::expected_start(WorkloadId id) {
  forecast_all();
  ExpectedStart start;
  if (id.index() < starts_.size()) {
    start.earliest = starts_[id.index()].earliest;
    start.latest = starts_[id.index()].latest;
    start.declared = starts_[id.index()].declared;
  }
  if (const auto reservation = reservation_view(id)) {
    start.latest = reservation->start;
    if (start.earliest && *start.earliest > *start.latest) start.earliest = start.latest;
    start.reserved = true;
    start.declared = reservation->declared;
    start.nodes = reservation->nodes;
  }
  start.text = start_text(start);
  return start;
}

}  // namespace fairlead::sched
