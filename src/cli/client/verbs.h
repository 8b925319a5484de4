// What can be done to workloads, as commands: the same verbs stand at the top and below the nouns
// workspace, training, workload, ….
#pragma once

#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/client/submit_flags.h"

namespace fairlead::cli {

// submit_command.cc
void add_submit_verb(CLI::App& parent, const std::string& name, const std::string& what,
                     SubmitKind kind, CliContext& context);
// -f alone.
void add_apply_verb(CLI::App& parent, const std::string& name, const std::string& what,
                    CliContext& context);
// list_command.cc: of these types; empty: all.
void add_workload_list_verb(CLI::App& parent, std::vector<std::string> types, CliContext& context);
// describe_command.cc: of workloads.
void add_workload_describe_verb(CLI::App& parent, CliContext& context);
// life_command.cc: suspend, resume, delete.
void add_life_verbs(CLI::App& parent, CliContext& context);
// logs_command.cc
void add_logs_verb(CLI::App& parent, CliContext& context);
// exec_command.cc: exec, bash, attach, port-forward.
void add_session_verbs(CLI::App& parent, CliContext& context);

}  // namespace fairlead::cli
