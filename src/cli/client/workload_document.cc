#include "cli/client/workload_document.h"

#include <cstdlib>
#include <filesystem>
#include <map>

#include "base/decimal.h"
#include "base/time.h"

namespace fairlead::cli {
namespace {

std::unexpected<Error> refused(std::string message, std::string flag, std::string cure = {}) {
  return fail(
      Error{ErrorCode::kInvalidArgument, std::move(message), {}, std::move(flag), std::move(cure)});
}

std::unexpected<Error> at_flag(Error error, const std::string& flag) {
  error.field = flag;
  return fail(std::move(error));
}

using Words = std::map<std::string, std::string>;

// K=V, or K with its value from the surroundings. Of two of one name the last counts.
Result<Words> environment_of(const std::vector<std::string>& texts, const std::string& flag,
                             const Surroundings& around) {
  Words out;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    const std::string key = text.substr(0, equals);
    if (key.empty()) return refused("\"" + text + "\" has no name", flag, "as in NAME=VALUE");
    if (equals != std::string::npos) {
      out[key] = text.substr(equals + 1);
    } else if (const auto value = around.environment(key)) {
      out[key] = *value;
    } else {
      return refused("\"" + key + "\" is not set here", flag, "as in " + key + "=VALUE");
    }
  }
  return out;
}

Result<Words> pairs_of(const std::vector<std::string>& texts, const std::string& flag) {
  Words out;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return refused("\"" + text + "\" is no NAME=VALUE", flag, "as in team=vision");
    }
    out[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return out;
}

Tree tree_of(const Words& words) {
  Tree out = Tree::map();
  for (const auto& [key, value] : words) out.add(key, Tree::string(value));
  return out;
}

// "a,b c" as names.
std::vector<std::string> names_of(const std::vector<std::string>& texts) {
  std::vector<std::string> out;
  for (const std::string& text : texts) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find_first_of(", ", at), text.size());
      if (end > at) out.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  }
  return out;
}

Result<void> add_duration(Tree& out, const char* field, const std::string& text,
                          const std::string& flag) {
  if (text.empty()) return {};
  const auto duration = parse_duration(text);
  if (!duration) return at_flag(duration.error(), flag);
  out.add(field, Tree::string(to_text(*duration)));
  return {};
}

void add_number(Tree& out, const char* field, const std::string& text) {
  if (!text.empty()) out.add(field, Tree::number(text));
}

// What one task asks for; a task that stands for several (times > 1) asks for all of it.
Result<void> add_request(Tree& out, const SubmitFlags& flags, std::int64_t times,
                         const std::string& gpu_instead,
                         const std::vector<std::string>& resources_instead) {
  if (!gpu_instead.empty()) {
    FAIRLEAD_ASSIGN(Tree gpu, gpu_number(gpu_instead, "--master-gpu"));
    out.add("gpu", std::move(gpu));
  } else {
    FAIRLEAD_ASSIGN(std::optional<Tree> gpu, gpu_of(flags, times));
    if (gpu) out.add("gpu", std::move(*gpu));
  }
  if (!flags.cpu.empty()) {
    const auto cpu = parse_cpu(flags.cpu);
    if (!cpu) return at_flag(cpu.error(), "--cpu");
    out.add("cpu", Tree::number(cpu_text(*cpu * times)));
  }
  if (!flags.memory.empty()) {
    const auto memory = parse_bytes(flags.memory);
    if (!memory) return at_flag(memory.error(), "--memory");
    out.add("memory", Tree::string(bytes_text(*memory * times)));
  }
  const bool instead = !resources_instead.empty();
  const std::string flag = instead ? "--master-extended-resource" : "--extended-resource";
  FAIRLEAD_ASSIGN(const Words resources,
                  pairs_of(instead ? resources_instead : flags.extended_resources, flag));
  if (!resources.empty()) {
    Tree& map = out.add("resources", Tree::map());
    for (const auto& [name, text] : resources) {
      const auto amount = parse_decimal(text, 0);
      if (!amount) return at_flag(amount.error(), flag);
      map.add(name, Tree::number(*amount * times));
    }
  }
  const std::vector<std::string> types = names_of(flags.node_types);
  if (!types.empty()) out.add("nodeTypes", Tree::strings(types));
  const std::vector<std::string> classes = names_of(flags.gpu_types);
  if (!classes.empty()) out.add("deviceClasses", Tree::strings(classes));
  return {};
}

bool with_master(const SubmitFlags& flags) {
  return flags.kind != SubmitKind::kTraining && flags.kind != SubmitKind::kWorkspace &&
         flags.kind != SubmitKind::kMpi && !flags.no_master;
}

std::int64_t count_of(const std::string& text) {
  return text.empty() ? 1 : std::strtoll(text.c_str(), nullptr, 10);
}

// Workers, and a master beside them; on one machine the ranks of MPI are processes of one task,
// which holds what all of the workers would.
Result<void> add_roles(Tree& out, const SubmitFlags& flags) {
  const std::int64_t workers = count_of(flags.workers);
  if (flags.kind == SubmitKind::kMpi) {
    out.add("role", Tree::string("launcher"));
    return add_request(out, flags, workers, {}, {});
  }
  const std::int64_t most = flags.max_replicas.empty() ? workers : count_of(flags.max_replicas);
  const std::int64_t least = flags.min_replicas.empty() ? workers : count_of(flags.min_replicas);
  if (least > most) {
    return refused(
        "at least " + std::to_string(least) + " workers, but at most " + std::to_string(most),
        "--min-replicas", "lower it, or raise --max-replicas");
  }
  Tree& roles = out.add("roles", Tree::list());
  if (with_master(flags)) {
    Tree master = Tree::map();
    master.add("name", Tree::string("master"));
    FAIRLEAD_TRY(add_request(master, flags, 1, flags.master_gpu, flags.master_extended_resources));
    roles.push(std::move(master));
  }
  Tree worker = Tree::map();
  worker.add("name", Tree::string("worker"));
  worker.add("count", Tree::number(most));
  if (least < most) worker.add("min", Tree::number(least));
  FAIRLEAD_TRY(add_request(worker, flags, 1, {}, {}));
  roles.push(std::move(worker));
  return {};
}

// What the master does otherwise. NAME=- takes a variable from it, so that only the workers have
// it.
Result<void> add_role_runs(Tree& run, Words& environment, const SubmitFlags& flags,
                           const Surroundings& around) {
  if (!with_master(flags)) return {};
  std::vector<std::string> command;
  if (!flags.master_command.empty()) {
    FAIRLEAD_ASSIGN(command, split_words(flags.master_command));
  } else if (!flags.master_args.empty()) {
    command.push_back(flags.command.front());
  }
  if (!flags.master_args.empty()) {
    FAIRLEAD_ASSIGN(const std::vector<std::string> words, split_words(flags.master_args));
    command.insert(command.end(), words.begin(), words.end());
  }
  FAIRLEAD_ASSIGN(Words own,
                  environment_of(flags.master_environment, "--master-environment", around));
  Words of_workers;
  for (auto at = own.begin(); at != own.end();) {
    if (at->second != "-") {
      ++at;
      continue;
    }
    if (const auto found = environment.extract(at->first)) {
      of_workers[found.key()] = found.mapped();
    }
    at = own.erase(at);
  }
  if (command.empty() && own.empty() && of_workers.empty()) return {};
  Tree& roles = run.add("roles", Tree::map());
  if (!command.empty() || !own.empty()) {
    Tree& master = roles.add("master", Tree::map());
    if (!command.empty()) master.add("command", Tree::strings(command));
    if (!own.empty()) master.add("env", tree_of(own));
  }
  if (!of_workers.empty()) roles.add("worker", Tree::map()).add("env", tree_of(of_workers));
  return {};
}

Result<Tree> run_of(const SubmitFlags& flags, const Surroundings& around) {
  Tree run = Tree::map();
  run.add("command", Tree::strings(flags.command));
  std::string folder = around.folder;
  if (!flags.working_dir.empty()) {
    folder = flags.working_dir.starts_with('/') || around.folder.empty()
                 ? flags.working_dir
                 : (std::filesystem::path(around.folder) / flags.working_dir)
                       .lexically_normal()
                       .string();
    if (!folder.starts_with('/')) {
      return refused("\"" + folder + "\" is not absolute", "--working-dir", "begin it with /");
    }
  }
  if (!folder.empty()) run.add("workingDir", Tree::string(folder));
  FAIRLEAD_ASSIGN(Words environment, environment_of(flags.environment, "--environment", around));
  FAIRLEAD_TRY(add_role_runs(run, environment, flags, around));
  if (!environment.empty()) run.add("env", tree_of(environment));
  if (flags.tty || flags.attach) run.add("tty", Tree::boolean(true));
  if (flags.stdin_open || flags.attach) run.add("stdin", Tree::boolean(true));
  if (!flags.cpu_limit.empty()) {
    const auto limit = parse_cpu(flags.cpu_limit);
    if (!limit) return at_flag(limit.error(), "--cpu-limit");
    run.add("cpuLimit", Tree::number(cpu_text(*limit)));
  }
  if (!flags.memory_limit.empty()) {
    const auto limit = parse_bytes(flags.memory_limit);
    if (!limit) return at_flag(limit.error(), "--memory-limit");
    run.add("memoryLimit", Tree::string(bytes_text(*limit)));
  }
  add_number(run, "pids", flags.pids);
  add_number(run, "uid", flags.run_as_uid);
  add_number(run, "gid", flags.run_as_gid);
  return run;
}

bool is_number(const std::string& text) {
  return parse_decimal(text, 0).has_value();
}

// Type, priority and who may take it back.
void add_type(Tree& out, const SubmitFlags& flags) {
  const bool workspace = flags.kind == SubmitKind::kWorkspace || flags.interactive;
  const bool training = flags.kind == SubmitKind::kTraining;
  out.add("type", Tree::string(workspace ? "workspace" : training ? "training" : "distributed"));
  if (!flags.priority.empty()) {
    out.add("priority", is_number(flags.priority) ? Tree::number(flags.priority)
                                                  : Tree::string(flags.priority));
  } else if (workspace && flags.preemptible) {
    out.add("priority", Tree::string("build-preemptible"));
  }
  if (!flags.preemptibility.empty()) {
    out.add("preemptibility", Tree::string(flags.preemptibility));
  } else if (flags.preemptible) {
    out.add("preemptibility", Tree::string("preemptible"));
  }
}

}  // namespace

Surroundings surroundings() {
  Surroundings around;
  around.environment = [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  std::error_code none;
  around.folder = std::filesystem::current_path(none).string();
  return around;
}

Result<std::string> stated_name(const SubmitFlags& flags) {
  const int stated = static_cast<int>(!flags.name.empty()) +
                     static_cast<int>(!flags.name_option.empty()) +
                     static_cast<int>(!flags.name_prefix.empty());
  if (stated > 1) {
    return refused("the name is stated twice",
                   flags.name_prefix.empty() ? "--name" : "--name-prefix", "state it once");
  }
  if (stated == 0) {
    return fail(ErrorCode::kInvalidArgument, "a workload has a name",
                "state it first, or --name-prefix to have one made");
  }
  return flags.name.empty() ? flags.name_option : flags.name;
}

Result<Tree> workload_document(const SubmitFlags& flags, const std::string& name,
                               const Surroundings& around, DocumentForm form) {
  if (!flags.image.empty()) {
    return refused("an image asks for a container, and containers are not there yet", "--image",
                   flags.command.empty() ? "run a command as a process: fairlead submit NAME -- CMD"
                                         : "leave --image out to run the command as a process");
  }
  if (flags.command.empty()) {
    return fail(ErrorCode::kInvalidArgument, "there is no command",
                "state it after --, as in: fairlead submit NAME -- python train.py");
  }
  if (flags.completions.empty() && !flags.parallelism.empty()) {
    return refused("it says how many of the --completions run at once", "--parallelism",
                   "add --completions");
  }
  Tree out = Tree::map();
  if (form == DocumentForm::kWhole) {
    out.add("apiVersion", Tree::string("fairlead/v1"));
    out.add("kind", Tree::string("Workload"));
  }
  out.add("name", Tree::string(name));
  if (!flags.project.empty()) out.add("project", Tree::string(flags.project));
  add_type(out, flags);
  std::vector<std::string> pools = names_of(flags.node_pools);
  if (pools.empty() && !flags.bare_words.empty()) {
    return fail(
        ErrorCode::kInvalidArgument, "\"" + flags.bare_words.front() + "\" is one word too many",
        "the command stands after --, as in: fairlead submit NAME -- " + flags.bare_words.front());
  }
  pools.insert(pools.end(), flags.bare_words.begin(), flags.bare_words.end());
  if (!pools.empty()) out.add("pools", Tree::strings(pools));
  if (flags.kind == SubmitKind::kTraining || flags.kind == SubmitKind::kWorkspace) {
    FAIRLEAD_TRY(add_request(out, flags, 1, {}, {}));
  } else {
    FAIRLEAD_TRY(add_roles(out, flags));
  }
  add_number(out, "completions", flags.completions);
  add_number(out, "parallelism", flags.parallelism);
  add_number(out, "backoffLimit", flags.backoff_limit);
  FAIRLEAD_TRY(add_duration(out, "expectedRuntime", flags.expected_runtime, "--expected-runtime"));
  FAIRLEAD_TRY(add_duration(out, "maxRuntime", flags.max_runtime, "--max-runtime"));
  FAIRLEAD_TRY(add_duration(out, "gracePeriod", flags.grace_period, "--grace-period"));
  FAIRLEAD_TRY(add_duration(out, "autoDeleteAfter", flags.auto_delete_after,
                            "--auto-deletion-time-after-completion"));
  FAIRLEAD_ASSIGN(const Words labels, pairs_of(flags.labels, "--label"));
  if (!labels.empty()) out.add("labels", tree_of(labels));
  FAIRLEAD_ASSIGN(Tree run, run_of(flags, around));
  out.add("run", std::move(run));
  return out;
}

Result<std::vector<std::string>> split_words(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  bool begun = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
      begun = true;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      begun = true;
    } else if (c == ' ' || c == '\t') {
      if (begun) words.push_back(std::exchange(word, {}));
      begun = false;
    } else {
      word += c;
      begun = true;
    }
  }
  if (quote != 0) return fail(ErrorCode::kInvalidArgument, "a quote is not closed in: " + text);
  if (begun) words.push_back(std::move(word));
  return words;
}

}  // namespace fairlead::cli
