#include "cli/client/submit_flags.h"

#include <CLI/CLI.hpp>

#include "cli/client/foreign_flags.h"
#include "cli/output.h"

namespace fairlead::cli {
namespace {

constexpr std::int64_t kMost = 1'000'000;

CLI::Option* text(CLI::App& app, const char* names, std::string& target, const char* what,
                  const char* type, const char* group) {
  return app.add_option(names, target, what)->type_name(type)->group(group);
}

void number(CLI::App& app, const char* names, std::string& target, const char* what,
            const char* type, std::int64_t lowest, std::int64_t highest, const char* group) {
  add_range(*app.add_option(names, target, what)->group(group), type, lowest, highest);
}

// May be stated several times, with one value each.
void list(CLI::App& app, const char* names, std::vector<std::string>& target, const char* what,
          const char* type, const char* group) {
  app.add_option(names, target, what)
      ->type_name(type)
      ->group(group)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_naming(CLI::App& app, SubmitFlags& flags) {
  constexpr const char* kGroup = "Name";
  text(app, "--name", flags.name_option, "Its name, instead of the first word", "NAME", kGroup);
  text(app, "--name-prefix,--job-name-prefix", flags.name_prefix,
       "Begin of its name; a number is put behind it", "PREFIX", kGroup);
  text(app, "-p,--project", flags.project, "Its project, instead of the default one", "PROJECT",
       kGroup);
  list(app, "-l,--label", flags.labels, "A label; may be repeated", "KEY=VALUE", kGroup);
}

void add_life(CLI::App& app, SubmitFlags& flags) {
  constexpr const char* kGroup = "Type and life";
  if (flags.kind == SubmitKind::kTraining) {
    app.add_flag("--interactive", flags.interactive,
                 "A workspace: not preempted, and within the quota of its project")
        ->group(kGroup);
  }
  app.add_flag("--preemptible", flags.preemptible,
               "May use more than the quota, and may be stopped for others")
      ->group(kGroup);
  add_choice(*app.add_option("--preemptibility", flags.preemptibility,
                             "Whether it may be stopped for others")
                  ->group(kGroup),
             {"preemptible", "non-preemptible", "semi-preemptible"});
  text(app, "--priority", flags.priority,
       "A number, or train, build-preemptible, build or inference", "PRIORITY", kGroup);
  text(app, "--max-runtime", flags.max_runtime, "It is ended after this time", "DURATION", kGroup);
  text(app, "--expected-runtime", flags.expected_runtime, "How long it runs; helps to plan",
       "DURATION", kGroup);
  text(app, "--grace-period,--termination-grace-period", flags.grace_period,
       "Between the notice and the end when it is stopped", "DURATION", kGroup);
  number(app, "--completions,--runs", flags.completions, "So many equal tasks, each by itself",
         "COUNT", 1, kMost, kGroup);
  number(app, "--parallelism", flags.parallelism, "How many of them run at once", "COUNT", 1, kMost,
         kGroup);
  number(app, "--backoff-limit", flags.backoff_limit,
         "How many failures are tried again (default 6)", "COUNT", 0, 2147483647, kGroup);
  text(app, "--auto-deletion-time-after-completion,--auto-delete-after,--ttl-after-finish",
       flags.auto_delete_after, "It is deleted so long after its end", "DURATION", kGroup);
}

void add_resources(CLI::App& app, SubmitFlags& flags) {
  constexpr const char* kGroup = "Resources";
  text(app, "-g,--gpu,--gpus,--gpu-devices-request", flags.gpu, "GPUs: 2, or a part of one: 0.5",
       "GPUS", kGroup);
  text(app, "--gpu-portion-request", flags.gpu_portion, "This part of each of --gpu devices",
       "PORTION", kGroup);
  text(app, "--gpu-portion-limit", flags.gpu_portion_limit,
       "Up to this part while nobody else holds it", "PORTION", kGroup);
  text(app, "--gpu-memory,--gpu-memory-request", flags.gpu_memory,
       "GPU memory of each of --gpu devices (default 1)", "SIZE", kGroup);
  text(app, "--gpu-memory-limit", flags.gpu_memory_limit,
       "Up to this GPU memory while nobody else holds it", "SIZE", kGroup);
  text(app, "--mig-profile", flags.mig_profile, "A MIG instance, as 1g.10gb", "PROFILE", kGroup);
  add_choice(
      *app.add_option("--gpu-request-type", flags.gpu_request_type, "Which of the amounts is meant")
           ->group(kGroup),
      {"portion", "memory", "migProfile"});
  text(app, "--cpu,--cpu-core-request", flags.cpu, "CPUs: 4, 0.5 or 500m", "CPUS", kGroup);
  text(app, "--cpu-limit,--cpu-core-limit", flags.cpu_limit, "CPUs at most", "CPUS", kGroup);
  text(app, "--memory,--mem,--cpu-memory-request", flags.memory, "Memory: 48Gi, 1.5T", "SIZE",
       kGroup);
  text(app, "--memory-limit,--cpu-memory-limit", flags.memory_limit,
       "Memory at most; more is killed (default as --memory)", "SIZE", kGroup);
  number(app, "--pids", flags.pids, "Processes and threads at most", "COUNT", 1, 4194304, kGroup);
  list(app, "--extended-resource", flags.extended_resources, "Of a named resource; may be repeated",
       "NAME=AMOUNT", kGroup);
}

void add_place(CLI::App& app, SubmitFlags& flags) {
  constexpr const char* kGroup = "Where";
  list(app, "--node-pools", flags.node_pools, "Node pools in the order to be tried, by commas",
       "POOL,...", kGroup);
  // "--node-pools a b": CLI11 cannot tell b from a NAME, so that it counts where the name is
  // stated.
  app.add_option("POOL", flags.bare_words, "More of --node-pools")->type_name("")->group("");
  list(app, "--node-type", flags.node_types, "Only nodes of this type", "TYPE", kGroup);
  list(app, "--gpu-type", flags.gpu_types, "Only GPUs of this class, as H100-80GB", "CLASS",
       kGroup);
}

void add_process(CLI::App& app, SubmitFlags& flags) {
  constexpr const char* kGroup = "Process";
  text(app, "-i,--image", flags.image, "A container image (not there yet)", "IMAGE", kGroup);
  list(app, "-e,--environment,--env", flags.environment,
       "A variable; NAME alone takes its value from here; may be repeated", "NAME[=VALUE]", kGroup);
  text(app, "--working-dir,--workdir", flags.working_dir,
       "The folder in which it starts (default the current one)", "FOLDER", kGroup);
  text(app, "--run-as-uid", flags.run_as_uid, "As this user id; administrators only", "UID",
       kGroup);
  text(app, "--run-as-gid", flags.run_as_gid, "As this group id; administrators only", "GID",
       kGroup);
  app.add_flag("-t,--tty", flags.tty, "Give it a terminal")->group(kGroup);
  app.add_flag("--stdin", flags.stdin_open, "Keep its input open")->group(kGroup);
  app.add_flag("--attach", flags.attach,
               "Wait until it runs and attach to it; implies --tty and --stdin")
      ->group(kGroup);
}

void add_distributed(CLI::App& app, SubmitFlags& flags) {
  constexpr const char* kGroup = "Distributed";
  number(app, "--workers", flags.workers, "How many workers (default 1)", "COUNT", 1, kMost,
         kGroup);
  if (flags.kind == SubmitKind::kMpi) return;
  if (flags.kind == SubmitKind::kPytorch) {
    number(app, "--min-replicas", flags.min_replicas, "So many workers at least", "COUNT", 0, kMost,
           kGroup);
    number(app, "--max-replicas", flags.max_replicas, "So many workers while there is room",
           "COUNT", 1, kMost, kGroup);
  }
  app.add_flag("--no-master", flags.no_master, "Workers only")->group(kGroup);
  text(app, "--master-command", flags.master_command, "Another command for the master, as one text",
       "TEXT", kGroup);
  text(app, "--master-args", flags.master_args,
       "Other arguments for the master's command, as one text", "TEXT", kGroup);
  list(app, "--master-environment", flags.master_environment,
       "A variable of the master; NAME=- takes one away; may be repeated", "NAME[=VALUE]", kGroup);
  text(app, "--master-gpu,--master-gpu-devices-request,--master-gpu-portion-request",
       flags.master_gpu, "GPUs of the master (default as of a worker)", "GPUS", kGroup);
  list(app, "--master-extended-resource", flags.master_extended_resources,
       "Of a named resource, for the master; may be repeated", "NAME=AMOUNT", kGroup);
}

// Hidden: --help shows what works.
void add_foreign(CLI::App& app, SubmitFlags& flags) {
  constexpr const char* kHidden = "";
  for (const ForeignFlag& flag : foreign_flags()) {
    const std::string name(flag.name());
    const std::string names(flag.names);
    if (flag.takes_value) {
      app.add_option_function<std::vector<std::string>>(
             names,
             [&flags, name](const std::vector<std::string>&) { flags.foreign.push_back(name); },
             "Not used here")
          ->expected(1)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
          ->group(kHidden);
    } else {
      app.add_flag_callback(
             names, [&flags, name] { flags.foreign.push_back(name); }, "Not used here")
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
          ->group(kHidden);
    }
  }
}

}  // namespace

void add_submit_flags(CLI::App& command, SubmitFlags& flags) {
  add_naming(command, flags);
  add_life(command, flags);
  add_resources(command, flags);
  add_place(command, flags);
  add_process(command, flags);
  if (flags.kind != SubmitKind::kTraining && flags.kind != SubmitKind::kWorkspace) {
    add_distributed(command, flags);
  }
  add_foreign(command, flags);
}

}  // namespace fairlead::cli
