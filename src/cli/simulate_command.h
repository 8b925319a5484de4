// The parts of `fairlead simulate`, one command each.
#pragma once

#include "cli/app.h"

namespace fairlead::cli {

void add_simulate_demo(CLI::App& simulate, CliContext& context);
void add_simulate_trace(CLI::App& simulate, CliContext& context);
void add_simulate_philly(CLI::App& simulate, CliContext& context);
void add_simulate_generate(CLI::App& simulate, CliContext& context);
void add_simulate_openb(CLI::App& simulate, CliContext& context);
void add_simulate_muri(CLI::App& simulate, CliContext& context);
void add_simulate_gavel(CLI::App& simulate, CliContext& context);

}  // namespace fairlead::cli
