// fairlead token, user, audit: who may call, and who did.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>

#include "cli/client/answer.h"
#include "cli/client/client_options.h"
#include "cli/client/describe.h"
#include "cli/client/edit.h"
#include "cli/client/nouns.h"
#include "cli/client/outside.h"
#include "cli/client/tables.h"
#include "cli/commands.h"

namespace fairlead::cli {
namespace {

struct AccessOptions {
  ConnectionFlags connection;
  std::string name;
  std::string user;
  std::string expires_in;
  std::string role;
  std::string local_user;
  bool disable = false;
  bool enable = false;
  std::string tail = "100";
  OutputFormat format = OutputFormat::kTable;
};

// The secret is the data; all else is said beside it.
int create_token(const AccessOptions& options, CliContext& context) {
  auto api = connect(options.connection, context);
  if (!api) return report(context, api.error());
  Tree body = Tree::map();
  body.add("name", Tree::string(options.name));
  if (!options.user.empty()) body.add("user", Tree::string(options.user));
  if (!options.expires_in.empty()) body.add("expiresIn", Tree::string(options.expires_in));
  const auto reply = api->send("POST", api_path({"tokens"}), {}, to_json(body));
  if (!reply) return report(context, reply.error());
  if (options.format != OutputFormat::kTable) return print_reply(context, options.format, *reply);
  context.err << "Token " << text_at(reply->root(), "id") << " of "
              << text_at(reply->root(), "user") << ", good until "
              << text_at(reply->root(), "expiresAt") << "; it is shown this once:\n";
  context.out << text_at(reply->root(), "secret") << "\n";
  return 0;
}

Fields user_fields(const AccessOptions& options) {
  Fields fields;
  if (!options.role.empty()) fields.emplace_back("role", Tree::string(options.role));
  if (!options.local_user.empty()) {
    fields.emplace_back("localUser", Tree::string(options.local_user));
  }
  if (options.disable || options.enable) {
    fields.emplace_back("disabled", Tree::boolean(options.disable));
  }
  return fields;
}

int audit(const AccessOptions& options, CliContext& context) {
  auto api = connect(options.connection, context);
  if (!api) return report(context, api.error());
  const auto records = api->list(api_path({"audit"}), {{"limit", options.tail}});
  if (!records) return report(context, records.error());
  return print_listing(context, options.format, *records, audit_table(records->items));
}

void add_formats(CLI::App& command, OutputFormat& format) {
  add_format_option(command, format,
                    {OutputFormat::kTable, OutputFormat::kJson, OutputFormat::kYaml});
}

void add_token(CLI::App& app, CliContext& context) {
  CLI::App& noun = add_noun(app, "token", "Tokens, by which programs and other machines call");
  auto options = std::make_shared<AccessOptions>();
  CLI::App& create = add_verb(noun, "create", "Make one; its secret is shown this once");
  create.add_option("NAME", options->name, "What it is for")->required()->type_name("");
  create.add_option("--user", options->user, "Whose; yours if left out")->type_name("USER");
  create.add_option("--expires-in", options->expires_in, "How long it is good (default 90d)")
      ->type_name("DURATION");
  add_formats(create, options->format);
  add_connection_flags(create, options->connection);
  on_run(create, context, [options, &context] { return create_token(*options, context); });
  add_resource_list_verb(noun, "tokens", context);
  add_item_delete_verb(noun, "tokens", "ID", context);
}

void add_user_flags(CLI::App& command, AccessOptions& options) {
  command.add_option("NAME", options.name, "Its name")->required()->type_name("");
  add_choice(*command.add_option("--role", options.role, "What the user may do"),
             {"admin", "user", "viewer"});
  command
      .add_option("--local-user", options.local_user,
                  "The account of the machine as which tasks run (default the same name)")
      ->type_name("ACCOUNT");
  add_connection_flags(command, options.connection);
}

void add_user(CLI::App& app, CliContext& context) {
  CLI::App& noun = add_noun(app, "user", "Users; administrators only");
  auto of_create = std::make_shared<AccessOptions>();
  CLI::App& create = add_verb(noun, "create", "Add one");
  add_user_flags(create, *of_create);
  on_run(create, context, [of_create, &context] {
    return create_item("users", of_create->name, user_fields(*of_create), of_create->connection,
                       context);
  });
  auto of_update = std::make_shared<AccessOptions>();
  CLI::App& update = add_verb(noun, "update", "Change one");
  add_user_flags(update, *of_update);
  CLI::Option* disable = update.add_flag("--disable", of_update->disable, "No longer let it call");
  update.add_flag("--enable", of_update->enable, "Let it call again")->excludes(disable);
  on_run(update, context, [of_update, &context] {
    return update_item("users", of_update->name, user_fields(*of_update), of_update->connection,
                       context);
  });
  add_resource_list_verb(noun, "users", context);
  add_item_describe_verb(noun, "users", context);
  add_item_delete_verb(noun, "users", "NAME", context);
}

}  // namespace

void add_access_commands(CLI::App& app, CliContext& context) {
  add_token(app, context);
  add_user(app, context);
  auto options = std::make_shared<AccessOptions>();
  CLI::App& command =
      add_verb(app, "audit", "Every write and who asked for it; administrators only");
  add_range(*command.add_option("--tail", options->tail, "So many, newest first (default 100)"),
            "COUNT", 1, std::int64_t{1000});
  add_formats(command, options->format);
  add_connection_flags(command, options->connection);
  on_run(command, context, [options, &context] { return audit(*options, context); });
}

}  // namespace fairlead::cli
