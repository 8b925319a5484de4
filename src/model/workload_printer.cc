// Workloads of a cluster document; see cluster_printer.h.
#include "base/decimal.h"
#include "model/cluster_printer.h"
#include "model/readers.h"
#include "model/words.h"

namespace fairlead {
namespace {

Tree string_map(const std::map<std::string, std::string>& map) {
  Tree out = Tree::map();
  for (const auto& [key, value] : map) out.add(key, Tree::string(value));
  return out;
}

void add_request(const TaskRequest& request, Tree& out) {
  if (!request.gpu.none()) out.add("gpu", gpu_tree(request.gpu));
  if (request.cpu.value != 0) out.add("cpu", Tree::number(cpu_text(request.cpu.value)));
  if (request.memory.value != 0) out.add("memory", Tree::string(bytes_text(request.memory.value)));
  if (!request.extended.empty()) {
    Tree& extended = out.add("resources", Tree::map());
    for (const auto& [name, amount] : request.extended) extended.add(name, Tree::number(amount));
  }
  if (request.numa != NumaPolicy::kPreferred) {
    out.add("numa", Tree::string(word_of<NumaPolicy>(words::kNumaPolicies, request.numa)));
  }
}

Tree match_tree(const MatchTerm& term) {
  Tree out = Tree::map();
  out.add("key", Tree::string(term.key));
  out.add("operator", Tree::string(word_of<MatchOperator>(words::kMatchOperators, term.op)));
  if (!term.values.empty()) out.add("values", Tree::strings(term.values));
  return out;
}

Tree toleration_tree(const Toleration& toleration) {
  Tree out = Tree::map();
  if (!toleration.key.empty()) out.add("key", Tree::string(toleration.key));
  if (toleration.value) out.add("value", Tree::string(*toleration.value));
  if (toleration.effect) {
    out.add("effect", Tree::string(word_of<TaintEffect>(words::kTaintEffects, *toleration.effect)));
  }
  return out;
}

void add_constraints(const Constraints& constraints, Tree& out) {
  if (!constraints.node_types.empty()) out.add("nodeTypes", Tree::strings(constraints.node_types));
  if (!constraints.device_classes.empty()) {
    out.add("deviceClasses", Tree::strings(constraints.device_classes));
  }
  if (!constraints.node_selector.empty()) {
    out.add("nodeSelector", string_map(constraints.node_selector));
  }
  if (!constraints.affinity.empty()) {
    Tree& list = out.add("affinity", Tree::list());
    for (const MatchTerm& term : constraints.affinity) list.push(match_tree(term));
  }
  if (!constraints.tolerations.empty()) {
    Tree& list = out.add("tolerations", Tree::list());
    for (const Toleration& item : constraints.tolerations) list.push(toleration_tree(item));
  }
}

void add_goal_fields(const TopologyGoal& goal, Tree& out) {
  if (!goal.within.empty()) out.add("within", Tree::string(goal.within));
  if (!goal.prefer.empty()) out.add("prefer", Tree::string(goal.prefer));
  if (goal.fewest_hosts) out.add("hosts", Tree::string("fewest"));
}

void add_goal(const TopologyGoal& goal, Tree& out) {
  if (goal.empty()) return;
  Tree map = Tree::map();
  add_goal_fields(goal, map);
  out.add("topology", std::move(map));
}

void add_role_fields(const RoleSpec& role, bool independent, Tree& out) {
  if (!independent) {
    if (role.count != 1) out.add("count", Tree::number(role.count));
    if (role.min != role.count) out.add("min", Tree::number(role.min));
  }
  add_request(role.request, out);
  add_constraints(role.constraints, out);
  if (role.segment_size > 0) {
    Tree& segments = out.add("segments", Tree::map());
    segments.add("size", Tree::number(role.segment_size));
    add_goal_fields(role.segment_topology, segments);
  }
}

void add_roles(const WorkloadSpec& spec, Tree& out) {
  if (spec.roles.size() == 1 && spec.roles.front().topology.empty()) {
    const RoleSpec& role = spec.roles.front();
    if (role.name != "worker") out.add("role", Tree::string(role.name));
    add_role_fields(role, spec.independent_tasks(), out);
    return;
  }
  Tree& roles = out.add("roles", Tree::list());
  for (const RoleSpec& role : spec.roles) {
    Tree map = Tree::map();
    map.add("name", Tree::string(role.name));
    add_role_fields(role, spec.independent_tasks(), map);
    add_goal(role.topology, map);
    roles.push(std::move(map));
  }
}

}  // namespace

Tree gpu_tree(const GpuRequest& request) {
  const bool limited = request.compute_limit || request.memory_limit;
  if (request.kind == GpuRequestKind::kNone) return Tree::number(0);
  if (request.kind == GpuRequestKind::kDevices) return Tree::number(request.count);
  if (request.kind == GpuRequestKind::kPortion && request.count == 1 && !limited) {
    return Tree::number(decimal_text(request.portion.value, 3));
  }
  Tree out = Tree::map();
  if (request.kind == GpuRequestKind::kPortion) {
    out.add("portion", Tree::number(decimal_text(request.portion.value, 3)));
  } else if (request.kind == GpuRequestKind::kMemory) {
    out.add("memory", Tree::string(mib_text(request.memory.value)));
  } else {
    out.add("mig", Tree::string(request.mig_profile));
  }
  if (request.count != 1) out.add("count", Tree::number(request.count));
  if (request.compute_limit) {
    out.add("computeLimit", Tree::number(decimal_text(request.compute_limit->value, 3)));
  }
  if (request.memory_limit) {
    out.add("memoryLimit", Tree::string(mib_text(request.memory_limit->value)));
  }
  return out;
}

Tree workload_tree(const WorkloadEntry& entry, const char* leaf) {
  const WorkloadSpec& spec = entry.spec;
  Tree out = Tree::map();
  out.add("name", Tree::string(spec.name));
  out.add(leaf, Tree::string(spec.queue));
  if (spec.kind != WorkloadKind::kTraining) {
    out.add("type", Tree::string(word_of<WorkloadKind>(words::kWorkloadKinds, spec.kind)));
  }
  if (spec.priority != default_priority(spec.kind)) {
    out.add("priority", Tree::number(spec.priority));
  }
  if (spec.preemptibility != default_preemptibility(spec.priority)) {
    out.add("preemptibility",
            Tree::string(word_of<Preemptibility>(words::kPreemptibilities, spec.preemptibility)));
  }
  if (spec.pools != std::vector<std::string>{"default"})
    out.add("pools", Tree::strings(spec.pools));
  if (spec.independent_tasks()) {
    out.add("completions", Tree::number(spec.completions));
    out.add("parallelism", Tree::number(spec.parallelism));
  }
  if (spec.backoff_limit != 6) out.add("backoffLimit", Tree::number(spec.backoff_limit));
  add_roles(spec, out);
  add_goal(spec.topology, out);
  if (spec.expected_runtime) {
    out.add("expectedRuntime", Tree::string(to_text(*spec.expected_runtime)));
  }
  if (spec.max_runtime) out.add("maxRuntime", Tree::string(to_text(*spec.max_runtime)));
  const WorkloadSpec usual;
  if (spec.grace_period != usual.grace_period)
    out.add("gracePeriod", Tree::string(to_text(spec.grace_period)));
  if (spec.staleness_grace_period == kNeverStale) {
    out.add("stalenessGracePeriod", Tree::string("never"));
  } else if (spec.staleness_grace_period != usual.staleness_grace_period) {
    out.add("stalenessGracePeriod", Tree::string(to_text(spec.staleness_grace_period)));
  }
  if (spec.order_key != 0) out.add("orderKey", Tree::number(spec.order_key));
  if (!spec.user.empty()) out.add("user", Tree::string(spec.user));
  if (!spec.template_name.empty()) out.add("template", Tree::string(spec.template_name));
  if (entry.submitted != Instant{}) out.add("submitted", instant_tree(entry.submitted));
  if (entry.started) out.add("started", instant_tree(*entry.started));
  if (!entry.running.empty()) {
    Tree& running = out.add("running", Tree::list());
    for (const RunningTask& task : entry.running) {
      Tree map = Tree::map();
      map.add("role", Tree::string(task.role));
      map.add("index", Tree::number(task.index));
      map.add("node", Tree::string(task.node));
      if (!task.devices.empty()) map.add("devices", Tree::strings(task.devices));
      if (task.started) map.add("started", instant_tree(*task.started));
      running.push(std::move(map));
    }
  }
  if (!entry.succeeded.empty()) {
    Tree& succeeded = out.add("succeeded", Tree::list());
    for (const SucceededTask& task : entry.succeeded) {
      Tree map = Tree::map();
      map.add("role", Tree::string(task.role));
      map.add("index", Tree::number(task.index));
      succeeded.push(std::move(map));
    }
  }
  if (entry.failures != 0) out.add("failures", Tree::number(entry.failures));
  return out;
}

}  // namespace fairlead
