#include "cures.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace fairlead::property {
namespace {

using sched::Change;
using sched::ChangeKind;

// A copy of the driver's state, by telling a new core the same.
class Copy {
 public:
  explicit Copy(const Driver& driver)
      : core_(replay(driver.history()).scheduler), now_(driver.now()) {}

  void tell(const sched::Event& event) {
    const auto applied = core_.apply(now_, event);
    if (!applied && error_.empty()) error_ = applied.error().text();
  }
  // What else started beside `workload`.
  bool decide(const std::string& workload) {
    bool others = false;
    for (const sched::Decision& decision : core_.decide(now_)) {
      const auto* started = std::get_if<sched::Started>(&decision);
      others = others || (started && core_.workload_name(started->workload) != workload);
    }
    return others;
  }
  void wait_until(Instant at) {
    now_ = std::max(now_, at);
    tell(sched::TimePassed{});
  }
  std::int32_t running(const std::string& workload) const {
    const auto view = core_.workload(workload);
    return view ? view->running : 0;
  }
  sched::Scheduler& core() { return core_; }
  const std::string& error() const { return error_; }

 private:
  sched::Scheduler core_;
  Instant now_;
  std::string error_;
};

void lower(TaskRequest& request, const Change& change) {
  if (change.resource == "gpu") {
    request.gpu.count = static_cast<std::int32_t>(change.amount);
  } else if (change.resource == "gpu-portion") {
    request.gpu.portion = MilliGpu(change.amount);
  } else if (change.resource == "gpu-memory") {
    request.gpu.memory = MiB(change.amount);
  } else if (change.resource == "cpu") {
    request.cpu = MilliCpu(change.amount);
  } else if (change.resource == "memory") {
    request.memory = Bytes(change.amount);
  } else {
    request.extended[change.resource] = change.amount;
  }
}

// The workload as the change would have it; nothing if the change names no part of it.
std::optional<WorkloadSpec> changed(WorkloadSpec spec, const Change& change) {
  bool found = false;
  if (change.kind == ChangeKind::kMakePreemptible) {
    spec.preemptibility = Preemptibility::kPreemptible;
    found = change.target == spec.name;
  }
  if (change.kind == ChangeKind::kEndBy && change.target == spec.name) {
    spec.max_runtime = milliseconds(change.amount);
    spec.expected_runtime.reset();
    found = true;
  }
  if (change.kind == ChangeKind::kRelaxTopology && change.target == spec.name) {
    spec.topology.within.clear();
    found = true;
  }
  for (RoleSpec& role : spec.roles) {
    if (role.name != change.target) continue;
    if (change.kind == ChangeKind::kLowerRequest) lower(role.request, change);
    if (change.kind == ChangeKind::kLowerCount) {
      role.count = role.min = static_cast<std::int32_t>(change.amount);
    }
    if (change.kind == ChangeKind::kRelaxTopology) {
      role.topology.within.clear();
      role.segment_topology.within.clear();
    }
    found = true;
  }
  if (!found) return std::nullopt;
  return spec;
}

// The pools whose reasons name this change: quotas and limits differ from pool to pool, and a
// change does not say which it means.
std::vector<std::string> pools_of(const sched::Explanation& explanation, const Change& change,
                                  const WorkloadSpec& spec) {
  std::vector<std::string> out;
  for (const sched::Reason& reason : explanation.reasons) {
    if (reason.cheapest && reason.cheapest->kind == change.kind &&
        reason.cheapest->target == change.target && reason.cheapest->amount == change.amount &&
        !reason.pool.empty()) {
      out.push_back(reason.pool);
    }
  }
  if (out.empty()) out.push_back(spec.pools.front());
  return out;
}

std::string apply(Copy& copy, const Change& change, const sched::Explanation& explanation,
                  const WorkloadSpec& spec, const sim::Symbols& symbols) {
  switch (change.kind) {
    case ChangeKind::kRaiseLimit:
    case ChangeKind::kRaiseQuota: {
      const auto it = symbols.queues.find(change.target);
      if (it == symbols.queues.end()) return "no such queue";
      QueueSpec queue = it->second;
      for (const std::string& pool : pools_of(explanation, change, spec)) {
        Entitlement& e = queue.pools[pool]
                             .try_emplace(change.resource, default_entitlement(change.resource))
                             .first->second;
        (change.kind == ChangeKind::kRaiseLimit ? e.limit : e.quota) = change.amount;
      }
      copy.tell(sched::QueueUpserted{std::move(queue)});
      return {};
    }
    case ChangeKind::kMakePreemptible:
    case ChangeKind::kLowerRequest:
    case ChangeKind::kLowerCount:
    case ChangeKind::kEndBy:
    case ChangeKind::kRelaxTopology: {
      const auto now = changed(spec, change);
      if (!now) return "the workload has no such part";
      copy.tell(sched::WorkloadRemoved{spec.name});
      copy.tell(sched::WorkloadSubmitted{*now});
      return {};
    }
    case ChangeKind::kAddNodes: {
      const auto it = symbols.nodes.find(change.target);
      if (it == symbols.nodes.end()) return "no such node";
      NodeSpec node = it->second;
      node.ready = node.schedulable = true;
      for (DeviceSpec& device : node.devices) device.health = DeviceHealth::kHealthy;
      for (std::int64_t i = 0; i < change.amount; ++i) {
        node.name = fmt::format("{}-copy-{}", change.target, i + 1);
        copy.tell(sched::NodeUpserted{node});
      }
      return {};
    }
    case ChangeKind::kUncordon:
      copy.tell(sched::NodeConditionChanged{change.target, true, true});
      return {};
    case ChangeKind::kWaitUntil:
      copy.wait_until(change.at);
      return {};
    case ChangeKind::kFreeOnNode:
      return {};
  }
  return {};
}

void empty(Copy& copy, const std::string& but) {
  for (const std::string& name : copy.core().workload_names()) {
    if (name != but) copy.tell(sched::WorkloadRemoved{name});
  }
}

// A placement of the workload's minimum in the emptied cluster, told; empty if there is none.
std::string place_when_empty(const Driver& driver, const WorkloadSpec& spec,
                             const std::vector<NodeSpec>& nodes) {
  std::vector<NodeRoom> rooms;
  for (const NodeSpec& node : nodes) rooms.push_back(empty_room(node, driver.symbols()));
  Question question;
  question.spec = &spec;
  question.gates = [](const Amounts&) { return true; };
  for (std::size_t r = 0; r < spec.roles.size(); ++r) {
    const std::int32_t n = spec.independent_tasks() ? 1 : spec.roles[r].min;
    for (std::int32_t i = 0; i < n; ++i) question.tasks.push_back({r, i, {}});
  }
  if (question.tasks.empty() || question.tasks.size() > 12) return {};
  for (const std::string& pool : spec.pools) {
    question.pool = pool;
    const Solution solution = solve(question, rooms, driver.symbols());
    if (solution.answer == Answer::kFits) return solution.text;
  }
  return {};
}

std::vector<NodeSpec> mended(const sched::Scheduler& core, const sim::Symbols& symbols) {
  std::vector<NodeSpec> out;
  for (const std::string& name : core.node_names()) {
    NodeSpec node = symbols.nodes.at(name);
    node.ready = node.schedulable = true;
    for (DeviceSpec& device : node.devices) device.health = DeviceHealth::kHealthy;
    out.push_back(std::move(node));
  }
  return out;
}

std::string untrue_never(Driver& driver, const std::string& workload) {
  const WorkloadSpec& spec = driver.symbols().workloads.at(workload);
  if (!driver.running(workload).empty()) return {};
  const std::vector<NodeSpec> nodes = mended(driver.scheduler(), driver.symbols());
  Copy copy(driver);
  empty(copy, workload);
  for (const NodeSpec& node : nodes) copy.tell(sched::NodeUpserted{node});
  copy.decide(workload);
  if (copy.running(workload) > 0) return "10.1: 'never', but it starts in the emptied cluster";
  const std::string placed = place_when_empty(driver, spec, nodes);
  return placed.empty() ? placed : "10.1: 'never', but in the emptied cluster it fits: " + placed;
}

}  // namespace

std::string untrue_in(Driver& driver, const std::string& workload) {
  const auto explained = driver.scheduler().explain(workload);
  if (!explained) return {};
  if (explained->never) {
    const std::string wrong = untrue_never(driver, workload);
    if (!wrong.empty()) return fmt::format("{}: {}; {}", workload, wrong, explained->text());
  }
  if (!explained->cheapest) return {};
  const Change& change = *explained->cheapest;
  Copy copy(driver);
  for (const std::string& name : driver.scheduler().workload_names()) {
    if (name != workload && driver.running(name).empty()) copy.tell(sched::WorkloadRemoved{name});
  }
  const bool resubmitted =
      change.kind == ChangeKind::kMakePreemptible || change.kind == ChangeKind::kLowerRequest ||
      change.kind == ChangeKind::kLowerCount || change.kind == ChangeKind::kRelaxTopology ||
      change.kind == ChangeKind::kEndBy;
  const std::int32_t before = resubmitted ? 0 : copy.running(workload);
  const WorkloadSpec& spec = driver.symbols().workloads.at(workload);
  std::string wrong = apply(copy, change, *explained, spec, driver.symbols());
  const bool others = copy.decide(workload);
  if (copy.running(workload) > before) return {};
  if (wrong.empty() && others) return {};  // running ones grew into the room first
  if (wrong.empty()) wrong = copy.error();
  const auto after = copy.core().explain(workload);
  return fmt::format("10.2: {} does not start by '{}' ({}): {}; before: {}; after: {}", workload,
                     change.text, sched::change_kind_name(change.kind),
                     wrong.empty() ? "it waits" : wrong, explained->text(),
                     after ? after->text() : "it is gone");
}

std::string wrongly_impossible(const Driver& driver, const WorkloadSpec& spec) {
  const std::vector<NodeSpec> nodes = mended(driver.scheduler(), driver.symbols());
  for (const std::string& pool : spec.pools) {
    WorkloadSpec here = spec;
    here.pools = {pool};
    const std::string placed = place_when_empty(driver, here, nodes);
    if (placed.empty()) continue;
    // A role that may stay empty must be possible as well: who submits it means it to grow.
    const bool all = std::all_of(spec.roles.begin(), spec.roles.end(), [&](const RoleSpec& role) {
      WorkloadSpec alone = here;
      alone.roles = {role};
      alone.roles[0].count = alone.roles[0].min = 1;
      return role.min > 0 || !place_when_empty(driver, alone, nodes).empty();
    });
    if (!all) continue;
    return fmt::format("10.1: {} was refused as impossible, but the emptied pool {} holds it: {}",
                       spec.name, pool, placed);
  }
  return {};
}

}  // namespace fairlead::property
