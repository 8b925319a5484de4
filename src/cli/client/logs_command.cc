// fairlead logs WORKLOAD, and logs below the nouns.
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/client/answer.h"
#include "cli/client/client_options.h"
#include "cli/client/follow.h"
#include "cli/client/verbs.h"
#include "cli/commands.h"

namespace fairlead::cli {
namespace {

struct LogsOptions {
  ConnectionFlags connection;
  std::string project;
  std::string name;
  TaskChoice choice;
  bool follow = false;
  bool timestamps = false;
  bool previous = false;
  std::string tail;
  std::string since;
  std::string limit_bytes;
};

Query log_query(const LogsOptions& options) {
  Query query;
  if (!options.tail.empty()) query.emplace_back("tail", options.tail);
  if (!options.since.empty()) query.emplace_back("since", options.since);
  if (!options.limit_bytes.empty()) query.emplace_back("limitBytes", options.limit_bytes);
  if (options.timestamps) query.emplace_back("timestamps", "true");
  return query;
}

// The attempt before the last.
int print_previous(ApiClient& api, const std::vector<const Value*>& tasks, Query query,
                   CliContext& context) {
  const std::int64_t attempt = number_at(*tasks.front(), "attempt").value_or(1);
  if (attempt <= 1 || tasks.size() > 1) {
    return report(context, Error{ErrorCode::kNotFound,
                                 tasks.size() > 1
                                     ? "--previous is of one task"
                                     : task_name(*tasks.front()) + " has not been started before",
                                 {},
                                 {},
                                 tasks.size() > 1 ? "choose it with --task" : ""});
  }
  query.emplace_back("attempt", std::to_string(attempt - 1));
  return print_logs(api, tasks, query, context);
}

int logs(const LogsOptions& options, CliContext& context) {
  auto api = connect(options.connection, context);
  if (!api) return report(context, api.error());
  const std::string project = options.project.empty() ? api->connection().project : options.project;
  const auto found = find_workload(*api, options.name, project);
  if (!found) return report(context, found.error());
  if (options.follow) {
    FollowOptions follow;
    follow.choice = options.choice;
    follow.log = log_query(options);
    return follow_workload(*api, found->id(), follow, context);
  }
  const auto tasks = api->list(api_path({"workloads", found->id(), "tasks"}));
  if (!tasks) return report(context, tasks.error());
  const auto chosen = choose_tasks(*tasks, options.choice, found->name());
  if (!chosen) return report(context, chosen.error());
  if (options.previous) return print_previous(*api, *chosen, log_query(options), context);
  return print_logs(*api, *chosen, log_query(options), context);
}

}  // namespace

void add_logs_verb(CLI::App& parent, CliContext& context) {
  auto options = std::make_shared<LogsOptions>();
  constexpr Example kExamples[] = {
      {"all of it", "fairlead logs train"},
      {"the last lines, and on", "fairlead logs -f --tail 20 train"},
      {"one worker's", "fairlead logs train --task worker-1"},
  };
  CLI::App& command = add_verb(parent, "logs", "What its tasks wrote", kExamples);
  command.add_option("WORKLOAD", options->name, "Its name")->required()->type_name("");
  command.add_flag("-f,--follow", options->follow, "Go on until it is over");
  add_range(*command.add_option("-t,--tail", options->tail, "Only the last lines; -1 all"), "LINES",
            -1, std::int64_t{1'000'000'000});
  command
      .add_option("--since,--since-time", options->since, "Only what is younger: 10m, or a date")
      ->type_name("TIME");
  command.add_flag("--timestamps", options->timestamps, "Each line with its time");
  command.add_flag("--previous", options->previous, "Of the attempt before the last");
  add_range(*command.add_option("--limit-bytes", options->limit_bytes, "So many bytes at most"),
            "BYTES", 0, std::int64_t{1} << 40);
  command
      .add_option("--task,--pod", options->choice.task, "Only of this task: worker-1, or a role")
      ->type_name("TASK");
  command.add_option("-i,--index,--instance", options->choice.index, "Only of tasks of this index")
      ->type_name("INDEX");
  add_project_flag(command, options->project);
  add_connection_flags(command, options->connection);
  on_run(command, context, [options, &context] { return logs(*options, context); });
}

}  // namespace fairlead::cli
