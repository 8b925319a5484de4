// fairlead simulate …: traces in virtual time through the production scheduling core.
#include "cli/simulate_command.h"

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/output.h"

namespace fairlead::cli {

void add_simulate_command(CLI::App& app, CliContext& context) {
  CLI::App* simulate = app.add_subcommand(
      "simulate", "Replay traces in virtual time, every decision by the scheduling core");
  simulate->require_subcommand(1);
  constexpr Example kExamples[] = {
      {"see it work in a second", "fairlead simulate demo"},
      {"how full does a policy pack a cluster",
       "fairlead simulate openb --nodes nodes.csv --pods pods.csv --policy default --seeds 42-51"},
      {"your own trace on your own cluster, as a page",
       "fairlead simulate trace jobs.csv --cluster cluster.yaml --html report.html"},
  };
  simulate->footer(examples(kExamples));
  add_simulate_demo(*simulate, context);
  add_simulate_trace(*simulate, context);
  add_simulate_generate(*simulate, context);
  add_simulate_openb(*simulate, context);
  add_simulate_muri(*simulate, context);
  add_simulate_gavel(*simulate, context);
  add_simulate_philly(*simulate, context);
}

}  // namespace fairlead::cli
