// fairlead settings, settings get, settings set: what an administrator sets while the server runs.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>

#include "base/decimal.h"
#include "cli/client/answer.h"
#include "cli/client/client_options.h"
#include "cli/client/settings.h"
#include "cli/commands.h"

namespace fairlead::cli {
namespace {

struct SettingsOptions {
  ConnectionFlags connection;
  std::string name;
  std::vector<std::string> changes;
  bool dry_run = false;
  OutputFormat format = OutputFormat::kTable;
};

// As `set` takes it: "64Mi", "30d", "none".
std::string value_text(const Value& root, const Setting& setting) {
  const std::string path = "document." + std::string(setting.name);
  if (setting.type == SettingType::kBytes) {
    const auto bytes = number_at(root, path);
    return bytes ? bytes_text(*bytes) : "-";
  }
  const char* missing = setting.type == SettingType::kDurationOrNone ? "none" : "-";
  return text_at(root, path, missing);
}

std::string settings_table(const Value& root) {
  Table table;
  for (const char* name : {"NAME", "VALUE", "DEFAULT", "UNIT", "MEANING"}) table.column(name);
  for (const Setting& setting : settings()) {
    table.row({std::string(setting.name), value_text(root, setting),
               std::string(setting.default_value), std::string(unit(setting.type)),
               std::string(setting.what)});
  }
  // Of a younger server.
  if (const Value* document = value_at(root, "document")) {
    for (const Value& item : document->items()) {
      if (find_setting(item.key())) continue;
      table.row({item.key(), text_at(*document, item.key(), "-"), "-", "-", "-"});
    }
  }
  return table.text();
}

int list(const SettingsOptions& options, CliContext& context) {
  auto api = connect(options.connection, context);
  if (!api) return report(context, api.error());
  const auto reply = api->get(api_path({"settings"}));
  if (!reply) return report(context, reply.error());
  return print_item(context, options.format, *reply, settings_table(reply->root()));
}

int get(const SettingsOptions& options, CliContext& context) {
  const auto setting = find_setting(options.name);
  if (!setting) return report(context, setting.error());
  auto api = connect(options.connection, context);
  if (!api) return report(context, api.error());
  const auto reply = api->get(api_path({"settings"}));
  if (!reply) return report(context, reply.error());
  context.out << value_text(reply->root(), **setting) << "\n";
  return 0;
}

// Against what was read: if somebody else changes them meanwhile, nothing is changed.
int set(const SettingsOptions& options, CliContext& context) {
  const auto patch = settings_patch(options.changes);
  if (!patch) return report(context, patch.error());
  auto api = connect(options.connection, context);
  if (!api) return report(context, api.error());
  const auto before = api->get(api_path({"settings"}));
  if (!before) return report(context, before.error());
  Query query;
  if (options.dry_run) query.emplace_back("dryRun", "true");
  const auto reply = api->send("PATCH", api_path({"settings"}), query, to_json(*patch),
                               {{"If-Match", before->etag}});
  if (!reply) return report(context, reply.error());
  for (const std::string& word : options.changes) {
    const Setting& setting = **find_setting(word.substr(0, word.find('=')));
    context.out << setting.name << "  " << value_text(before->root(), setting) << " → "
                << value_text(reply->root(), setting)
                << (options.dry_run ? "  (not changed: a dry run)" : "") << "\n";
  }
  return 0;
}

}  // namespace

void add_settings_command(CLI::App& app, CliContext& context) {
  constexpr Example kExamples[] = {
      {"all of them, with meaning and default", "fairlead settings list"},
      {"one, for a script", "fairlead settings get retention"},
      {"workspaces end after half a day",
       "fairlead settings set workspaceTimeLimit=12h logBytes=128Mi"},
      {"and without a limit again", "fairlead settings set workspaceTimeLimit=none"},
  };
  auto of_list = std::make_shared<SettingsOptions>();
  CLI::App& noun =
      add_verb(app, "settings", "Settings of the server; administrators change them", kExamples);
  noun.require_subcommand(0, 1);
  noun.callback([&noun, of_list, &context] {
    if (noun.get_subcommands().empty()) context.exit_status = list(*of_list, context);
  });
  CLI::App& list_app = add_verb(noun, "list", "All, with meaning, unit and default");
  add_format_option(list_app, of_list->format,
                    {OutputFormat::kTable, OutputFormat::kJson, OutputFormat::kYaml});
  add_connection_flags(list_app, of_list->connection);
  on_run(list_app, context, [of_list, &context] { return list(*of_list, context); });

  auto of_get = std::make_shared<SettingsOptions>();
  CLI::App& get_app = add_verb(noun, "get", "The value of one");
  get_app.add_option("SETTING", of_get->name, "Its name")->required()->type_name("");
  add_connection_flags(get_app, of_get->connection);
  on_run(get_app, context, [of_get, &context] { return get(*of_get, context); });

  auto of_set = std::make_shared<SettingsOptions>();
  CLI::App& set_app = add_verb(noun, "set", "Change some; administrators only");
  set_app
      .add_option("SETTING=VALUE", of_set->changes, "Which, and what it shall be; several at once")
      ->required()
      ->type_name("");
  set_app.add_flag("--dry-run", of_set->dry_run, "Check and change nothing");
  add_connection_flags(set_app, of_set->connection);
  on_run(set_app, context, [of_set, &context] { return set(*of_set, context); });
}

}  // namespace fairlead::cli
