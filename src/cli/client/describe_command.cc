// fairlead describe KIND NAME, and describe below the nouns.
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/client/client_options.h"
#include "cli/client/describe.h"
#include "cli/client/list.h"
#include "cli/client/verbs.h"
#include "cli/commands.h"

namespace fairlead::cli {
namespace {

void add_describe_flags(CLI::App& command, DescribeOptions& options) {
  add_format_option(
      command, options.format,
      {OutputFormat::kTable, OutputFormat::kWide, OutputFormat::kJson, OutputFormat::kYaml});
  add_connection_flags(command, options.connection);
}

}  // namespace

void add_workload_describe_verb(CLI::App& parent, CliContext& context) {
  auto options = std::make_shared<DescribeOptions>();
  CLI::App& command = add_verb(parent, "describe", "One with its tasks and events");
  command.add_option("WORKLOAD", options->name, "Its name")->required()->type_name("");
  add_project_flag(command, options->project);
  add_describe_flags(command, *options);
  on_run(command, context, [options, &context] { return describe_workload(*options, context); });
}

void add_item_describe_verb(CLI::App& parent, const std::string& collection, CliContext& context) {
  auto options = std::make_shared<DescribeOptions>();
  CLI::App& command = add_verb(parent, "describe", "One with all its parts");
  const char* word = collection == "nodes" ? "NODE" : collection == "projects" ? "PROJECT" : "NAME";
  command.add_option(word, options->name, "Its name")->required()->type_name("");
  add_describe_flags(command, *options);
  on_run(command, context,
         [options, collection, &context] { return describe_item(collection, *options, context); });
}

void add_describe_command(CLI::App& app, CliContext& context) {
  constexpr Example kExamples[] = {
      {"a workload, its tasks and what happened", "fairlead describe job train"},
      {"a node and who holds its GPUs", "fairlead describe node gpu01"},
      {"for a program", "fairlead describe job train -o json"},
  };
  auto options = std::make_shared<DescribeOptions>();
  auto kind = std::make_shared<std::string>();
  CLI::App& command = add_verb(app, "describe", "One thing with all its parts", kExamples);
  CLI::Option* what = command.add_option("KIND", *kind, "What it is")->required();
  add_choice(*what, {"job", "workload", "node", "project", "department", "nodepool", "user"});
  command.add_option("WORKLOAD", options->name, "Its name")->required()->type_name("");
  add_project_flag(command, options->project);
  add_describe_flags(command, *options);
  on_run(command, context, [options, kind, &context] {
    if (*kind == "job" || *kind == "workload") return describe_workload(*options, context);
    return describe_item(std::string(resource_of(*kind).collection), *options, context);
  });
}

}  // namespace fairlead::cli
