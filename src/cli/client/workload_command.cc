// The workload verbs at the top, and below workspace, training, pytorch, mpi, workload.
#include <CLI/CLI.hpp>

#include "cli/client/client_options.h"
#include "cli/client/verbs.h"
#include "cli/commands.h"

namespace fairlead::cli {
namespace {

// All but submit and list.
void add_other_verbs(CLI::App& noun, CliContext& context) {
  add_workload_describe_verb(noun, context);
  add_life_verbs(noun, context);
  add_logs_verb(noun, context);
  add_session_verbs(noun, context);
}

void add_kind(CLI::App& parent, const char* name, const char* what, SubmitKind kind,
              std::vector<std::string> types, CliContext& context) {
  CLI::App& noun = add_noun(parent, name, what);
  add_submit_verb(noun, "submit", "Submit one", kind, context);
  add_workload_list_verb(noun, std::move(types), context);
  add_other_verbs(noun, context);
}

}  // namespace

void add_workload_commands(CLI::App& app, CliContext& context) {
  add_logs_verb(app, context);
  add_session_verbs(app, context);
  add_life_verbs(app, context);
}

void add_workload_nouns(CLI::App& app, CliContext& context) {
  add_kind(app, "workspace", "Interactive workloads", SubmitKind::kWorkspace, {"workspace"},
           context);
  CLI::App& training = add_noun(app, "training", "Workloads that run to their end");
  add_submit_verb(training, "submit", "Submit one", SubmitKind::kTraining, context);
  add_workload_list_verb(training, {"training", "distributed"}, context);
  add_other_verbs(training, context);
  add_kind(training, "standard", "Of equal tasks", SubmitKind::kTraining, {"training"}, context);
  add_kind(training, "pytorch", "Of a master and workers", SubmitKind::kPytorch, {"distributed"},
           context);
  add_kind(training, "mpi", "Of ranks that mpirun starts", SubmitKind::kMpi, {"distributed"},
           context);
  add_kind(app, "pytorch", "As training pytorch", SubmitKind::kPytorch, {"distributed"}, context);
  add_kind(app, "mpi", "As training mpi", SubmitKind::kMpi, {"distributed"}, context);
  CLI::App& workload = add_noun(app, "workload", "Workloads of every type");
  add_apply_verb(workload, "submit", "Submit documents", context);
  add_workload_list_verb(workload, {}, context);
  add_other_verbs(workload, context);
}

}  // namespace fairlead::cli
