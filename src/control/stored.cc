#include "control/stored.h"

#include <algorithm>

#include "control/words.h"
#include "model/words.h"

namespace fairlead::control {
namespace {

void add_instant(Tree& map, const char* field, const std::optional<Instant>& at) {
  if (at) map.add(field, Tree::string(to_rfc3339(*at)));
}
template <class T>
void add_number(Tree& map, const char* field, const std::optional<T>& number) {
  if (number) map.add(field, Tree::number(std::int64_t{*number}));
}
void add_text(Tree& map, const char* field, const std::string& text) {
  if (!text.empty()) map.add(field, Tree::string(text));
}

Tree devices_tree(const std::vector<HeldDevice>& devices) {
  Tree list = Tree::list();
  for (const HeldDevice& device : devices) {
    Tree map = Tree::map();
    map.add("id", Tree::string(device.id));
    map.add("class", Tree::string(device.device_class));
    map.add("milli", Tree::number(device.milli));
    map.add("memoryMib", Tree::number(device.mib));
    add_text(map, "migProfile", device.mig_profile);
    list.push(std::move(map));
  }
  return list;
}

std::vector<HeldDevice> read_devices(ObjectReader& in) {
  std::vector<HeldDevice> devices;
  in.each("devices", [&](const Value& item) {
    ObjectReader map(item, in.findings());
    HeldDevice device;
    device.id = map.string("id").value_or("");
    device.device_class = map.string("class").value_or("");
    device.milli = map.integer("milli").value_or(0);
    device.mib = map.integer("memoryMib").value_or(0);
    device.mig_profile = map.string("migProfile").value_or("");
    devices.push_back(std::move(device));
  });
  return devices;
}

Tree status_tree(const Workload& w) {
  Tree out = Tree::map();
  out.add("phase", Tree::string(word_of<Phase>(words::kPhases, w.phase)));
  add_text(out, "reason", w.reason);
  add_text(out, "pool", w.pool);
  Amounts held;
  std::vector<std::string> nodes;
  std::int64_t starting = 0;
  std::int64_t running = 0;
  std::int64_t frozen = 0;
  std::int64_t stopping = 0;
  std::int64_t succeeded = 0;
  for (const auto& [key, task] : w.tasks) {
    starting += task.phase == TaskPhase::kStarting ? 1 : 0;
    running += task.phase == TaskPhase::kRunning ? 1 : 0;
    frozen += task.phase == TaskPhase::kFrozen ? 1 : 0;
    stopping += task.phase == TaskPhase::kStopping ? 1 : 0;
    succeeded += task.phase == TaskPhase::kSucceeded ? 1 : 0;
    if (!task.active()) continue;
    if (std::find(nodes.begin(), nodes.end(), task.node) == nodes.end()) nodes.push_back(task.node);
    for (const HeldDevice& device : task.devices) {
      held.gpu_milli += device.milli;
      held.gpu_memory_mib += device.mib;
    }
    const TaskRequest& request = w.spec().roles[static_cast<std::size_t>(key.first)].request;
    held.cpu_milli += request.cpu.value;
    held.memory_bytes += request.memory.value;
  }
  if (!nodes.empty()) out.add("nodes", Tree::strings(nodes));
  add_instant(out, "startedAt", w.started);
  add_instant(out, "endedAt", w.ended);
  add_number(out, "exitCode", w.exit_code);
  out.add("requested", amounts_tree(requested(w.spec())));
  out.add("allocated", amounts_tree(held));
  std::int64_t wanted = 0;
  for (const RoleSpec& role : w.spec().roles) wanted += role.count;
  Tree& tasks = out.add("tasks", Tree::map());
  tasks.add("wanted", Tree::number(wanted));
  tasks.add("running", Tree::number(running));
  if (frozen > 0) tasks.add("frozen", Tree::number(frozen));
  tasks.add("starting", Tree::number(starting));
  tasks.add("stopping", Tree::number(stopping));
  tasks.add("succeeded", Tree::number(succeeded));
  tasks.add("failed", Tree::number(std::int64_t{w.failures}));
  if (w.spec().completions > 0) {
    out.add("completions", Tree::number(std::int64_t{w.spec().completions}));
  }
  out.add("preemptions", Tree::number(std::int64_t{w.preemptions}));
  out.add("restarts", Tree::number(std::int64_t{w.restarts}));
  return out;
}

// A record that this program wrote reads without findings.
Result<Document> parse(const store::Record& record) {
  auto document = Document::parse(record.body, record.kind + " " + record.id + ".json");
  if (!document) {
    return fail(ErrorCode::kFailed, "the store's record of " + record.kind + " " + record.id +
                                        " cannot be read: " + document.error().front().text());
  }
  return std::move(*document);
}

Result<void> settled(Findings& findings, const store::Record& record) {
  if (findings.ok()) return {};
  return fail(ErrorCode::kFailed, "the store's record of " + record.kind + " " + record.id +
                                      " cannot be read: " + findings.take_errors().front().text());
}

}  // namespace

Tree amounts_tree(const Amounts& amounts) {
  Tree out = Tree::map();
  out.add("gpuMilli", Tree::number(amounts.gpu_milli));
  if (amounts.gpu_memory_mib != 0) out.add("gpuMemoryMib", Tree::number(amounts.gpu_memory_mib));
  out.add("cpuMilli", Tree::number(amounts.cpu_milli));
  out.add("memoryBytes", Tree::number(amounts.memory_bytes));
  return out;
}

Amounts requested(const WorkloadSpec& spec) {
  Amounts out;
  for (const RoleSpec& role : spec.roles) {
    const GpuRequest& gpu = role.request.gpu;
    const std::int64_t count = role.count;
    if (gpu.kind == GpuRequestKind::kDevices) out.gpu_milli += count * gpu.count * 1000;
    if (gpu.kind == GpuRequestKind::kPortion) {
      out.gpu_milli += count * gpu.count * gpu.portion.value;
    }
    if (gpu.kind == GpuRequestKind::kMemory) {
      out.gpu_memory_mib += count * gpu.count * gpu.memory.value;
    }
    out.cpu_milli += count * role.request.cpu.value;
    out.memory_bytes += count * role.request.memory.value;
  }
  return out;
}

store::Record workload_record(const Workload& w) {
  const WorkloadSpec& spec = w.spec();
  Tree out = Tree::map();
  out.add("id", Tree::string(w.id));
  out.add("revision", Tree::number(w.revision));
  out.add("name", Tree::string(w.name()));
  out.add("project", Tree::string(w.project()));
  out.add("type", Tree::string(word_of<WorkloadKind>(fairlead::words::kWorkloadKinds, spec.kind)));
  out.add("user", Tree::string(w.user));
  out.add("priority", Tree::number(std::int64_t{spec.priority}));
  out.add("preemptibility", Tree::string(word_of<Preemptibility>(fairlead::words::kPreemptibilities,
                                                                 spec.preemptibility)));
  if (!w.submission.labels.empty()) {
    Tree& labels = out.add("labels", Tree::map());
    for (const auto& [key, value] : w.submission.labels) labels.add(key, Tree::string(value));
  }
  out.add("createdAt", Tree::string(to_rfc3339(w.created)));
  out.add("desired", Tree::string(word_of<Desired>(words::kDesired, w.desired)));
  out.add("document", submission_tree(w.submission));
  out.add("status", status_tree(w));
  if (w.verdict) out.add("verdict", Tree::string(word_of<Phase>(words::kPhases, *w.verdict)));
  return {
      "workload", w.id,      w.project(), w.name(),         word_of<Phase>(words::kPhases, w.phase),
      w.user,     w.created, w.revision,  to_json_line(out)};
}

Result<Workload> read_workload_record(const store::Record& record) {
  FAIRLEAD_ASSIGN(const Document document, parse(record));
  Findings findings("record");
  Workload w;
  {
    ObjectReader in(document.roots()[0], findings);
    in.allow({"name", "project", "type", "priority", "preemptibility", "labels"});
    w.id = in.string("id").value_or("");
    w.revision = in.integer("revision").value_or(0);
    w.user = in.string("user").value_or("");
    w.created = in.instant("createdAt").value_or(Instant{});
    w.desired = in.choice<Desired>("desired", words::kDesired).value_or(Desired::kRunning);
    w.verdict = in.choice<Phase>("verdict", words::kPhases);
    if (const Value* stated = in.get("document", kRequired)) {
      w.submission = read_submission(*stated, findings);
    }
    if (const Value* value = in.get("status", kRequired)) {
      ObjectReader status(*value, findings);
      status.allow({"nodes", "requested", "allocated", "completions"});
      w.phase = status.choice<Phase>("phase", words::kPhases).value_or(Phase::kPending);
      w.reason = status.string("reason").value_or("");
      w.pool = status.string("pool").value_or("");
      w.started = status.instant("startedAt");
      w.ended = status.instant("endedAt");
      w.exit_code = status.int32("exitCode");
      w.preemptions = status.int32("preemptions").value_or(0);
      w.restarts = status.int32("restarts").value_or(0);
      if (const Value* counts = status.get("tasks")) {
        ObjectReader tasks(*counts, findings);
        tasks.allow({"wanted", "running", "frozen", "starting", "stopping", "succeeded"});
        w.failures = tasks.int32("failed").value_or(0);
      }
    }
  }
  FAIRLEAD_TRY(settled(findings, record));
  return w;
}

store::Record task_record(const Workload& w, const Task& task) {
  Tree out = Tree::map();
  out.add("id", Tree::string(task.id));
  out.add("revision", Tree::number(task.revision));
  out.add("workloadId", Tree::string(w.id));
  out.add("workload", Tree::string(w.name()));
  out.add("project", Tree::string(w.project()));
  out.add("role", Tree::string(w.spec().roles[static_cast<std::size_t>(task.role)].name));
  out.add("index", Tree::number(std::int64_t{task.index}));
  out.add("phase", Tree::string(word_of<TaskPhase>(words::kTaskPhases, task.phase)));
  out.add("attempt", Tree::number(std::int64_t{task.attempt}));
  out.add("starts", Tree::number(std::int64_t{task.starts}));
  add_text(out, "node", task.node);
  out.add("devices", devices_tree(task.devices));
  if (task.pid > 0) out.add("pid", Tree::number(task.pid));
  out.add("createdAt", Tree::string(to_rfc3339(task.created)));
  add_instant(out, "startedAt", task.started);
  add_instant(out, "endedAt", task.ended);
  add_number(out, "exitCode", task.exit_code);
  add_number(out, "signal", task.signal);
  if (task.out_of_memory) out.add("oomKilled", Tree::boolean(*task.out_of_memory));
  if (task.cpu_ms > 0) out.add("cpuMs", Tree::number(task.cpu_ms));
  if (task.max_rss > 0) out.add("maxRssBytes", Tree::number(task.max_rss));
  add_text(out, "reason", task.reason);
  return {"task",
          task.id,
          w.id,
          "",
          word_of<TaskPhase>(words::kTaskPhases, task.phase),
          w.user,
          task.created,
          task.revision,
          to_json_line(out)};
}

Result<Task> read_task_record(const store::Record& record, const WorkloadSpec& spec) {
  FAIRLEAD_ASSIGN(const Document document, parse(record));
  Findings findings("record");
  Task task;
  std::string role;
  {
    ObjectReader in(document.roots()[0], findings);
    in.allow({"workloadId", "workload", "project"});
    task.id = in.string("id").value_or("");
    task.revision = in.integer("revision").value_or(0);
    role = in.string("role").value_or("");
    task.index = in.int32("index").value_or(0);
    task.phase = in.choice<TaskPhase>("phase", words::kTaskPhases).value_or(TaskPhase::kLost);
    task.attempt = in.int32("attempt").value_or(0);
    task.starts = in.int32("starts").value_or(0);
    task.node = in.string("node").value_or("");
    task.devices = read_devices(in);
    task.pid = in.integer("pid").value_or(0);
    task.created = in.instant("createdAt").value_or(Instant{});
    task.started = in.instant("startedAt");
    task.ended = in.instant("endedAt");
    task.exit_code = in.int32("exitCode");
    task.signal = in.int32("signal");
    task.out_of_memory = in.boolean("oomKilled");
    task.cpu_ms = in.integer("cpuMs").value_or(0);
    task.max_rss = in.integer("maxRssBytes").value_or(0);
    task.reason = in.string("reason").value_or("");
  }
  FAIRLEAD_TRY(settled(findings, record));
  for (std::size_t r = 0; r < spec.roles.size(); ++r) {
    if (spec.roles[r].name == role) task.role = static_cast<std::int32_t>(r);
  }
  return task;
}

store::Record attempt_record(const Attempt& a) {
  Tree out = Tree::map();
  out.add("workload", Tree::string(a.workload));
  out.add("role", Tree::number(std::int64_t{a.role}));
  out.add("index", Tree::number(std::int64_t{a.index}));
  out.add("number", Tree::number(std::int64_t{a.number}));
  out.add("state", Tree::string(word_of<AttemptState>(words::kAttemptStates, a.state)));
  out.add("node", Tree::string(a.node));
  out.add("devices", devices_tree(a.devices));
  out.add("cpu", Tree::number(a.cpu));
  out.add("memory", Tree::number(a.memory));
  out.add("created", Tree::string(to_rfc3339(a.created)));
  add_instant(out, "started", a.started);
  add_text(out, "boot", a.boot);
  out.add("sinceBootMs", Tree::number(a.since_boot.ms));
  if (a.frozen_since) out.add("frozenSinceBootMs", Tree::number(a.frozen_since->ms));
  if (a.frozen_before.ms > 0) out.add("frozenBeforeMs", Tree::number(a.frozen_before.ms));
  out.add("knownToCore", Tree::boolean(a.known_to_core));
  if (a.state == AttemptState::kStopping) {
    Tree& stop = out.add("stop", Tree::map());
    stop.add("cause", Tree::string(a.stop.cause));
    stop.add("text", Tree::string(a.stop.text));
    stop.add("signal", Tree::number(std::int64_t{a.stop.signal}));
    stop.add("graceMs", Tree::number(a.stop.grace.ms));
  }
  return {"attempt",
          a.id,
          a.workload,
          "",
          word_of<AttemptState>(words::kAttemptStates, a.state),
          "",
          a.created,
          a.revision,
          to_json_line(out)};
}

Result<Attempt> read_attempt_record(const store::Record& record) {
  FAIRLEAD_ASSIGN(const Document document, parse(record));
  Findings findings("record");
  Attempt a;
  a.id = record.id;
  a.revision = record.revision;
  {
    ObjectReader in(document.roots()[0], findings);
    a.workload = in.string("workload").value_or("");
    a.role = in.int32("role").value_or(0);
    a.index = in.int32("index").value_or(0);
    a.number = in.int32("number").value_or(1);
    a.state =
        in.choice<AttemptState>("state", words::kAttemptStates).value_or(AttemptState::kStarting);
    a.node = in.string("node").value_or("");
    a.devices = read_devices(in);
    a.cpu = in.integer("cpu").value_or(0);
    a.memory = in.integer("memory").value_or(0);
    a.created = in.instant("created").value_or(Instant{});
    a.started = in.instant("started");
    a.boot = in.string("boot").value_or("");
    a.since_boot = Duration{in.integer("sinceBootMs").value_or(0)};
    if (const auto since = in.integer("frozenSinceBootMs")) a.frozen_since = Duration{*since};
    a.frozen_before = Duration{in.integer("frozenBeforeMs").value_or(0)};
    a.known_to_core = in.boolean("knownToCore").value_or(true);
    if (const Value* value = in.get("stop")) {
      ObjectReader stop(*value, findings);
      a.stop.cause = stop.string("cause").value_or("");
      a.stop.text = stop.string("text").value_or("");
      a.stop.signal = stop.int32("signal").value_or(SIGTERM);
      a.stop.grace = Duration{stop.integer("graceMs").value_or(0)};
    }
  }
  FAIRLEAD_TRY(settled(findings, record));
  return a;
}

}  // namespace fairlead::control
