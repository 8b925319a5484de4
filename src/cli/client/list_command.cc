// fairlead list, events; and list below the nouns.
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/client/client_options.h"
#include "cli/client/list.h"
#include "cli/client/verbs.h"
#include "cli/commands.h"

namespace fairlead::cli {
namespace {

void add_list_flags(CLI::App& command, ListOptions& options, bool of_projects) {
  if (of_projects) {
    add_project_flag(command, options.project);
    add_all_projects_flag(command, options.all_projects);
  }
  command.add_flag("-w,--watch", options.watch, "Again whenever something changes");
  add_format_option(command, options.format,
                    {OutputFormat::kTable, OutputFormat::kWide, OutputFormat::kJson,
                     OutputFormat::kYaml, OutputFormat::kName});
  add_connection_flags(command, options.connection);
}

void add_phase_flag(CLI::App& command, ListOptions& options) {
  command
      .add_option("--phase,--state", options.phase,
                  "Only in these phases, by commas: pending, running, failed, …")
      ->type_name("PHASE,...");
}

}  // namespace

void add_workload_list_verb(CLI::App& parent, std::vector<std::string> types, CliContext& context) {
  auto options = std::make_shared<ListOptions>();
  options->types = std::move(types);
  CLI::App& command = add_verb(parent, "list", "List them");
  add_phase_flag(command, *options);
  add_list_flags(command, *options, true);
  on_run(command, context,
         [options, &context] { return list(resource_of("jobs"), *options, context); });
}

void add_resource_list_verb(CLI::App& parent, const std::string& resource, CliContext& context) {
  auto options = std::make_shared<ListOptions>();
  CLI::App& command = add_verb(parent, "list", "List them");
  add_list_flags(command, *options, false);
  on_run(command, context,
         [options, resource, &context] { return list(resource_of(resource), *options, context); });
}

void add_list_commands(CLI::App& app, CliContext& context) {
  constexpr Example kExamples[] = {
      {"your project's workloads", "fairlead list"},
      {"what waits, in all projects", "fairlead list -A --phase pending"},
      {"nodes and their GPUs", "fairlead list nodes"},
      {"names for a script", "fairlead list -o name"},
  };
  auto options = std::make_shared<ListOptions>();
  auto what = std::make_shared<std::string>("jobs");
  CLI::App& command = add_verb(app, "list", "List workloads, nodes, projects, …", kExamples);
  std::vector<std::string> words;
  for (const Resource& resource : kResources) words.emplace_back(resource.name);
  for (const Resource& resource : kResources) words.emplace_back(resource.singular);
  words.emplace_back("workloads");
  CLI::Option* word = command.add_option("WHAT", *what, "What to list (default jobs)");
  add_choice(*word, words);
  word->type_name(
      "jobs|nodes|projects|departments|nodepools|reservations|devices|users|tokens|events");
  command.add_option("NAME", options->name, "Only this one")->type_name("");
  add_phase_flag(command, *options);
  add_list_flags(command, *options, true);
  on_run(command, context,
         [options, what, &context] { return list(resource_of(*what), *options, context); });

  auto of_events = std::make_shared<ListOptions>();
  CLI::App& events = add_verb(app, "events", "What happened, newest first");
  add_list_flags(events, *of_events, true);
  on_run(events, context,
         [of_events, &context] { return list(resource_of("events"), *of_events, context); });
}

}  // namespace fairlead::cli
