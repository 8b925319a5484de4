// One workload of a document: roles, or the fields of its only role at its own level.
#include "model/readers.h"
#include "model/submission.h"
#include "model/words.h"

namespace fairlead {
namespace {

void read_segments(ObjectReader& parent, RoleSpec& role) {
  const Value* value = parent.get("segments");
  if (value == nullptr) return;
  ObjectReader in(*value, parent.findings());
  role.segment_size = in.int32("size", 1, 1'000'000, kRequired).value_or(0);
  read_topology_goal(in, role.segment_topology);
  if (role.segment_size == 0) role.segment_topology = {};
}

// The fields that a role has, without its name and its topology.
void read_role_fields(ObjectReader& in, RoleSpec& role, const ClusterLimits& limits) {
  const auto count = in.int32("count", 1, limits.tasks_per_role);
  const auto min = in.int32("min", 0, limits.tasks_per_role);
  role.count = count.value_or(1);
  role.min = min.value_or(role.count);
  read_task_request(in, role.request);
  read_constraints(in, role.constraints);
  read_segments(in, role);
}

RoleSpec read_role(const Value& value, Findings& findings, const ClusterLimits& limits) {
  ObjectReader in(value, findings);
  RoleSpec role;
  role.name = in.name("name").value_or("worker");
  read_role_fields(in, role, limits);
  if (const Value* topology = in.get("topology")) {
    ObjectReader goal(*topology, findings);
    read_topology_goal(goal, role.topology);
  }
  return role;
}

constexpr std::string_view kRoleFields[] = {
    "role", "count",     "min",           "gpu",          "cpu",      "memory",      "resources",
    "numa", "nodeTypes", "deviceClasses", "nodeSelector", "affinity", "tolerations", "segments"};

void read_roles(ObjectReader& in, WorkloadSpec& spec, const ClusterLimits& limits) {
  Findings& findings = in.findings();
  const Value* roles = in.get("roles");
  if (roles == nullptr) {
    RoleSpec role;
    role.name = in.name("role").value_or("worker");
    read_role_fields(in, role, limits);
    spec.roles.push_back(std::move(role));
    return;
  }
  in.each("roles",
          [&](const Value& item) { spec.roles.push_back(read_role(item, findings, limits)); });
  if (roles->is_list() && roles->items().empty()) {
    findings.error(*roles, ErrorCode::kInvalidArgument, "a workload has at least one role",
                   "add one, or remove \"roles\" and state its fields here");
  }
  for (const std::string_view field : kRoleFields) {
    const Value* stray = in.get(field);
    if (stray == nullptr) continue;
    findings.error(*stray, ErrorCode::kInvalidArgument,
                   "with \"roles\" each role states this itself", "move it into the roles");
  }
}

// 8.2. `parallelism` is the count of the only role.
void read_completions(ObjectReader& in, WorkloadSpec& spec, const ClusterLimits& limits) {
  Findings& findings = in.findings();
  spec.completions = in.int32("completions", 1, limits.tasks_per_role).value_or(0);
  const auto parallelism = in.int32("parallelism", 1, limits.tasks_per_role);
  spec.backoff_limit = in.int32("backoffLimit", 0).value_or(6);
  if (!in.has("completions")) {
    if (const Value* stray = in.get("parallelism")) {
      findings.error(*stray, ErrorCode::kInvalidArgument,
                     "\"parallelism\" says how many of the \"completions\" run at once",
                     "add completions, or use count");
    }
    return;
  }
  spec.parallelism = parallelism.value_or(1);
  if (spec.roles.size() != 1) {
    findings.error(
        *in.get("completions"), ErrorCode::kInvalidArgument,
        "independent tasks are of one role, here are " + std::to_string(spec.roles.size()),
        "split it into several workloads");
    return;
  }
  RoleSpec& role = spec.roles.front();
  const Value* place = &in.value();
  if (const Value* roles = in.get("roles"); roles != nullptr && !roles->items().empty()) {
    place = &roles->items()[0];
  }
  for (const char* field : {"count", "min"}) {
    if (const Value* stray = place->find(field)) {
      findings.error(*stray, ErrorCode::kInvalidArgument,
                     "with \"completions\" the tasks are independent and \"parallelism\" says how "
                     "many run at once",
                     "remove it");
    }
  }
  role.count = spec.parallelism;
  role.min = 1;
}

std::optional<std::int32_t> read_priority(ObjectReader& in) {
  const Value* value = in.get("priority");
  if (value == nullptr) return std::nullopt;
  if (value->is_scalar()) {
    if (const auto of_class = priority_of_class(value->text())) return of_class;
  }
  const bool number = value->is_scalar() && !value->text().empty() &&
                      value->text().find_first_not_of("+-0123456789.") == std::string::npos;
  if (!number && value->is_scalar()) {
    report_unknown(*value, in.findings(), "priority class", value->text(),
                   {"train", "build-preemptible", "build", "inference"});
    return std::nullopt;
  }
  const auto priority = as_integer(*value, -1'000'000'000, 1'000'000'000, in.findings());
  if (!priority) return std::nullopt;
  return static_cast<std::int32_t>(*priority);
}

void read_running(const Value& value, const WorkloadSpec& spec, std::vector<RunningTask>& running,
                  Findings& findings) {
  ObjectReader in(value, findings);
  RunningTask task;
  const auto role = in.name("role", spec.roles.size() == 1 ? kOptional : kRequired);
  task.role = role.value_or(spec.roles.empty() ? "" : spec.roles.front().name);
  task.index = in.int32("index").value_or(0);
  task.node = in.name("node", kRequired).value_or("");
  task.devices = in.names("devices");
  task.started = in.instant("started");
  if (in.ok()) running.push_back(std::move(task));
}

void read_succeeded(const Value& value, const WorkloadSpec& spec,
                    std::vector<SucceededTask>& succeeded, Findings& findings) {
  ObjectReader in(value, findings);
  SucceededTask task;
  const auto role = in.name("role", spec.roles.size() == 1 ? kOptional : kRequired);
  task.role = role.value_or(spec.roles.empty() ? "" : spec.roles.front().name);
  task.index = in.int32("index").value_or(0);
  if (in.ok()) succeeded.push_back(std::move(task));
}

}  // namespace

WorkloadEntry read_workload(const Value& value, Findings& findings, const ClusterLimits& limits) {
  WorkloadEntry entry;
  WorkloadSpec& spec = entry.spec;
  ObjectReader in(value, findings);
  in.allow({"apiVersion", "kind"});
  if (!in.ok()) return entry;
  spec.name = in.name("name", kRequired).value_or("");
  if (in.has("queue") && in.has("project")) {
    findings.error(*in.get("project"), ErrorCode::kAlreadyExists,
                   "\"project\" is another word for \"queue\", which is stated too",
                   "remove one of them");
  }
  spec.queue = in.has("project")
                   ? in.name("project").value_or("")
                   : in.name("queue", limits.project_stated ? kRequired : kOptional).value_or("");
  spec.kind =
      in.choice<WorkloadKind>("type", words::kWorkloadKinds).value_or(WorkloadKind::kTraining);
  spec.priority = read_priority(in).value_or(default_priority(spec.kind));
  spec.preemptibility = in.choice<Preemptibility>("preemptibility", words::kPreemptibilities)
                            .value_or(default_preemptibility(spec.priority));
  if (in.has("pools")) spec.pools = in.names("pools");
  if (const Value* pools = in.get("pools"); pools != nullptr && spec.pools.empty()) {
    findings.error(*pools, ErrorCode::kInvalidArgument, "no pool is named",
                   "name at least one, or remove the field for \"default\"");
  }
  if (const Value* topology = in.get("topology")) {
    ObjectReader goal(*topology, findings);
    read_topology_goal(goal, spec.topology);
  }
  read_roles(in, spec, limits);
  read_completions(in, spec, limits);
  spec.expected_runtime = in.duration("expectedRuntime");
  spec.max_runtime = in.duration("maxRuntime");
  spec.grace_period = in.duration("gracePeriod").value_or(spec.grace_period);
  if (const Value* stated = in.get("stalenessGracePeriod")) {
    if (stated->is_scalar() && (stated->text() == "never" || stated->text() == "-1")) {
      spec.staleness_grace_period = kNeverStale;
    } else if (const auto period = as_duration(*stated, findings)) {
      spec.staleness_grace_period = *period;
    }
  }
  spec.order_key = in.integer("orderKey", -kMaxAmount, kMaxAmount).value_or(0);
  spec.user = in.name("user").value_or("");
  spec.template_name = in.name("template").value_or("");
  entry.submitted = in.instant("submitted").value_or(Instant{});
  entry.started = in.instant("started");
  in.each("running", [&](const Value& item) { read_running(item, spec, entry.running, findings); });
  in.each("succeeded",
          [&](const Value& item) { read_succeeded(item, spec, entry.succeeded, findings); });
  entry.failures = in.int32("failures").value_or(0);
  check_run_fields(in, spec);
  return entry;
}

}  // namespace fairlead
