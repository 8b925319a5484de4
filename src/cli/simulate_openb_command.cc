// fairlead simulate openb: how well a placement policy fills a cluster of openb nodes.
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/simulate_command.h"
#include "cli/simulate_options.h"
#include "cli/simulate_report.h"
#include "sim/csv/csv_file.h"
#include "sim/report/churn_page.h"
#include "sim/report/openb_page.h"

namespace fairlead::cli {
namespace {

struct OpenbOptions {
  std::string nodes;
  std::string pods;
  std::string policy = "default";
  std::string seeds = "42-51";
  bool churn = false;
  double load = 95;
  bool no_speed = false;
  OutputFormat format = OutputFormat::kTable;
  std::string output;
  std::string html;
};

std::unexpected<std::vector<Error>> refused(const char* message, const std::string& where,
                                            const char* field, const char* cure) {
  return std::unexpected(
      std::vector<Error>{Error{ErrorCode::kInvalidArgument, message, where, field, cure}});
}

sim::Checked<sim::OpenbInput> load(const OpenbOptions& options) {
  sim::OpenbInput input;
  FAIRLEAD_ASSIGN(const sim::CsvFile nodes, sim::CsvFile::read(options.nodes));
  FAIRLEAD_ASSIGN(input.nodes, sim::read_openb_nodes(nodes));
  FAIRLEAD_ASSIGN(const sim::CsvFile pods, sim::CsvFile::read(options.pods));
  FAIRLEAD_ASSIGN(input.pods, sim::read_openb_pods(pods));
  if (sim::total_gpu_milli(input.nodes) == 0) {
    return refused("no node has a GPU", options.nodes, "column gpu", "there must be one to fill");
  }
  std::int64_t asked = 0;
  for (const sim::OpenbPod& pod : input.pods) asked += pod.milli();
  if (asked == 0) {
    return refused("no pod asks for a GPU", options.pods, "column num_gpu",
                   "there must be one to arrive");
  }
  return input;
}

Settings settings_of(const OpenbOptions& options, const sim::OpenbInput& input) {
  Settings settings{{"nodes", options.nodes},
                    {"pods", options.pods},
                    {"policy", options.policy},
                    {"seeds", options.seeds},
                    {"gpus", std::to_string(sim::total_gpu_milli(input.nodes) / kMilli)}};
  if (options.churn) settings.emplace_back("loadPercent", CLI::detail::to_string(options.load));
  return settings;
}

// Runs once per seed, then writes the page and the answer: run_one(seed, progress) is one run,
// page(policy, settings, runs) and print(settings, runs) are made of all of them.
template <class Run, class RunOne, class Page, class Print>
int run_all(const OpenbOptions& options, const sim::OpenbInput& input,
            const std::vector<std::uint64_t>& seeds, CliContext& context, const RunOne& run_one,
            const Page& page, const Print& print) {
  if (!check_outputs(context, {{"--output", options.output, true}, {"--html", options.html}},
                     {options.nodes, options.pods})) {
    return context.exit_status;
  }
  std::vector<Run> runs;
  {
    ProgressBar bar(context, "openb " + options.policy);
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      Result<Run> run = run_one(seeds[i], bar.part(i, seeds.size()));
      if (!run) return report(context, run.error());
      runs.push_back(std::move(*run));
    }
  }
  const Settings settings = settings_of(options, input);
  if (!write_page(context, options.html, page(options.policy, settings, runs))) {
    return context.exit_status;
  }
  return write_output(context, options.output, print(settings, runs));
}

int fill(const OpenbOptions& options, const sim::OpenbInput& input,
         const std::vector<std::uint64_t>& seeds, CliContext& context) {
  using Runs = std::vector<sim::OpenbRun>;
  return run_all<sim::OpenbRun>(
      options, input, seeds, context,
      [&](std::uint64_t seed, const sim::Progress& progress) {
        return sim::run_openb_fill(input, options.policy, seed, progress);
      },
      sim::openb_page,
      [&](const Settings& settings, const Runs& runs) {
        return options.format == OutputFormat::kJson
                   ? openb_json(options.policy, settings, runs, !options.no_speed)
                   : openb_table(options.policy, runs, !options.no_speed);
      });
}

int churn(const OpenbOptions& options, const sim::OpenbInput& input,
          const std::vector<std::uint64_t>& seeds, CliContext& context) {
  using Runs = std::vector<sim::ChurnRun>;
  return run_all<sim::ChurnRun>(
      options, input, seeds, context,
      [&](std::uint64_t seed, const sim::Progress& progress) {
        return sim::run_openb_churn(input, options.policy, seed, options.load, progress);
      },
      sim::churn_page,
      [&](const Settings& settings, const Runs& runs) {
        return options.format == OutputFormat::kJson
                   ? churn_json(options.policy, settings, runs, !options.no_speed)
                   : churn_table(options.policy, runs, !options.no_speed);
      });
}

int openb(const OpenbOptions& options, CliContext& context) {
  const auto seeds = parse_seeds(options.seeds);
  if (!seeds) return report(context, seeds.error());
  const auto input = load(options);
  if (!input) return report(context, input.error());
  return options.churn ? churn(options, *input, *seeds, context)
                       : fill(options, *input, *seeds, context);
}

}  // namespace

void add_simulate_openb(CLI::App& simulate, CliContext& context) {
  auto options = std::make_shared<OpenbOptions>();
  CLI::App* command = simulate.add_subcommand(
      "openb", "Fill a cluster with pods of the openb trace until nothing fits");
  command->add_option("--nodes", options->nodes, "Node list")->required()->type_name("CSV");
  command->add_option("--pods", options->pods, "Pod list")->required()->type_name("CSV");
  add_placement_option(*command, "--policy", options->policy);
  command->add_option("--seeds", options->seeds, "42-51, or 1,2,7 (default 42-51)")
      ->type_name("SEEDS");
  CLI::Option* churn =
      command->add_flag("--churn", options->churn,
                        "Pods also leave, at a steady load; what does not fit at once is lost");
  CLI::Option* load =
      command->add_option("--load", options->load, "With --churn: offered load in % (default 95)");
  add_range(*load->needs(churn), "PERCENT", 1.0, 1000.0);
  command->add_flag("--no-speed", options->no_speed,
                    "Leave out decisions per second, so that output is the same every time");
  add_format_option(*command, options->format, {OutputFormat::kTable, OutputFormat::kJson});
  add_output_option(*command, options->output);
  command->add_option("--html", options->html, "Also write a page with charts")->type_name("FILE");
  constexpr Example kExamples[] = {
      {"ten seeds of the default policy",
       "fairlead simulate openb --nodes nodes.csv --pods pods.csv"},
      {"another policy, for a program",
       "fairlead simulate openb --nodes nodes.csv --pods pods.csv --policy fgd --seeds 42 -o json"},
      {"with departures", "fairlead simulate openb --nodes nodes.csv --pods pods.csv --churn"},
  };
  command->footer(examples(kExamples));
  command->callback([options, &context] { context.exit_status = openb(*options, context); });
}

}  // namespace fairlead::cli
