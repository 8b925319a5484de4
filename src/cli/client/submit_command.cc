// fairlead run, submit, submit-dist, apply; and submit below the nouns.
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/client/apply.h"
#include "cli/client/client_options.h"
#include "cli/client/submit.h"
#include "cli/client/verbs.h"
#include "cli/commands.h"

namespace fairlead::cli {
namespace {

constexpr const char* kFilesHelp = "Documents instead of flags; - is standard input";

void add_files_option(CLI::App& command, std::vector<std::string>& files) {
  command.add_option("-f,--file", files, kFilesHelp)
      ->type_name("FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

// A flag that may say whose check is meant: --dry-run, --dry-run=client.
void add_dry_run_flag(CLI::App& command, std::string& dry_run) {
  command
      .add_flag("--dry-run{server}", dry_run,
                "Check and store nothing; =client prints the document and asks nobody")
      ->check(CLI::IsMember({"server", "client"}));
}

std::shared_ptr<SubmitOptions> add_submission(CLI::App& command, SubmitKind kind,
                                              CliContext& context) {
  auto options = std::make_shared<SubmitOptions>();
  options->flags.kind = kind;
  command.add_option("NAME", options->flags.name, "Its name")->type_name("");
  add_submit_flags(command, options->flags);
  add_dry_run_flag(command, options->dry_run);
  add_format_option(
      command, options->format,
      {OutputFormat::kTable, OutputFormat::kJson, OutputFormat::kYaml, OutputFormat::kName});
  add_connection_flags(command, options->connection);
  on_run(command, context, [options, &context] { return submit(*options, context); });
  return options;
}

void add_run(CLI::App& app, CliContext& context) {
  constexpr Example kExamples[] = {
      {"two GPUs; the log comes here", "fairlead run -g 2 -- python train.py --lr 3e-4"},
      {"half a GPU, at most two hours", "fairlead run -g 0.5 --max-runtime 2h -- python eval.py"},
      {"submit it and go on", "fairlead run --detach -g 1 -- ./experiment.sh"},
  };
  CLI::App& command =
      add_verb(app, "run", "Submit a command and follow it: its log, its exit status", kExamples);
  auto options = add_submission(command, SubmitKind::kTraining, context);
  auto detach = std::make_shared<bool>(false);
  command.add_flag("-d,--detach", *detach, "Submit it and go on");
  on_run(command, context, [options, detach, &context] {
    options->follow = true;
    SubmitOptions detached = *options;
    if (*detach && detached.flags.name.empty() && detached.flags.name_option.empty() &&
        detached.flags.name_prefix.empty()) {
      detached.flags.name_prefix = name_of_command(context.after_dashes);
    }
    detached.follow = !*detach;
    return submit(std::move(detached), context);
  });
}

void add_distributed(CLI::App& app, CliContext& context) {
  CLI::App& noun = add_noun(app, "submit-dist", "Submit a distributed workload");
  add_submit_verb(noun, "pytorch", "A master and workers", SubmitKind::kPytorch, context);
  add_submit_verb(noun, "mpi", "Ranks that mpirun starts; on one machine in one task",
                  SubmitKind::kMpi, context);
  add_submit_verb(noun, "tf", "A master and workers", SubmitKind::kTensorflow, context);
  add_submit_verb(noun, "xgboost", "A master and workers", SubmitKind::kXgboost, context);
}

}  // namespace

void add_submit_verb(CLI::App& parent, const std::string& name, const std::string& what,
                     SubmitKind kind, CliContext& context) {
  CLI::App& command = add_verb(parent, name, what);
  (void)add_submission(command, kind, context);
}

void add_apply_verb(CLI::App& parent, const std::string& name, const std::string& what,
                    CliContext& context) {
  struct Options {
    std::vector<std::string> files;
    std::string project;
    std::string dry_run;
    ConnectionFlags connection;
  };
  auto options = std::make_shared<Options>();
  const ApplyMode mode = name == "apply" ? ApplyMode::kApply : ApplyMode::kCreate;
  CLI::App& command = add_verb(parent, name, what);
  add_files_option(command, options->files);
  command.get_option("--file")->required();
  add_project_flag(command, options->project);
  command.add_flag("--dry-run{server}", options->dry_run, "Check and store nothing");
  add_connection_flags(command, options->connection);
  on_run(command, context, [options, mode, &context] {
    return apply_files(options->files, options->connection, options->project,
                       !options->dry_run.empty(), mode, context);
  });
}

void add_submit_commands(CLI::App& app, CliContext& context) {
  add_run(app, context);
  constexpr Example kExamples[] = {
      {"one GPU", "fairlead submit train -g 1 -- python train.py"},
      {"a workspace that keeps its GPU", "fairlead submit nb --interactive -g 0.25 -- jupyter lab"},
      {"a sweep of 20 tasks, 4 at once",
       "fairlead submit sweep --completions 20 --parallelism 4 -g 1 -- ./trial.sh"},
      {"a document from flags", "fairlead submit train -g 1 --dry-run=client -- ./train.sh"},
      {"documents", "fairlead submit -f train.yaml"},
  };
  CLI::App& command = add_verb(app, "submit", "Submit a command, or documents", kExamples);
  auto options = add_submission(command, SubmitKind::kTraining, context);
  add_files_option(command, options->files);
  add_distributed(app, context);
  add_apply_verb(app, "apply", "Create what documents describe, or replace it", context);
}

}  // namespace fairlead::cli
