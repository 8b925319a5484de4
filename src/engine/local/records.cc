#include "engine/local/records.h"

#include <array>
#include <cstdio>
#include <time.h>

#include "node/text_files.h"

namespace fairlead::engine {
namespace {

constexpr std::string_view kEnded = "ended";
constexpr std::string_view kFailed = "start-failed";
constexpr std::string_view kNeverBegan = "never-began";

Result<std::int64_t> needed(const Fields& fields, std::string_view name) {
  if (const auto value = fields.number(name)) return *value;
  return fail(ErrorCode::kIo, "the record lacks \"" + std::string(name) + "\"");
}

void add_if(FieldWriter& out, std::string_view name, const auto& optional) {
  if (optional) out.add(name, std::int64_t{*optional});
}

std::optional<int> small(const Fields& fields, std::string_view name) {
  const auto value = fields.number(name);
  return value ? std::optional<int>(static_cast<int>(*value)) : std::nullopt;
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(c));
      out += escape.data();
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace

std::string launch_record(const TaskLaunch& launch) {
  FieldWriter out;
  out.add("attempt", launch.attempt)
      .add("workload", launch.workload)
      .add("workload-id", launch.workload_id)
      .add("project", launch.project)
      .add("role", launch.role)
      .add("index", launch.index)
      .add("working-dir", launch.working_dir);
  for (const std::string& word : launch.command) out.add("command", word);
  if (launch.run_as) {
    out.add("user", launch.run_as->user).add("group", launch.run_as->group);
    for (const std::uint32_t group : launch.run_as->groups) out.add("groups", group);
  }
  out.add("cpu", launch.limits.cpu.value)
      .add("cpu-weight", launch.limits.cpu_weight.value)
      .add("memory", launch.limits.memory.value)
      .add("processes", launch.limits.processes);
  if (launch.limits.devices) {
    out.add("devices", 1);
    for (const std::string& path : *launch.limits.devices) out.add("device", path);
  }
  out.add("output-bytes", launch.output.per_file.value)
      .add("output-files", launch.output.files)
      .add("input", launch.wants_input)
      .add("terminal", launch.wants_terminal)
      .add("rows", launch.window.rows)
      .add("columns", launch.window.columns);
  std::string variable;
  for (const auto& [name, value] : launch.environment) {
    variable = name;
    variable += '=';
    variable += value;
    out.add("env", variable);
  }
  return out.take();
}

Result<TaskLaunch> parse_launch(std::string_view text) {
  FAIRLEAD_ASSIGN(const Fields fields, Fields::parse(text));
  TaskLaunch launch;
  launch.attempt = fields.text("attempt");
  launch.workload = fields.text("workload");
  launch.workload_id = fields.text("workload-id");
  launch.project = fields.text("project");
  launch.role = fields.text("role");
  launch.working_dir = fields.text("working-dir");
  launch.command = fields.all("command");
  if (const auto user = fields.number("user")) {
    launch.run_as.emplace();
    launch.run_as->user = static_cast<std::uint32_t>(*user);
    launch.run_as->group = static_cast<std::uint32_t>(fields.number("group").value_or(*user));
    for (const auto& [name, value] : fields.list()) {
      if (name == "groups") {
        launch.run_as->groups.push_back(
            static_cast<std::uint32_t>(std::strtoul(std::string(value).c_str(), nullptr, 10)));
      }
    }
  }
  FAIRLEAD_ASSIGN(const auto index, needed(fields, "index"));
  launch.index = static_cast<std::int32_t>(index);
  FAIRLEAD_ASSIGN(launch.limits.cpu.value, needed(fields, "cpu"));
  FAIRLEAD_ASSIGN(launch.limits.cpu_weight.value, needed(fields, "cpu-weight"));
  FAIRLEAD_ASSIGN(launch.limits.memory.value, needed(fields, "memory"));
  FAIRLEAD_ASSIGN(launch.limits.processes, needed(fields, "processes"));
  if (fields.find("devices")) launch.limits.devices = fields.all("device");
  FAIRLEAD_ASSIGN(launch.output.per_file.value, needed(fields, "output-bytes"));
  FAIRLEAD_ASSIGN(const auto files, needed(fields, "output-files"));
  launch.output.files = static_cast<int>(files);
  launch.wants_input = fields.number("input") == 1;
  launch.wants_terminal = fields.number("terminal") == 1;
  launch.window.rows = static_cast<std::uint16_t>(fields.number("rows").value_or(24));
  launch.window.columns = static_cast<std::uint16_t>(fields.number("columns").value_or(80));
  for (const auto& [name, value] : fields.list()) {
    const std::size_t equals = value.find('=');
    if (name == "env" && equals != std::string_view::npos) {
      launch.environment.emplace(value.substr(0, equals), value.substr(equals + 1));
    }
  }
  return launch;
}

std::string started_record(const StartedRecord& started) {
  return FieldWriter()
      .add("pid", started.process.pid)
      .add("start-ticks", static_cast<std::int64_t>(started.process.start_ticks))
      .add("at", started.at.ms)
      .add("boot", started.boot)
      .add("mark", started.mark)
      .take();
}

Result<StartedRecord> parse_started(std::string_view text) {
  FAIRLEAD_ASSIGN(const Fields fields, Fields::parse(text));
  StartedRecord started;
  FAIRLEAD_ASSIGN(const auto pid, needed(fields, "pid"));
  FAIRLEAD_ASSIGN(const auto ticks, needed(fields, "start-ticks"));
  FAIRLEAD_ASSIGN(started.at.ms, needed(fields, "at"));
  started.process = {static_cast<pid_t>(pid), static_cast<std::uint64_t>(ticks)};
  started.boot = fields.text("boot");
  started.mark = fields.text("mark");
  return started;
}

std::string boot_id() {
  return node::read_word("/proc/sys/kernel/random/boot_id").value_or("");
}

std::string stop_record(const StopOrder& order) {
  return FieldWriter()
      .add("cause", order.cause)
      .add("text", order.text)
      .add("signal", order.signal)
      .add("grace", order.grace.ms)
      .take();
}

Result<StopOrder> parse_stop(std::string_view text) {
  FAIRLEAD_ASSIGN(const Fields fields, Fields::parse(text));
  StopOrder order;
  order.cause = fields.text("cause");
  order.text = fields.text("text");
  FAIRLEAD_ASSIGN(const auto signal, needed(fields, "signal"));
  order.signal = static_cast<int>(signal);
  FAIRLEAD_ASSIGN(order.grace.ms, needed(fields, "grace"));
  return order;
}

std::string outcome_record(const Outcome& outcome) {
  FieldWriter out;
  if (const auto* ended = std::get_if<Ended>(&outcome)) {
    const TaskResult& result = ended->result;
    out.add("kind", kEnded).add("at", result.at.ms).add("lost", result.lost);
    add_if(out, "exit-code", result.exit_code);
    add_if(out, "signal", result.signal);
    add_if(out, "out-of-memory", result.out_of_memory);
    out.add("cause", result.cause)
        .add("text", result.text)
        .add("cpu-ms", result.cpu_time.ms)
        .add("max-memory", result.max_memory.value)
        .add("output-bytes", result.output_bytes)
        .add("output-lost", result.output_lost);
  } else if (const auto* failed = std::get_if<StartFailed>(&outcome)) {
    out.add("kind", kFailed)
        .add("code", static_cast<std::int64_t>(failed->error.code))
        .add("message", failed->error.message)
        .add("where", failed->error.where)
        .add("field", failed->error.field)
        .add("cure", failed->error.cure)
        .add("may-retry", failed->may_retry);
  } else {
    out.add("kind", kNeverBegan);
  }
  return out.take();
}

Result<Outcome> parse_outcome(const AttemptId& attempt, std::string_view text) {
  FAIRLEAD_ASSIGN(const Fields fields, Fields::parse(text));
  const std::string_view kind = fields.find("kind").value_or("");
  if (kind == kNeverBegan) return NeverBegan{attempt};
  if (kind == kFailed) {
    StartFailed failed;
    failed.attempt = attempt;
    FAIRLEAD_ASSIGN(const auto code, needed(fields, "code"));
    failed.error.code = static_cast<ErrorCode>(code);
    failed.error.message = fields.text("message");
    failed.error.where = fields.text("where");
    failed.error.field = fields.text("field");
    failed.error.cure = fields.text("cure");
    failed.may_retry = fields.number("may-retry") == 1;
    return failed;
  }
  if (kind != kEnded) return fail(ErrorCode::kIo, "the record has no kind that is known");
  Ended ended;
  ended.attempt = attempt;
  TaskResult& result = ended.result;
  FAIRLEAD_ASSIGN(result.at.ms, needed(fields, "at"));
  result.lost = fields.number("lost") == 1;
  result.exit_code = small(fields, "exit-code");
  result.signal = small(fields, "signal");
  if (const auto killed = fields.number("out-of-memory")) result.out_of_memory = *killed == 1;
  result.cause = fields.text("cause");
  result.text = fields.text("text");
  result.cpu_time.ms = fields.number("cpu-ms").value_or(0);
  result.max_memory = Bytes(fields.number("max-memory").value_or(0));
  result.output_bytes = fields.number("output-bytes").value_or(0);
  result.output_lost = fields.number("output-lost").value_or(0);
  return ended;
}

std::string notice_json(const StopOrder& order, Instant deadline) {
  std::string out = "{\"cause\": ";
  append_json_string(out, order.cause);
  out += ", \"text\": ";
  append_json_string(out, order.text);
  out += ", \"deadline\": ";
  append_json_string(out, to_rfc3339(deadline));
  out += "}\n";
  return out;
}

Instant wall_clock() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return Instant{std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000};
}

}  // namespace fairlead::engine
