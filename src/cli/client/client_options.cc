#include "cli/client/client_options.h"

#include <iostream>
#include <string>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cli/client/answer.h"
#include "model/tree.h"

namespace fairlead::cli {

CLI::App& add_verb(CLI::App& parent, const std::string& name, const std::string& what,
                   std::span<const Example> list) {
  CLI::App* command = parent.add_subcommand(name, what);
  if (!list.empty()) command->footer(examples(list));
  return *command;
}

void on_run(CLI::App& command, CliContext& context, std::function<int()> work) {
  command.callback([&context, work = std::move(work)] { context.exit_status = work(); });
}

CLI::App& add_noun(CLI::App& parent, const std::string& name, const std::string& what) {
  CLI::App* command = parent.add_subcommand(name, what);
  command->require_subcommand(1);
  return *command;
}

void add_connection_flags(CLI::App& command, ConnectionFlags& flags) {
  constexpr const char* kGroup = "Server";
  command.add_option("--server", flags.server, "The server (default the one of this machine)")
      ->type_name("ADDRESS")
      ->group(kGroup);
  command.add_option("--token-file", flags.token_file, "A file that holds the token")
      ->type_name("FILE")
      ->group(kGroup);
  command.add_option("--context", flags.context, "A context of the configuration file")
      ->type_name("CONTEXT")
      ->group(kGroup);
}

void add_project_flag(CLI::App& command, std::string& project) {
  command.add_option("-p,--project", project, "In this project, instead of the default one")
      ->type_name("PROJECT");
}

void add_all_projects_flag(CLI::App& command, bool& all) {
  command.add_flag("-A,--all-projects", all, "In all projects");
}

void add_yes_flag(CLI::App& command, bool& yes) {
  command.add_flag("-y,--yes", yes, "Do not ask");
}

Result<ApiClient> connect(const ConnectionFlags& flags, CliContext& context) {
  FAIRLEAD_ASSIGN(Connection connection, find_connection(flags));
  if (connection.exposed()) {
    const Error warning{ErrorCode::kIo,
                        "the token goes to " + connection.url + " unencrypted",
                        {},
                        {},
                        "use https://, or a tunnel to the machine's own port"};
    report_warnings(context, std::span(&warning, 1));
  }
  return ApiClient(std::move(connection));
}

int print_reply(CliContext& context, OutputFormat format, const Reply& reply) {
  if (format == OutputFormat::kYaml) {
    context.out << to_yaml(tree_of(reply.root()));
  } else {
    context.out << reply.body;
    if (!reply.body.ends_with('\n')) context.out << "\n";
  }
  return 0;
}

int print_listing(CliContext& context, OutputFormat format, const Listing& listing,
                  const std::string& table) {
  switch (format) {
    case OutputFormat::kJson: {
      const std::string text = listing.json();
      context.out << text << (text.ends_with('\n') ? "" : "\n");
      return 0;
    }
    case OutputFormat::kYaml:
      for (const Value* item : listing.items) context.out << "---\n" << to_yaml(tree_of(*item));
      return 0;
    case OutputFormat::kName:
      for (const Value* item : listing.items) {
        context.out << text_at(*item, "name", text_at(*item, "id")) << "\n";
      }
      return 0;
    case OutputFormat::kTable:
    case OutputFormat::kWide:
      break;
  }
  context.out << table;
  return 0;
}

int print_item(CliContext& context, OutputFormat format, const Reply& reply,
               const std::string& text) {
  if (format == OutputFormat::kName) {
    context.out << text_at(reply.root(), "name", text_at(reply.root(), "id")) << "\n";
    return 0;
  }
  if (format == OutputFormat::kJson || format == OutputFormat::kYaml) {
    return print_reply(context, format, reply);
  }
  context.out << text;
  return 0;
}

Result<void> confirm(CliContext& context, const std::string& question, bool yes) {
  if (yes) return {};
  if (!context.in_terminal) {
    return fail(ErrorCode::kInvalidArgument, question + " Nobody can be asked here", "add --yes");
  }
  context.err << question << " [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "y" || answer == "Y" || answer == "yes") return {};
  return fail(ErrorCode::kFailed, "nothing was done");
}

}  // namespace fairlead::cli
