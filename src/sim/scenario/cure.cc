#include "sim/scenario/cure.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "model/units.h"

namespace fairlead::sim {
namespace {

using sched::Change;
using sched::ChangeKind;
using Steps = std::vector<CureStep>;

std::unexpected<Error> missing(const Change& change, const char* what) {
  return fail(ErrorCode::kNotFound,
              fmt::format("the change '{}' is about '{}', which is no {}",
                          sched::change_kind_name(change.kind), change.target, what));
}

// Quota or limit of a queue, in the first pool of the workload.
Result<Steps> entitlement(const Change& change, const std::string& workload, const Symbols& symbols,
                          Instant now) {
  const auto it = symbols.queues.find(change.target);
  if (it == symbols.queues.end()) return missing(change, "queue");
  QueueSpec queue = it->second;
  const std::string pool = symbols.workloads.at(workload).pools.front();
  Entitlement& e = queue.pools[pool]
                       .try_emplace(change.resource, default_entitlement(change.resource))
                       .first->second;
  (change.kind == ChangeKind::kRaiseLimit ? e.limit : e.quota) = change.amount;
  return Steps{{now, sched::QueueUpserted{std::move(queue)}}};
}

void lower(TaskRequest& request, const Change& change) {
  if (change.resource == "cpu") {
    request.cpu = MilliCpu(change.amount);
  } else if (change.resource == "memory") {
    request.memory = Bytes(change.amount);
  } else if (change.resource == "gpu") {
    request.gpu.count = static_cast<std::int32_t>(change.amount);
  } else if (change.resource == "gpu-portion") {
    request.gpu.portion = MilliGpu(change.amount);
  } else if (change.resource == "gpu-memory") {
    request.gpu.memory = MiB(change.amount);
  } else {
    request.extended[change.resource] = change.amount;
  }
}

// The workload submitted again, changed.
Result<Steps> resubmitted(const Change& change, const std::string& workload, const Symbols& symbols,
                          Instant now) {
  WorkloadSpec spec = symbols.workloads.at(workload);
  if (change.kind == ChangeKind::kMakePreemptible) {
    spec.preemptibility = Preemptibility::kPreemptible;
  }
  if (change.kind == ChangeKind::kEndBy) {
    spec.max_runtime = milliseconds(change.amount);
    if (spec.expected_runtime) {
      spec.expected_runtime = std::min(*spec.expected_runtime, *spec.max_runtime);
    }
  }
  bool found = change.target == workload || change.kind == ChangeKind::kMakePreemptible;
  if (change.kind == ChangeKind::kRelaxTopology && change.target == workload) {
    spec.topology.within.clear();
  }
  for (RoleSpec& role : spec.roles) {
    if (role.name != change.target) continue;
    found = true;
    if (change.kind == ChangeKind::kLowerRequest) lower(role.request, change);
    if (change.kind == ChangeKind::kRelaxTopology) {
      role.topology.within.clear();
      role.segment_topology.within.clear();
    }
  }
  if (!found) return missing(change, "role of it");
  return Steps{{now, sched::WorkloadRemoved{workload}},
               {now, sched::WorkloadSubmitted{std::move(spec)}}};
}

}  // namespace

Result<std::vector<CureStep>> cure_events(const Change& change, const std::string& workload,
                                          const Symbols& symbols, Instant now,
                                          const std::vector<std::string>& holders) {
  switch (change.kind) {
    case ChangeKind::kRaiseLimit:
    case ChangeKind::kRaiseQuota:
      return entitlement(change, workload, symbols, now);
    case ChangeKind::kMakePreemptible:
    case ChangeKind::kLowerRequest:
    case ChangeKind::kRelaxTopology:
    case ChangeKind::kEndBy:
      return resubmitted(change, workload, symbols, now);
    case ChangeKind::kLowerCount: {
      sched::WorkloadChanged event;
      event.workload = workload;
      const auto amount = static_cast<std::int32_t>(change.amount);
      event.roles.push_back({change.target, amount, amount});
      return Steps{{now, std::move(event)}};
    }
    case ChangeKind::kFreeOnNode: {
      Steps steps;
      for (const std::string& holder : holders) {
        steps.push_back({now, sched::WorkloadRemoved{holder}});
      }
      if (steps.empty()) return missing(change, "node that holds something");
      return steps;
    }
    case ChangeKind::kAddNodes: {
      const auto it = symbols.nodes.find(change.target);
      if (it == symbols.nodes.end()) return missing(change, "node");
      Steps steps;
      NodeSpec node = it->second;
      node.ready = node.schedulable = true;
      for (DeviceSpec& device : node.devices) device.health = DeviceHealth::kHealthy;
      for (std::int64_t i = 0; i < change.amount; ++i) {
        node.name = fmt::format("{}-copy-{}", change.target, i + 1);
        steps.push_back({now, sched::NodeUpserted{node}});
      }
      return steps;
    }
    case ChangeKind::kWaitUntil:
      return Steps{{change.at, sched::TimePassed{}}};
    case ChangeKind::kUncordon: {
      if (!symbols.nodes.contains(change.target)) return missing(change, "node");
      return Steps{{now, sched::NodeConditionChanged{change.target, true, true}}};
    }
  }
  return missing(change, "known kind");
}

}  // namespace fairlead::sim
