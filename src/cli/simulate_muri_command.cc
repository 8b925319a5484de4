// fairlead simulate muri: completion times of training jobs under service-order policies.
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/simulate_command.h"
#include "cli/simulate_options.h"
#include "cli/simulate_report.h"
#include "sim/csv/csv_file.h"
#include "sim/muri/cluster.h"
#include "sim/muri/compatibility.h"
#include "sim/replay/replay.h"
#include "sim/report/replay_page.h"

namespace fairlead::cli {
namespace {

struct MuriOptions {
  std::string trace;
  std::int64_t nodes = 8;
  std::int64_t gpus_per_node = 8;
  std::string policy = "default";
  bool published = false;
  bool fairness = false;
  std::string restart_cost = "0";
  OutputFormat format = OutputFormat::kTable;
  std::string output;
  std::string html;
  std::string records;
};

Result<sim::ReplayOptions> plain_options(const std::vector<sim::MuriJob>& jobs,
                                         const MuriOptions& options,
                                         const sim::ServicePolicy& policy) {
  sim::ReplayOptions replay;
  replay.policy = policy;
  replay.take_back = false;  // one line of jobs, which stay where they are
  if (options.restart_cost == "measured") {
    for (const sim::MuriJob& job : jobs) {
      replay.start_costs.push_back(sim::muri_start_overhead(job.model, job.gpus));
    }
    return replay;
  }
  FAIRLEAD_ASSIGN(replay.restart_cost, parse_duration(options.restart_cost));
  return replay;
}

int muri(const MuriOptions& options, CliContext& context) {
  const auto policy = sim::ServicePolicy::named(options.policy);
  if (!policy) return report(context, policy.error());
  const auto file = sim::CsvFile::read(options.trace);
  if (!file) return report(context, file.error());
  const auto jobs = sim::read_muri_jobs(*file);
  if (!jobs) return report(context, jobs.error());
  if (options.published && options.restart_cost != "0") {
    return report(context, Error{ErrorCode::kInvalidArgument,
                                 "--published-overheads brings its own costs",
                                 {},
                                 "--restart-cost",
                                 "leave out one of the two"});
  }
  if (!check_outputs(context,
                     {{"--output", options.output, true},
                      {"--html", options.html},
                      {"--records", options.records}},
                     {options.trace})) {
    return context.exit_status;
  }
  const ClusterSpec cluster = sim::uniform_cluster(options.nodes, options.gpus_per_node);
  const auto replay_options = plain_options(*jobs, options, *policy);
  if (!replay_options) return report(context, replay_options.error());
  const auto trace = sim::muri_trace(*jobs, options.nodes, options.gpus_per_node);
  if (!trace) return report(context, trace.error());
  Result<sim::ReplayResult> result = [&] {
    ProgressBar bar(context, "muri " + options.policy);
    return options.published ? sim::replay_as_published(*jobs, options.nodes, options.gpus_per_node,
                                                        *policy, bar.part(0, 1))
                             : sim::replay(cluster, *trace, *replay_options, bar.part(0, 1));
  }();
  if (!result) return report(context, result.error());
  const sim::Summary summary = sim::summarise(*result);
  sim::Comparison comparison;
  if (options.fairness) {
    ProgressBar bar(context, "fairness");
    auto compared =
        sim::compare_fairness(cluster, *trace, *replay_options, *result, summary, bar.part(0, 1));
    if (!compared) return report(context, compared.error());
    comparison = std::move(*compared);
  }
  const Settings settings{{"trace", options.trace},
                          {"nodes", std::to_string(options.nodes)},
                          {"gpusPerNode", std::to_string(options.gpus_per_node)},
                          {"policy", options.policy},
                          {"mode", options.published ? "published overheads" : "plain"},
                          {"restartCost", options.published ? "published" : options.restart_cost}};
  if (!options.html.empty()) {
    const std::string page = sim::replay_page("Training jobs under policy " + options.policy,
                                              settings, *result, summary, comparison);
    if (!write_page(context, options.html, page)) return context.exit_status;
  }
  if (!write_page(context, options.records, records_text(*result))) return context.exit_status;
  return write_output(
      context, options.output,
      options.format == OutputFormat::kJson
          ? replay_json(options.policy, settings, *result, summary, comparison)
          : completion_table(options.policy, *result, summary) + comparison_table(comparison));
}

}  // namespace

void add_simulate_muri(CLI::App& simulate, CliContext& context) {
  auto options = std::make_shared<MuriOptions>();
  CLI::App* command =
      simulate.add_subcommand("muri", "Training jobs of the Muri traces on equal nodes");
  command->add_option("--trace", options->trace, "Job list")->required()->type_name("CSV");
  add_range(*command->add_option("--nodes", options->nodes, "Nodes (default 8)"), "N",
            std::int64_t{1}, std::int64_t{10'000});
  add_range(
      *command->add_option("--gpus-per-node", options->gpus_per_node, "GPUs of each (default 8)"),
      "N", std::int64_t{1}, std::int64_t{64});
  add_policy_option(*command, options->policy);
  CLI::Option* published =
      command->add_flag("--published-overheads", options->published,
                        "The published simulator's rules to the letter; srtf, srsf and tiresias");
  add_fairness_option(*command, options->fairness);
  command->get_option("--fairness")->excludes(published);
  add_restart_cost_option(*command, options->restart_cost,
                          "What each start after the first costs: 0, 30s, …, or \"measured\": each "
                          "start by the authors' table (default 0)",
                          "measured");
  add_format_option(*command, options->format, {OutputFormat::kTable, OutputFormat::kJson});
  add_output_option(*command, options->output);
  command->add_option("--html", options->html, "Also write a page with charts")->type_name("FILE");
  command->add_option("--records", options->records, "Also write one line per job")
      ->type_name("FILE");
  constexpr Example kExamples[] = {
      {"least attained service", "fairlead simulate muri --trace trace1.csv --policy las"},
      {"the published numbers",
       "fairlead simulate muri --trace trace1.csv --policy srtf --published-overheads -o json"},
      {"with real start costs",
       "fairlead simulate muri --trace trace1.csv --policy las --restart-cost measured"},
  };
  command->footer(examples(kExamples));
  command->callback([options, &context] { context.exit_status = muri(*options, context); });
}

}  // namespace fairlead::cli
