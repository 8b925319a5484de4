// fairlead reservation: nodes kept for a time, for maintenance or for some projects.
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/client/answer.h"
#include "cli/client/client_options.h"
#include "cli/client/describe.h"
#include "cli/client/edit.h"
#include "cli/client/nouns.h"
#include "cli/client/outside.h"
#include "cli/commands.h"

namespace fairlead::cli {
namespace {

struct ReservationOptions {
  ConnectionFlags connection;
  std::string name;
  std::vector<std::string> nodes;
  std::string from;
  std::string until;
  std::vector<std::string> projects;
  std::string description;
};

// "2026-12-24T18:00:00Z", or a time from now: "2h". Error: names the flag.
Result<std::string> instant_of(const std::string& text, const char* flag, Instant now) {
  if (text == "now") return to_rfc3339(now);
  if (const auto at = parse_rfc3339(text)) return to_rfc3339(*at);
  if (const auto in = parse_duration(text)) return to_rfc3339(now + *in);
  return fail(Error{ErrorCode::kInvalidArgument,
                    "\"" + text + "\" is no point in time",
                    {},
                    flag,
                    "write 2026-12-24T18:00:00Z, or a time from now such as 2h"});
}

// Those that were stated.
Result<Fields> fields_of(const ReservationOptions& options) {
  Fields fields;
  const Instant now = wall_clock();
  if (!options.nodes.empty()) fields.emplace_back("nodes", Tree::strings(options.nodes));
  if (!options.from.empty()) {
    FAIRLEAD_ASSIGN(std::string from, instant_of(options.from, "--from", now));
    fields.emplace_back("from", Tree::string(std::move(from)));
  }
  if (!options.until.empty()) {
    FAIRLEAD_ASSIGN(std::string until, instant_of(options.until, "--until", now));
    fields.emplace_back("until", Tree::string(std::move(until)));
  }
  if (!options.projects.empty()) fields.emplace_back("for", Tree::strings(options.projects));
  if (!options.description.empty())
    fields.emplace_back("description", Tree::string(options.description));
  return fields;
}

Result<std::vector<std::string>> all_nodes(const ReservationOptions& options, CliContext& context) {
  FAIRLEAD_ASSIGN(ApiClient api, connect(options.connection, context));
  FAIRLEAD_ASSIGN(const Listing nodes, api.list(api_path({"nodes"})));
  std::vector<std::string> names;
  for (const Value* node : nodes.items) names.push_back(text_at(*node, "name"));
  return names;
}

int create(ReservationOptions options, CliContext& context) {
  if (options.from.empty()) options.from = "now";
  if (options.nodes.empty()) {
    auto nodes = all_nodes(options, context);
    if (!nodes) return report(context, nodes.error());
    options.nodes = std::move(*nodes);
  }
  const auto fields = fields_of(options);
  if (!fields) return report(context, fields.error());
  return create_item("reservations", options.name, *fields, options.connection, context);
}

int update(const ReservationOptions& options, CliContext& context) {
  const auto fields = fields_of(options);
  if (!fields) return report(context, fields.error());
  return update_item("reservations", options.name, *fields, options.connection, context);
}

void add_reservation_flags(CLI::App& command, ReservationOptions& options, const char* word,
                           bool fresh) {
  command.add_option(word, options.name, "Its name")->required()->type_name("");
  const auto list = [&](const char* name, std::vector<std::string>& target, const char* what,
                        const char* type) {
    command.add_option(name, target, what)
        ->type_name(type)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  list("--node", options.nodes,
       fresh ? "What is kept, whole; may be repeated (default all nodes)"
             : "What is kept, whole; may be repeated",
       "NODE");
  command
      .add_option("--from", options.from,
                  fresh ? "2026-12-24T18:00:00Z, or 2h from now (default now)"
                        : "2026-12-24T18:00:00Z, or 2h from now")
      ->type_name("TIME");
  CLI::Option* until =
      command.add_option("--until", options.until, "When it is over, said the same way");
  until->type_name("TIME");
  if (fresh) until->required();
  list("--for", options.projects,
       "A project or department that may use them; may be repeated (default nobody: maintenance)",
       "PROJECT");
  command.add_option("--description", options.description, "What it is for")->type_name("TEXT");
  add_connection_flags(command, options.connection);
}

}  // namespace

void add_reservation_command(CLI::App& app, CliContext& context) {
  constexpr Example kExamples[] = {
      {"maintenance of everything tonight",
       "fairlead reservation create driver-update --from 2026-12-01T22:00:00Z --until "
       "2026-12-02T02:00:00Z"},
      {"the machine for one project, for four hours from now",
       "fairlead reservation create demo-day --until 4h --for vision"},
  };
  CLI::App& noun = add_noun(app, "reservation", "Reservations: nodes kept for a time");
  auto of_create = std::make_shared<ReservationOptions>();
  CLI::App& create_verb = add_verb(noun, "create", "Make one; administrators only", kExamples);
  add_reservation_flags(create_verb, *of_create, "NAME", true);
  on_run(create_verb, context, [of_create, &context] { return create(*of_create, context); });
  add_resource_list_verb(noun, "reservations", context);
  add_item_describe_verb(noun, "reservations", context);
  auto of_update = std::make_shared<ReservationOptions>();
  CLI::App& update_verb = add_verb(noun, "update", "Change one; administrators only");
  add_reservation_flags(update_verb, *of_update, "RESERVATION", false);
  on_run(update_verb, context, [of_update, &context] { return update(*of_update, context); });
  add_item_delete_verb(noun, "reservations", "RESERVATION", context);
}

}  // namespace fairlead::cli
