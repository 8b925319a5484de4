// Flags that the client commands share, and how they reach the server.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "cli/app.h"
#include "cli/client/api_client.h"
#include "cli/output.h"

namespace CLI {
class App;
}

namespace fairlead::cli {

// A command below `parent`, with its help.
CLI::App& add_verb(CLI::App& parent, const std::string& name, const std::string& what,
                   std::span<const Example> list = {});
// What it does; the result is the exit status.
void on_run(CLI::App& command, CliContext& context, std::function<int()> work);
// A command that only groups others.
CLI::App& add_noun(CLI::App& parent, const std::string& name, const std::string& what);

// --server, --token-file, --context.
void add_connection_flags(CLI::App& command, ConnectionFlags& flags);
// -p,--project
void add_project_flag(CLI::App& command, std::string& project);
// -A,--all-projects beside it.
void add_all_projects_flag(CLI::App& command, bool& all);
// -y,--yes
void add_yes_flag(CLI::App& command, bool& yes);

// Warns where a token goes over a network in the clear.
Result<ApiClient> connect(const ConnectionFlags& flags, CliContext& context);

// Prints an answer as `format` asks: JSON as the server sent it, YAML of the same.
int print_reply(CliContext& context, OutputFormat format, const Reply& reply);

// Prints a list: `table` for people, JSON and YAML as the server sent it, names one a line.
int print_listing(CliContext& context, OutputFormat format, const Listing& listing,
                  const std::string& table);
// One thing the same way.
int print_item(CliContext& context, OutputFormat format, const Reply& reply,
               const std::string& text);

// Asks on the terminal; without one the answer is an error that names --yes.
Result<void> confirm(CliContext& context, const std::string& question, bool yes);

}  // namespace fairlead::cli
