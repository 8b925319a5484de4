// Every command of the program. See app.h for how to add one.
#pragma once

#include "cli/app.h"

namespace fairlead::cli {

void add_backup_command(CLI::App& app, CliContext& context);
void add_completion_command(CLI::App& app, CliContext& context);
void add_man_command(CLI::App& app, CliContext& context);
void add_replay_command(CLI::App& app, CliContext& context);
void add_scenario_command(CLI::App& app, CliContext& context);
void add_share_command(CLI::App& app, CliContext& context);
void add_schema_command(CLI::App& app, CliContext& context);
void add_simulate_command(CLI::App& app, CliContext& context);
void add_server_commands(CLI::App& app, CliContext& context);
void add_validate_command(CLI::App& app, CliContext& context);
void add_whatif_command(CLI::App& app, CliContext& context);

// client/: what talks to a server.
void add_access_commands(CLI::App& app, CliContext& context);
void add_ask_commands(CLI::App& app, CliContext& context);
void add_complete_command(CLI::App& app, CliContext& context);
void add_describe_command(CLI::App& app, CliContext& context);
void add_list_commands(CLI::App& app, CliContext& context);
void add_login_commands(CLI::App& app, CliContext& context);
void add_organization_commands(CLI::App& app, CliContext& context);
void add_export_command(CLI::App& app, CliContext& context);
void add_reservation_command(CLI::App& app, CliContext& context);
void add_settings_command(CLI::App& app, CliContext& context);
void add_submit_commands(CLI::App& app, CliContext& context);
void add_top_command(CLI::App& app, CliContext& context);
void add_workload_commands(CLI::App& app, CliContext& context);
void add_workload_nouns(CLI::App& app, CliContext& context);

}  // namespace fairlead::cli
