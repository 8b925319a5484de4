// fairlead simulate trace, philly and demo: a trace on a cluster, with everything a replay can do.
#include <cmath>
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/log_file.h"
#include "cli/simulate_command.h"
#include "cli/simulate_options.h"
#include "cli/simulate_report.h"
#include "model/cluster_reader.h"
#include "sim/csv/csv_file.h"
#include "sim/demo/demo.h"
#include "sim/replay/replay.h"
#include "sim/report/replay_page.h"
#include "sim/trace/own.h"
#include "sim/trace/philly.h"

namespace fairlead::cli {
namespace {

struct TraceOptions {
  std::string file;
  std::string cluster;
  std::string policy = "default";
  std::string placement = "default";
  std::uint64_t seed = 1;
  std::string restart_cost = "0";
  std::string checkpoint = "30m";
  bool no_taking_back = false;
  bool fairness = false;
  bool faults = false;
  double fault_scale = 1;
  double refused_percent = 0;
  std::int64_t limit = 0;
  OutputFormat format = OutputFormat::kTable;
  std::string output;
  std::string html;
  std::string records;
  std::string record_log;
  std::string write;  // demo only: folder for its two files
};

constexpr Duration kFaultsBeyondTrace = hours(24 * 30);
constexpr double kMaxFaults = 2'000'000;

Result<Duration> duration_option(const std::string& text, const char* option) {
  const auto value = parse_duration(text);
  if (value) return *value;
  Error error = value.error();
  error.field = option;
  return fail(std::move(error));
}

Result<sim::ReplayOptions> replay_options(const TraceOptions& in, const ClusterSpec& cluster,
                                          const std::vector<sim::TraceJob>& jobs) {
  sim::ReplayOptions out;
  FAIRLEAD_ASSIGN(out.policy, sim::ServicePolicy::named(in.policy));
  out.placement = in.placement;
  out.seed = in.seed;
  FAIRLEAD_ASSIGN(out.restart_cost, duration_option(in.restart_cost, "--restart-cost"));
  FAIRLEAD_ASSIGN(out.checkpoint_every, duration_option(in.checkpoint, "--checkpoint-every"));
  out.take_back = !in.no_taking_back;
  out.refused_starts_milli = std::llround(in.refused_percent * 10);
  if (in.refused_percent > 0 && out.refused_starts_milli == 0) {
    return fail(Error{ErrorCode::kOutOfRange,
                      CLI::detail::to_string(in.refused_percent) + " is below the smallest step",
                      {},
                      "--refused-starts",
                      "allowed are 0, and 0.1 to 90 in steps of 0.1"});
  }
  if (in.faults) {
    sim::FaultRates rates;
    rates.scale = in.fault_scale;
    Instant last;
    for (const sim::TraceJob& job : jobs) last = std::max(last, job.submit + job.run_time);
    const Duration horizon = (last - Instant{}) + kFaultsBeyondTrace;
    const double expected = sim::expected_faults(cluster, horizon, rates);
    if (expected > kMaxFaults) {
      return fail(Error{ErrorCode::kOutOfRange,
                        "about " + std::to_string(std::llround(expected)) +
                            " faults until the last job could end; allowed are " +
                            std::to_string(std::llround(kMaxFaults)),
                        {},
                        "--faults",
                        "lower --fault-scale, or replay a shorter trace"});
    }
    out.faults = sim::plan_faults(cluster, horizon, rates, in.seed);
  }
  return out;
}

Settings settings_of(const TraceOptions& in) {
  Settings settings{{"trace", in.file},
                    {"cluster", in.cluster},
                    {"policy", in.policy},
                    {"placement", in.placement},
                    {"seed", std::to_string(in.seed)},
                    {"restartCost", in.restart_cost},
                    {"checkpointEvery", in.checkpoint}};
  if (in.policy == "default") {
    settings.emplace_back("takingBack", in.no_taking_back ? "off" : "on");
  }
  if (in.limit > 0) settings.emplace_back("jobs", std::to_string(in.limit));
  if (in.faults) {
    settings.emplace_back("faultRates", "published × " + CLI::detail::to_string(in.fault_scale));
  }
  if (in.refused_percent > 0) {
    settings.emplace_back("refusedStartsPercent", CLI::detail::to_string(in.refused_percent));
  }
  return settings;
}

int replay_and_report(const TraceOptions& in, const ClusterSpec& cluster,
                      const std::vector<sim::TraceJob>& jobs, const std::string& title,
                      CliContext& context) {
  if (!check_outputs(context,
                     {{"--output", in.output, true},
                      {"--html", in.html},
                      {"--records", in.records},
                      {"--record-log", in.record_log}},
                     {in.file, in.cluster})) {
    return context.exit_status;
  }
  auto options = replay_options(in, cluster, jobs);
  if (!options) return report(context, options.error());
  LogFile log;
  if (!in.record_log.empty()) {
    if (const auto opened = log.open(in.record_log); !opened)
      return report(context, opened.error());
    options->recorder = log.recorder();
  }
  const auto result = [&] {
    ProgressBar bar(context, "replay " + in.policy);
    return sim::replay(cluster, jobs, *options, bar.part(0, 1));
  }();
  if (!result) return report(context, result.error());
  if (const auto kept = log.commit(); !kept) return report(context, kept.error());
  const sim::Summary summary = sim::summarise(*result);
  sim::Comparison comparison;
  if (in.fairness) {
    ProgressBar bar(context, "fairness");
    auto compared =
        sim::compare_fairness(cluster, jobs, *options, *result, summary, bar.part(0, 1));
    if (!compared) return report(context, compared.error());
    comparison = std::move(*compared);
  }
  const Settings settings = settings_of(in);
  if (!in.html.empty() &&
      !write_page(context, in.html,
                  sim::replay_page(title, settings, *result, summary, comparison))) {
    return context.exit_status;
  }
  if (!write_page(context, in.records, records_text(*result))) return context.exit_status;
  return write_output(context, in.output,
                      in.format == OutputFormat::kJson
                          ? replay_json(in.policy, settings, *result, summary, comparison)
                          : replay_table(*result, summary) + comparison_table(comparison));
}

// Gangs of the Philly trace are cut into tasks of the largest node's size.
std::int64_t largest_node(const ClusterSpec& cluster) {
  std::size_t most = 1;
  for (const NodeSpec& node : cluster.nodes) most = std::max(most, node.devices.size());
  return static_cast<std::int64_t>(most);
}

sim::Checked<std::vector<sim::TraceJob>> load_jobs(const TraceOptions& in,
                                                   const ClusterSpec& cluster, bool philly) {
  FAIRLEAD_ASSIGN(const sim::CsvFile file, sim::CsvFile::read(in.file));
  FAIRLEAD_ASSIGN(
      std::vector<sim::TraceJob> jobs,
      philly ? sim::read_philly_jobs(file, largest_node(cluster)) : sim::read_trace(file));
  if (in.limit > 0 && jobs.size() > static_cast<std::size_t>(in.limit)) {
    jobs.resize(static_cast<std::size_t>(in.limit));
  }
  return jobs;
}

int trace(const TraceOptions& in, bool philly, CliContext& context) {
  ClusterSpec cluster;
  if (!load_cluster(in.cluster, cluster, context)) return context.exit_status;
  const auto jobs = load_jobs(in, cluster, philly);
  if (!jobs) return report(context, jobs.error());
  return replay_and_report(in, cluster, *jobs, "Replay of " + in.file, context);
}

int write_demo(const TraceOptions& in, CliContext& context) {
  const std::string jobs = sim::trace_text(sim::generate_jobs(sim::demo_options(in.seed)));
  const int status = write_output(context, in.write + "/demo.csv", jobs);
  if (status != 0) return status;
  return write_output(context, in.write + "/demo-cluster.yaml", sim::demo_cluster_document());
}

int demo(TraceOptions in, CliContext& context) {
  if (!in.write.empty()) return write_demo(in, context);
  in.file = "generated, seed " + std::to_string(in.seed);
  in.cluster = "demo";
  auto document = parse_cluster(sim::demo_cluster_document(), "demo");
  if (!document) return report(context, document.error());
  return replay_and_report(in, document->cluster, sim::generate_jobs(sim::demo_options(in.seed)),
                           "Three projects on one small cluster", context);
}

void add_replay_options(CLI::App& command, TraceOptions& options) {
  add_policy_option(command, options.policy);
  add_placement_option(command, "--placement", options.placement);
  add_seed_option(
      command, options.seed,
      "Seed of faults and of random choices (default " + std::to_string(options.seed) + ")");
  add_fairness_option(command, options.fairness);
  add_restart_cost_option(command, options.restart_cost,
                          "What each start after a job's first costs (default 0)");
  command.add_flag("--no-taking-back", options.no_taking_back,
                   "With --policy default: nobody is stopped or moved for another (rule 7)");
  add_duration_range(
      *command.add_option("--checkpoint-every", options.checkpoint,
                          "Work since the last one is done again by who was stopped (default 30m)"),
      seconds(1), hours(24 * 366));
  CLI::Option* faults = command.add_flag("--faults", options.faults,
                                         "Nodes, devices and switches fail and are repaired");
  CLI::Option* scale = command.add_option("--fault-scale", options.fault_scale,
                                          "With --faults: times the published rates (default 1)");
  add_range(*scale->needs(faults), "FACTOR", 0.0, 1e6);
  add_range(*command.add_option(
                "--refused-starts", options.refused_percent,
                "Starts in % that fail outside the scheduler and are tried again (default 0)"),
            "PERCENT", 0.0, 90.0);
  add_format_option(command, options.format, {OutputFormat::kTable, OutputFormat::kJson});
  add_output_option(command, options.output);
  command.add_option("--html", options.html, "Also write a page with charts")->type_name("FILE");
  command.add_option("--records", options.records, "Also write one line per job")
      ->type_name("FILE");
  command
      .add_option("--record-log", options.record_log,
                  "Also write a log of all events and decisions, for replay and whatif")
      ->type_name("FILE");
}

CLI::App* add_file_command(CLI::App& simulate, CliContext& context, const char* name,
                           const char* what, bool philly) {
  auto options = std::make_shared<TraceOptions>();
  CLI::App* command = simulate.add_subcommand(name, what);
  command->add_option("FILE", options->file, "Trace; - is standard input")
      ->required()
      ->type_name("");
  command->add_option("--cluster", options->cluster, "Cluster document, YAML or JSON")
      ->required()
      ->type_name("FILE");
  add_range(*command->add_option("--jobs", options->limit,
                                 "Only the first jobs by submit time (default all)"),
            "N", std::int64_t{1}, std::int64_t{1'000'000'000});
  add_replay_options(*command, *options);
  command->callback(
      [options, philly, &context] { context.exit_status = trace(*options, philly, context); });
  return command;
}

}  // namespace

void add_simulate_trace(CLI::App& simulate, CliContext& context) {
  CLI::App* command = add_file_command(simulate, context, "trace",
                                       "A trace in Fairlead's format on a cluster", false);
  constexpr Example kExamples[] = {
      {"what happened to whom", "fairlead simulate trace jobs.csv --cluster cluster.yaml"},
      {"with faults, as a page",
       "fairlead simulate trace jobs.csv --cluster cluster.yaml --faults --html report.html"},
      {"a generated trace",
       "fairlead simulate generate | fairlead simulate trace - --cluster cluster.yaml"},
  };
  command->footer(examples(kExamples));
}

void add_simulate_philly(CLI::App& simulate, CliContext& context) {
  CLI::App* command =
      add_file_command(simulate, context, "philly", "The Philly trace on a cluster", true);
  constexpr Example kExamples[] = {
      {"the first 10,000 jobs",
       "zcat philly_jobs.csv.gz | fairlead simulate philly - --cluster cluster.yaml --jobs 10000"},
  };
  command->footer(examples(kExamples));
}

void add_simulate_demo(CLI::App& simulate, CliContext& context) {
  auto options = std::make_shared<TraceOptions>();
  options->seed = sim::kDemoSeed;
  CLI::App* command = simulate.add_subcommand(
      "demo", "A generated trace of three projects on a small cluster, in a second");
  add_replay_options(*command, *options);
  command
      ->add_option("--write", options->write,
                   "Only write its trace and cluster into this folder, to start your own from")
      ->type_name("FOLDER");
  constexpr Example kExamples[] = {
      {"the summary", "fairlead simulate demo"},
      {"as a page with charts", "fairlead simulate demo --html demo.html"},
      {"on a bad day", "fairlead simulate demo --faults --fault-scale 50"},
  };
  command->footer(examples(kExamples));
  command->callback([options, &context] { context.exit_status = demo(*options, context); });
}

}  // namespace fairlead::cli
