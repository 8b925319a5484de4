// Every command of the program. See app.h for how to add one.
#pragma once

#include "cli/app.h"

namespace fairlead::cli {

void add_completion_command(CLI::App& app, CliContext& context);
void add_replay_command(CLI::App& app, CliContext& context);
void add_scenario_command(CLI::App& app, CliContext& context);
void add_share_command(CLI::App& app, CliContext& context);
void add_schema_command(CLI::App& app, CliContext& context);
void add_simulate_command(CLI::App& app, CliContext& context);
void add_up_command(CLI::App& app, CliContext& context);
void add_down_command(CLI::App& app, CliContext& context);
void add_validate_command(CLI::App& app, CliContext& context);
void add_whatif_command(CLI::App& app, CliContext& context);

}  // namespace fairlead::cli
