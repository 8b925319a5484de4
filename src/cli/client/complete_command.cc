// fairlead __complete KIND: live names for the completion of shells; nothing where there is no
// server.
#include <memory>
#include <ostream>
#include <set>

#include <CLI/CLI.hpp>

#include "cli/client/answer.h"
#include "cli/client/client_options.h"
#include "cli/client/list.h"
#include "cli/client/settings.h"
#include "cli/commands.h"

namespace fairlead::cli {
namespace {

constexpr const char* kMostNames = "500";

// Quiet whatever happens: a person is typing.
int complete(const std::string& kind, CliContext& context) {
  if (kind == "contexts") {
    const auto config = read_config(config_path());
    if (!config) return 0;
    for (const ClientContext& one : config->contexts) context.out << one.name << "\n";
    return 0;
  }
  if (kind == "settings") {
    for (const Setting& setting : settings()) context.out << setting.name << "\n";
    return 0;
  }
  const auto connection = find_connection({});
  if (!connection) return 0;
  ApiClient api(*connection, seconds(1));
  Query query{{"limit", kMostNames}};
  const bool workloads = kind == "workloads";
  if (workloads) {
    query.emplace_back("order", "newest");
    if (!connection->project.empty()) query.emplace_back("project", connection->project);
  }
  const auto reply = api.get(api_path({kind}), query);
  if (!reply) return 0;
  std::set<std::string> names;
  for (const Value& item : list_at(reply->root(), "items")) {
    if (text_at(item, "status.phase") != "deleted") names.insert(text_at(item, "name"));
  }
  for (const std::string& name : names) context.out << name << "\n";
  return 0;
}

}  // namespace

void add_complete_command(CLI::App& app, CliContext& context) {
  auto kind = std::make_shared<std::string>();
  CLI::App& command = add_verb(app, "__complete", "Names that the server knows, for shells");
  command.group("");  // hidden
  add_choice(*command.add_option("KIND", *kind, "Of what")->required(),
             {"workloads", "projects", "departments", "nodes", "node-pools", "reservations",
              "users", "contexts", "settings"});
  on_run(command, context, [kind, &context] { return complete(*kind, context); });
}

}  // namespace fairlead::cli
