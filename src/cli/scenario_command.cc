// fairlead scenario: run, check and convert scenario files.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/log_file.h"
#include "cli/output.h"
#include "cli/scenario_report.h"
#include "cli/simulate_options.h"
#include "model/document.h"
#include "sim/scenario/document.h"
#include "sim/scenario/printer.h"
#include "sim/scenario/runner.h"

namespace fairlead::cli {
namespace {

constexpr int kExitFailed = 1;

struct RunArguments {
  std::vector<std::string> files;
  OutputFormat format = OutputFormat::kTable;
  bool trace = false;
  std::string record;  // file for the log of the only scenario
};

// A folder stands for the scenario files in it, by name. Error: kIo if it has none or cannot be
// read to the end.
Result<std::vector<std::string>> expanded(const std::vector<std::string>& arguments) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  for (const std::string& argument : arguments) {
    std::error_code error;
    if (!fs::is_directory(argument, error)) {
      files.push_back(argument);
      continue;
    }
    std::vector<std::string> found;
    for (fs::recursive_directory_iterator it(argument, error), end; it != end;
         it.increment(error)) {
      const std::string extension = it->path().extension().string();
      if (extension == ".scn" || extension == ".yaml" || extension == ".json") {
        found.push_back(it->path().string());
      }
    }
    if (error) {
      return fail(Error{ErrorCode::kIo, "cannot be read: " + error.message(), argument, {}, {}});
    }
    if (found.empty()) {
      return fail(Error{ErrorCode::kIo,
                        "there is no scenario file in this folder",
                        argument,
                        {},
                        "name a folder with files that end in .scn, .yaml or .json"});
    }
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

std::expected<sim::Scenario, std::vector<Error>> read(const std::string& file) {
  Result<std::string> text = read_document_file(file);
  if (!text) return std::unexpected(std::vector<Error>{std::move(text).error()});
  return sim::parse_scenario(*text, document_name(file));
}

int run_files(const RunArguments& arguments, CliContext& context) {
  int status = 0;
  std::vector<sim::RunReport> reports;
  const auto files = expanded(arguments.files);
  if (!files) return report(context, files.error());
  LogFile log;
  if (!arguments.record.empty()) {
    if (files->size() != 1) {
      return report(context,
                    Error{ErrorCode::kInvalidArgument,
                          "a log is of one scenario, here are " + std::to_string(files->size()),
                          {},
                          "--record",
                          "name one file"});
    }
    if (!check_outputs(context, {{"--record", arguments.record}}, *files)) {
      return context.exit_status;
    }
    if (const auto opened = log.open(arguments.record); !opened) {
      return report(context, opened.error());
    }
  }
  for (const std::string& file : *files) {
    const auto scenario = read(file);
    if (!scenario) {
      status = std::max(status, report_invalid(context, scenario.error()));
      continue;
    }
    Result<sim::RunReport> played = sim::run_scenario(*scenario, {arguments.trace, log.recorder()});
    if (!played) {
      Error error = std::move(played).error();
      error.where = document_name(file);
      status = std::max(status, report(context, error));
      continue;
    }
    if (const auto kept = log.commit(); !kept) return report(context, kept.error());
    if (!played->passed()) status = std::max(status, kExitFailed);
    reports.push_back(std::move(*played));
    if (arguments.format == OutputFormat::kTable) context.out << scenario_text(reports.back());
  }
  if (arguments.format == OutputFormat::kJson) {
    context.out << scenarios_json(reports);
  } else if (reports.size() > 1) {
    context.out << scenarios_summary(reports);
  }
  return status;
}

int check_files(const std::vector<std::string>& arguments, CliContext& context) {
  int status = 0;
  const auto files = expanded(arguments);
  if (!files) return report(context, files.error());
  for (const std::string& file : *files) {
    const auto scenario = read(file);
    if (!scenario) status = std::max(status, report_invalid(context, scenario.error()));
  }
  return status;
}

int print_file(const std::string& file, const std::string& format, CliContext& context) {
  const auto scenario = read(file);
  if (!scenario) return report_invalid(context, scenario.error());
  context.out << (format == "yaml"   ? sim::scenario_yaml(*scenario)
                  : format == "json" ? sim::scenario_json(*scenario)
                                     : sim::print_scenario(*scenario));
  return 0;
}

void add_run(CLI::App& scenario, CliContext& context) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* run = scenario.add_subcommand("run", "Play scenarios and check what they expect");
  run->add_option("FILE", arguments->files,
                  "Scenario files, or folders of them; - is standard input")
      ->required()
      ->type_name("");
  run->add_flag("--trace", arguments->trace, "Print each event and each decision with its time");
  run->add_option("--record", arguments->record,
                  "Also write a log of all events and decisions, for replay and whatif")
      ->type_name("FILE");
  add_format_option(*run, arguments->format, {OutputFormat::kTable, OutputFormat::kJson});
  constexpr Example kExamples[] = {
      {"play one file", "fairlead scenario run gang.scn"},
      {"see what the scheduler decides", "fairlead scenario run --trace gang.scn"},
      {"keep what happened, to replay it", "fairlead scenario run gang.scn --record gang.log"},
      {"play all files of a folder, as objects", "fairlead scenario run -o json tests/scenarios"},
  };
  run->footer(examples(kExamples));
  run->callback([arguments, &context] { context.exit_status = run_files(*arguments, context); });
}

void add_check(CLI::App& scenario, CliContext& context) {
  auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* check = scenario.add_subcommand("check", "Read scenarios without playing them");
  check->add_option("FILE", *files, "Scenario files, or folders of them; - is standard input")
      ->required()
      ->type_name("");
  constexpr Example kExamples[] = {{"find misspelt words", "fairlead scenario check gang.scn"}};
  check->footer(examples(kExamples));
  check->callback([files, &context] { context.exit_status = check_files(*files, context); });
}

void add_print(CLI::App& scenario, CliContext& context) {
  auto file = std::make_shared<std::string>();
  auto format = std::make_shared<std::string>("scn");
  CLI::App* print = scenario.add_subcommand("print", "Print a scenario in either of its forms");
  print->add_option("FILE", *file, "A scenario file; - is standard input")
      ->required()
      ->type_name("");
  add_choice(*print->add_option("-o,--output-format", *format,
                                "scn (the readable language), yaml or json (default scn)"),
             {"scn", "yaml", "json"});
  constexpr Example kExamples[] = {
      {"as a document for other programs", "fairlead scenario print gang.scn -o yaml"},
      {"as a text for people", "fairlead scenario print case.json -o scn"},
  };
  print->footer(examples(kExamples));
  print->callback(
      [file, format, &context] { context.exit_status = print_file(*file, *format, context); });
}

}  // namespace

void add_scenario_command(CLI::App& app, CliContext& context) {
  CLI::App* scenario =
      app.add_subcommand("scenario", "Play a cluster, what happens to it, and what must be true");
  scenario->require_subcommand(1);
  constexpr Example kExamples[] = {
      {"play one file", "fairlead scenario run gang.scn"},
      {"see what the scheduler decides", "fairlead scenario run --trace gang.scn"},
  };
  scenario->footer(examples(kExamples));
  add_run(*scenario, context);
  add_check(*scenario, context);
  add_print(*scenario, context);
}

}  // namespace fairlead::cli
