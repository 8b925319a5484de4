#include "model/submission.h"

#include <algorithm>

#include "base/decimal.h"
#include "model/cluster_printer.h"
#include "model/cluster_reader.h"
#include "model/readers.h"

namespace fairlead {
namespace {

constexpr std::size_t kMostWords = 10'000;
constexpr std::size_t kMostBytes = 1 << 20;  // of command and environment, as execve takes them
constexpr std::int64_t kMostUid = 4'294'967'294;

bool valid_variable(const std::string& name) {
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                  (c >= 'A' && c <= 'Z');
         });
}

bool holds_nul(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

std::vector<std::string> read_command(ObjectReader& in) {
  std::vector<std::string> words;
  Findings& findings = in.findings();
  const Value* command = in.get("command");
  if (command == nullptr) return words;
  std::size_t bytes = 0;
  in.each("command", [&](const Value& item) {
    std::string word = as_string(item, findings).value_or("");
    bytes += word.size();
    if (holds_nul(word)) {
      findings.error(item, ErrorCode::kInvalidArgument, "an argument holds a NUL byte");
    }
    words.push_back(std::move(word));
  });
  if (command->is_list() && (words.empty() || words.front().empty())) {
    findings.error(*command, ErrorCode::kInvalidArgument,
                   "the command is empty; the first word names a program",
                   "command: [python, train.py]");
  }
  if (words.size() > kMostWords || bytes > kMostBytes) {
    findings.error(*command, ErrorCode::kOutOfRange,
                   "the command has " + std::to_string(words.size()) + " words and " +
                       std::to_string(bytes) + " bytes; allowed are " + std::to_string(kMostWords) +
                       " and " + std::to_string(kMostBytes),
                   "put it into a script");
  }
  return words;
}

std::map<std::string, std::string> read_env(ObjectReader& in) {
  std::map<std::string, std::string> env = in.string_map("env");
  const Value* place = in.get("env");
  std::size_t bytes = 0;
  for (const auto& [name, value] : env) {
    bytes += name.size() + value.size() + 2;
    if (!valid_variable(name)) {
      in.findings().error(*place, ErrorCode::kInvalidArgument,
                          "\"" + name + "\" cannot be the name of a variable",
                          "use letters, digits and _, and no digit first");
    } else if (holds_nul(value)) {
      in.findings().error(*place, ErrorCode::kInvalidArgument,
                          "the value of " + name + " holds a NUL byte");
    }
  }
  if (bytes > kMostBytes) {
    in.findings().error(*place, ErrorCode::kOutOfRange,
                        "the environment has " + std::to_string(bytes) + " bytes; allowed are " +
                            std::to_string(kMostBytes),
                        "put large values into files");
  }
  return env;
}

RunSpec read_run(const Value& value, const WorkloadSpec& spec, Findings& findings) {
  ObjectReader in(value, findings);
  RunSpec run;
  run.command = read_command(in);
  run.image = in.string("image").value_or("");
  run.working_dir = in.string("workingDir").value_or("");
  if (!run.working_dir.empty() && (run.working_dir.front() != '/' || holds_nul(run.working_dir))) {
    findings.error(*in.get("workingDir"), ErrorCode::kInvalidArgument,
                   "\"" + run.working_dir + "\" is not an absolute path", "begin it with /");
  }
  run.env = read_env(in);
  run.tty = in.boolean("tty").value_or(false);
  run.keep_stdin = in.boolean("stdin").value_or(false);
  run.pids = in.integer("pids", 1, 4'194'304);
  run.cpu_limit = in.milli_cpu("cpuLimit");
  if (run.cpu_limit && *run.cpu_limit < 10) {
    findings.error(*in.get("cpuLimit"), ErrorCode::kOutOfRange,
                   "a limit below a hundredth of a CPU", "raise it, or remove it");
  }
  run.memory_limit = in.bytes("memoryLimit");
  if (run.memory_limit && *run.memory_limit < (4 << 20)) {
    findings.error(*in.get("memoryLimit"), ErrorCode::kOutOfRange, "a limit below 4Mi",
                   "raise it, or remove it");
  }
  run.uid = in.integer("uid", 0, kMostUid);
  run.gid = in.integer("gid", 0, kMostUid);
  in.entries("roles", [&](const Value& item) {
    ObjectReader role_in(item, findings);
    RoleRun role;
    role.command = read_command(role_in);
    role.env = read_env(role_in);
    const bool known = std::any_of(spec.roles.begin(), spec.roles.end(),
                                   [&](const RoleSpec& r) { return r.name == item.key(); });
    if (!known) {
      std::vector<std::string> names;
      for (const RoleSpec& r : spec.roles) names.push_back(r.name);
      report_unknown(item, findings, "role", item.key(), names);
    }
    run.roles.emplace(item.key(), std::move(role));
  });
  return run;
}

struct RunFields {
  RunSpec run;
  Labels labels;
  std::optional<Duration> auto_delete_after;
};

RunFields read_run_fields(ObjectReader& in, const WorkloadSpec& spec) {
  RunFields fields;
  if (const Value* run = in.get("run")) fields.run = read_run(*run, spec, in.findings());
  fields.labels = in.string_map("labels");
  fields.auto_delete_after = in.duration("autoDeleteAfter");
  return fields;
}

Tree map_tree(const std::map<std::string, std::string>& map) {
  Tree out = Tree::map();
  for (const auto& [key, value] : map) out.add(key, Tree::string(value));
  return out;
}

Tree run_tree(const RunSpec& run) {
  Tree out = Tree::map();
  if (!run.command.empty()) out.add("command", Tree::strings(run.command));
  if (!run.image.empty()) out.add("image", Tree::string(run.image));
  if (!run.working_dir.empty()) out.add("workingDir", Tree::string(run.working_dir));
  if (!run.env.empty()) out.add("env", map_tree(run.env));
  if (run.tty) out.add("tty", Tree::boolean(true));
  if (run.keep_stdin) out.add("stdin", Tree::boolean(true));
  if (run.pids) out.add("pids", Tree::number(*run.pids));
  if (run.cpu_limit) out.add("cpuLimit", Tree::number(cpu_text(*run.cpu_limit)));
  if (run.memory_limit) out.add("memoryLimit", Tree::string(bytes_text(*run.memory_limit)));
  if (run.uid) out.add("uid", Tree::number(*run.uid));
  if (run.gid) out.add("gid", Tree::number(*run.gid));
  if (!run.roles.empty()) {
    Tree& roles = out.add("roles", Tree::map());
    for (const auto& [name, role] : run.roles) {
      Tree& map = roles.add(name, Tree::map());
      if (!role.command.empty()) map.add("command", Tree::strings(role.command));
      if (!role.env.empty()) map.add("env", map_tree(role.env));
    }
  }
  return out;
}

}  // namespace

const std::vector<std::string>& RunSpec::command_of(const std::string& role) const {
  const auto found = roles.find(role);
  return found != roles.end() && !found->second.command.empty() ? found->second.command : command;
}

void check_run_fields(ObjectReader& in, const WorkloadSpec& spec) {
  static_cast<void>(read_run_fields(in, spec));
}

Submission read_submission(const Value& value, Findings& findings) {
  Submission submission;
  ClusterLimits limits;
  limits.project_stated = false;
  submission.entry = read_workload(value, findings, limits);
  if (!value.is_map()) return submission;
  // What is wrong with them is reported by read_workload() already.
  Findings known("");
  ObjectReader in(value, known);
  RunFields fields = read_run_fields(in, submission.entry.spec);
  submission.run = std::move(fields.run);
  submission.labels = std::move(fields.labels);
  submission.auto_delete_after = fields.auto_delete_after;
  return submission;
}

Tree submission_tree(const Submission& submission) {
  Tree out = workload_tree(submission.entry, "project");
  if (submission.run != RunSpec{}) out.add("run", run_tree(submission.run));
  if (!submission.labels.empty()) out.add("labels", map_tree(submission.labels));
  if (submission.auto_delete_after) {
    out.add("autoDeleteAfter", Tree::string(to_text(*submission.auto_delete_after)));
  }
  return out;
}

}  // namespace fairlead
