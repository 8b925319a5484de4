// fairlead why, queue, doctor: what the server itself has to say.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>

#include "cli/client/answer.h"
#include "cli/client/client_options.h"
#include "cli/client/lookup.h"
#include "cli/client/outside.h"
#include "cli/client/tables.h"
#include "cli/client/voice.h"
#include "cli/commands.h"

namespace fairlead::cli {
namespace {

struct AskOptions {
  ConnectionFlags connection;
  std::string project;
  bool all_projects = false;
  std::string name;
  OutputFormat format = OutputFormat::kTable;
};

int why(const AskOptions& options, CliContext& context) {
  auto api = connect(options.connection, context);
  if (!api) return report(context, api.error());
  const std::string project = options.project.empty() ? api->connection().project : options.project;
  const auto found = find_workload(*api, options.name, project);
  if (!found) return report(context, found.error());
  const auto reply = api->get(api_path({"workloads", found->id(), "explanation"}));
  if (!reply) return report(context, reply.error());
  return print_item(context, options.format, *reply,
                    why_text(*found->value, reply->root(), wall_clock()));
}

int queue(const AskOptions& options, CliContext& context) {
  auto api = connect(options.connection, context);
  if (!api) return report(context, api.error());
  std::string project = options.project.empty() ? api->connection().project : options.project;
  if (options.all_projects) project.clear();
  Query query{{"limit", "1000"}};
  if (!project.empty()) query.emplace_back("project", project);
  const auto waiting = api->list(api_path({"queue"}), query);
  if (!waiting) return report(context, waiting.error());
  if (waiting->items.empty() && options.format == OutputFormat::kTable) {
    context.err << "Nothing waits.\n";
  }
  return print_listing(context, options.format, *waiting,
                       waiting_table(waiting->items, wall_clock()));
}

std::string doctor_text(const Value& doctor) {
  std::string out;
  for (const Value& item : list_at(doctor, "items")) {
    const std::string state = text_at(item, "state");
    std::string word = state == "ok" ? "ok" : state == "limited" ? "LIMITED" : "MISSING";
    word.resize(9, ' ');
    out += word + text_at(item, "name") + ": " + text_at(item, "detail") + "\n";
    const std::string cure = text_at(item, "cure");
    if (!cure.empty()) out += "         → " + cure + "\n";
  }
  return out;
}

int doctor(const AskOptions& options, CliContext& context) {
  auto api = connect(options.connection, context);
  if (!api) return report(context, api.error());
  const auto reply = api->get(api_path({"doctor"}));
  if (!reply) return report(context, reply.error());
  const int status = print_item(context, options.format, *reply, doctor_text(reply->root()));
  bool missing = false;
  for (const Value& item : list_at(reply->root(), "items")) {
    missing = missing || text_at(item, "state") == "missing";
  }
  return status == 0 && missing ? exit_code(ErrorCode::kFailed) : status;
}

void add_flags(CLI::App& command, AskOptions& options) {
  add_format_option(command, options.format,
                    {OutputFormat::kTable, OutputFormat::kJson, OutputFormat::kYaml});
  add_connection_flags(command, options.connection);
}

}  // namespace

void add_ask_commands(CLI::App& app, CliContext& context) {
  constexpr Example kWhy[] = {{"why it waits, and what would help", "fairlead why train"}};
  auto of_why = std::make_shared<AskOptions>();
  CLI::App& why_app = add_verb(app, "why", "Why a workload waits, and when it starts", kWhy);
  why_app.add_option("WORKLOAD", of_why->name, "Its name")->required()->type_name("");
  add_project_flag(why_app, of_why->project);
  add_flags(why_app, *of_why);
  on_run(why_app, context, [of_why, &context] { return why(*of_why, context); });

  auto of_queue = std::make_shared<AskOptions>();
  CLI::App& queue_app = add_verb(app, "queue", "What waits, in the order in which it is served");
  add_project_flag(queue_app, of_queue->project);
  add_all_projects_flag(queue_app, of_queue->all_projects);
  add_flags(queue_app, *of_queue);
  on_run(queue_app, context, [of_queue, &context] { return queue(*of_queue, context); });

  auto of_doctor = std::make_shared<AskOptions>();
  CLI::App& doctor_app =
      add_verb(app, "doctor", "What of the server's machine works, and what not");
  add_flags(doctor_app, *of_doctor);
  on_run(doctor_app, context, [of_doctor, &context] { return doctor(*of_doctor, context); });
}

}  // namespace fairlead::cli
