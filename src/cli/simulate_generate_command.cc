// fairlead simulate generate: prints a generated trace in our own format.
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/simulate_command.h"
#include "cli/simulate_options.h"
#include "sim/generate/generator.h"
#include "sim/trace/own.h"

namespace fairlead::cli {
namespace {

struct GenerateOptions {
  sim::GeneratorOptions generator;
  std::string arrivals = "poisson";
  std::string sizes;
  std::string projects;
  std::string median = "30m";
  std::string longest = "7d";
  double failing_percent = 25;
  std::string output;
};

std::unexpected<Error> option_error(Error error, const char* option) {
  error.field = option;
  return fail(std::move(error));
}

Result<sim::GeneratorOptions> generator_of(const GenerateOptions& in) {
  sim::GeneratorOptions out = in.generator;
  const auto arrivals = sim::parse_arrivals(in.arrivals);
  if (!arrivals) return option_error(arrivals.error(), "--arrivals");
  out.arrivals = *arrivals;
  if (!in.sizes.empty()) {
    auto sizes = sim::parse_sizes(in.sizes);
    if (!sizes) return option_error(sizes.error(), "--sizes");
    out.sizes = std::move(*sizes);
  }
  if (!in.projects.empty()) {
    auto projects = sim::parse_projects(in.projects);
    if (!projects) return option_error(projects.error(), "--projects");
    out.projects = std::move(*projects);
  }
  const auto median = parse_duration(in.median);
  if (!median) return option_error(median.error(), "--duration-median");
  const auto longest = parse_duration(in.longest);
  if (!longest) return option_error(longest.error(), "--duration-max");
  if (*longest < *median) {
    return option_error(Error{ErrorCode::kOutOfRange,
                              in.longest + " is below the median, " + in.median,
                              {},
                              {},
                              "allowed is the median or more"},
                        "--duration-max");
  }
  out.duration_median = *median;
  out.duration_max = *longest;
  out.failing_share = in.failing_percent / 100;
  return out;
}

int generate(const GenerateOptions& in, CliContext& context) {
  const auto options = generator_of(in);
  if (!options) return report(context, options.error());
  return write_output(context, in.output, sim::trace_text(sim::generate_jobs(*options)));
}

}  // namespace

void add_simulate_generate(CLI::App& simulate, CliContext& context) {
  auto options = std::make_shared<GenerateOptions>();
  sim::GeneratorOptions& generator = options->generator;
  CLI::App* command = simulate.add_subcommand("generate", "Print a generated trace");
  add_seed_option(*command, generator.seed, "Seed (default 1)");
  add_range(*command->add_option("--jobs", generator.jobs, "Jobs (default 1000)"), "N",
            std::int64_t{1}, std::int64_t{10'000'000});
  add_range(*command->add_option("--jobs-per-hour", generator.jobs_per_hour,
                                 "Mean arrival rate (default 60)"),
            "RATE", 0.001, 1e7);
  add_choice(
      *command->add_option("--arrivals", options->arrivals, "How jobs arrive (default poisson)"),
      {"poisson", "bursty", "diurnal"});
  CLI::Option* burst =
      command->add_option("--burst-mean", generator.burst_mean,
                          "With --arrivals bursty: mean number of jobs in a burst (default 8)");
  add_range(*burst, "N", 1.0, 10'000.0);
  command->add_option("--sizes", options->sizes, "GPUs and weights: 0.25:15,1:40,8:8,16:2")
      ->type_name("GPUS:WEIGHT,…");
  constexpr Duration kLongest = hours(24 * 3660);
  add_duration_range(
      *command->add_option("--duration-median", options->median, "Median run time (default 30m)"),
      seconds(1), kLongest);
  add_range(*command->add_option("--duration-sigma", generator.duration_sigma,
                                 "Spread of the lognormal run time (default 1.5)"),
            "SIGMA", 0.0, 5.0);
  add_duration_range(
      *command->add_option("--duration-max", options->longest, "Longest run time (default 7d)"),
      seconds(1), kLongest);
  command->add_option("--projects", options->projects, "Names and weights: vision:3,language:2")
      ->type_name("NAME:WEIGHT,…");
  add_range(*command->add_option("--users-per-project", generator.users_per_project,
                                 "Users of each project (default 4)"),
            "N", std::int64_t{1}, std::int64_t{100'000});
  add_range(*command->add_option("--failing-percent", options->failing_percent,
                                 "Jobs in % that end early by themselves (default 25)"),
            "PERCENT", 0.0, 100.0);
  add_range(*command->add_option("--gpus-per-node", generator.gpus_per_node,
                                 "Larger jobs become gangs of tasks of this size (default 8)"),
            "N", std::int64_t{1}, std::int64_t{1024});
  add_output_option(*command, options->output);
  constexpr Example kExamples[] = {
      {"a day of bursts", "fairlead simulate generate --jobs 1440 --arrivals bursty > jobs.csv"},
      {"small fractions only",
       "fairlead simulate generate --sizes 0.125:1,0.25:2,0.5:1 --duration-median 5m"},
  };
  command->footer(examples(kExamples));
  command->callback([options, burst, &context] {
    if (burst->count() > 0 && options->arrivals != "bursty") {
      throw CLI::ValidationError("--burst-mean", "there are bursts with --arrivals bursty only");
    }
    context.exit_status = generate(*options, context);
  });
}

}  // namespace fairlead::cli
