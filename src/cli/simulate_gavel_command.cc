// fairlead simulate gavel: completion times on GPUs of several types.
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/simulate_command.h"
#include "cli/simulate_options.h"
#include "cli/simulate_report.h"
#include "sim/csv/csv_file.h"
#include "sim/report/gavel_page.h"

namespace fairlead::cli {
namespace {

struct GavelCommandOptions {
  std::string jobs;
  std::string throughputs;
  std::string cluster = "v100:36,p100:36,k80:36";
  double jobs_per_hour = 0;
  std::string policy = "default";
  std::string measure = "4000-4999";
  std::string restart_cost = "0";
  OutputFormat format = OutputFormat::kTable;
  std::string output;
  std::string html;
};

Result<sim::GavelOptions> options_of(const GavelCommandOptions& in) {
  sim::GavelOptions out;
  FAIRLEAD_ASSIGN(out.cluster, sim::parse_gavel_cluster(in.cluster));
  out.jobs_per_hour = in.jobs_per_hour;
  out.policy = in.policy;
  const auto cost = parse_duration(in.restart_cost);
  if (!cost) {
    Error error = cost.error();
    error.field = "--restart-cost";
    return fail(std::move(error));
  }
  out.restart_cost = *cost;
  const std::size_t dash = in.measure.find('-');
  const auto ends =
      dash == std::string::npos
          ? Result<std::vector<std::uint64_t>>{}
          : parse_seeds(in.measure.substr(0, dash) + "," + in.measure.substr(dash + 1));
  if (!ends || ends->size() != 2 || (*ends)[0] > (*ends)[1]) {
    return fail(Error{ErrorCode::kInvalidArgument,
                      "\"" + in.measure + "\" is not a range of jobs",
                      {},
                      "--measure",
                      "write FIRST-LAST, positions in order of arrival, 0 or more, FIRST not above "
                      "LAST"});
  }
  out.first = (*ends)[0];
  out.last = (*ends)[1];
  return out;
}

struct GavelInput {
  std::vector<sim::GavelJob> jobs;
  sim::GavelThroughputs rates;
};

sim::Checked<GavelInput> load(const GavelCommandOptions& options) {
  GavelInput input;
  FAIRLEAD_ASSIGN(const sim::CsvFile jobs, sim::CsvFile::read(options.jobs));
  FAIRLEAD_ASSIGN(input.jobs, sim::read_gavel_jobs(jobs));
  FAIRLEAD_ASSIGN(const sim::CsvFile rates, sim::CsvFile::read(options.throughputs));
  FAIRLEAD_ASSIGN(input.rates, sim::read_gavel_throughputs(rates));
  return input;
}

int gavel(const GavelCommandOptions& in, CliContext& context) {
  const auto options = options_of(in);
  if (!options) return report(context, options.error());
  const auto input = load(in);
  if (!input) return report(context, input.error());
  if (!check_outputs(context, {{"--output", in.output, true}, {"--html", in.html}},
                     {in.jobs, in.throughputs})) {
    return context.exit_status;
  }
  const auto result = [&] {
    ProgressBar bar(context, "gavel " + in.policy);
    return sim::run_gavel(input->jobs, input->rates, *options, bar.part(0, 1));
  }();
  if (!result) return report(context, result.error());
  const Settings settings{
      {"jobs", in.jobs},       {"throughputs", in.throughputs},
      {"cluster", in.cluster}, {"jobsPerHour", CLI::detail::to_string(in.jobs_per_hour)},
      {"policy", in.policy},   {"restartCost", in.restart_cost}};
  if (!write_page(context, in.html, sim::gavel_page(in.policy, settings, *result))) {
    return context.exit_status;
  }
  return write_output(context, in.output,
                      in.format == OutputFormat::kJson ? gavel_json(in.policy, settings, *result)
                                                       : gavel_table(in.policy, *result));
}

}  // namespace

void add_simulate_gavel(CLI::App& simulate, CliContext& context) {
  auto options = std::make_shared<GavelCommandOptions>();
  CLI::App* command =
      simulate.add_subcommand("gavel", "Gavel's jobs on GPUs of several types, in rounds");
  command->add_option("--jobs", options->jobs, "Job list")->required()->type_name("CSV");
  command->add_option("--throughputs", options->throughputs, "Steps per second by GPU and job type")
      ->required()
      ->type_name("CSV");
  command
      ->add_option("--cluster", options->cluster, "GPUs by type (default v100:36,p100:36,k80:36)")
      ->type_name("TYPE:N,…");
  add_range(
      *command->add_option("--jobs-per-hour", options->jobs_per_hour, "Arrival rate")->required(),
      "RATE", 0.001, 1e6);
  add_choice(*command->add_option("--policy", options->policy, "Service order (default default)"),
             {"default", "fifo", "las"});
  command
      ->add_option("--measure", options->measure,
                   "Which jobs count, by arrival (default 4000-4999)")
      ->type_name("FIRST-LAST");
  add_duration_range(*command->add_option("--restart-cost", options->restart_cost,
                                          "What a start after the first costs (default 0)"),
                     Duration{}, minutes(6));
  add_format_option(*command, options->format, {OutputFormat::kTable, OutputFormat::kJson});
  add_output_option(*command, options->output);
  command->add_option("--html", options->html, "Also write a page with charts")->type_name("FILE");
  constexpr Example kExamples[] = {
      {"average completion time at 4 jobs an hour",
       "fairlead simulate gavel --jobs jobs.csv --throughputs rates.csv --jobs-per-hour 4"},
  };
  command->footer(examples(kExamples));
  command->callback([options, &context] { context.exit_status = gavel(*options, context); });
}

}  // namespace fairlead::cli
