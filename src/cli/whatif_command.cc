// fairlead whatif [LOG] CHANGE…: a recorded history again, or what lies ahead of a server, as it is
// and with a change.
#include <memory>
#include <ostream>
#include <set>

#include <CLI/CLI.hpp>

#include "base/printable.h"
#include "cli/client/client_options.h"
#include "cli/client/present.h"
#include "cli/commands.h"
#include "cli/log_file.h"
#include "cli/output.h"
#include "cli/simulate_options.h"
#include "cli/whatif_report.h"
#include "model/document.h"
#include "sim/scenario/time_text.h"
#include "sim/whatif/ahead.h"
#include "sim/whatif/page.h"

namespace fairlead::cli {
namespace {

struct WhatIfArguments {
  std::string log;  // empty: a server is asked
  ConnectionFlags connection;
  std::string ahead;  // how far to look, of a server
  std::string at;
  std::vector<std::string> add_nodes;
  std::vector<std::string> remove_nodes;
  std::vector<std::string> quotas;
  std::vector<std::string> limits;
  std::vector<std::string> weights;
  std::string placement;
  std::string reclaim;
  std::string preempt;
  std::string consolidate;
  std::string plan;
  std::string submit;
  OutputFormat format = OutputFormat::kTable;
  std::string output;
  std::string html;
};

constexpr Duration kAhead = hours(24);
constexpr Duration kMostAhead = hours(24 * 366);

std::optional<bool> on_or_off(const std::string& word) {
  return word.empty() ? std::nullopt : std::optional(word == "on");
}

Result<sim::Change> read_change(const WhatIfArguments& in) {
  sim::Change change;
  for (const std::string& text : in.add_nodes) {
    FAIRLEAD_ASSIGN(sim::AddNodes add, sim::parse_added_nodes(text));
    change.added.push_back(std::move(add));
  }
  for (const std::string& text : in.remove_nodes) {
    FAIRLEAD_ASSIGN(sim::RemoveNodes remove, sim::parse_removed_nodes(text));
    change.removed.push_back(std::move(remove));
  }
  using Part = sim::EntitlementPart;
  for (const auto& [part, texts] :
       {std::pair(Part::kQuota, &in.quotas), std::pair(Part::kLimit, &in.limits),
        std::pair(Part::kWeight, &in.weights)}) {
    for (const std::string& text : *texts) {
      FAIRLEAD_ASSIGN(sim::SetEntitlement set, sim::parse_entitlement(part, text));
      change.entitlements.push_back(std::move(set));
    }
  }
  if (!in.placement.empty()) change.placement = in.placement;
  change.reclaim = on_or_off(in.reclaim);
  change.preempt = on_or_off(in.preempt);
  change.consolidate = on_or_off(in.consolidate);
  change.plan = on_or_off(in.plan);
  if (!change.at_a_time() && !change.options() && in.submit.empty()) {
    return fail(Error{ErrorCode::kInvalidArgument,
                      "nothing is changed",
                      {},
                      {},
                      "state at least one change, such as --add-nodes or --set-quota"});
  }
  if (!in.at.empty() && change.options()) {
    return fail(Error{ErrorCode::kInvalidArgument,
                      "options of the scheduler hold from the beginning of a log",
                      {},
                      "--at",
                      "leave --at out, or ask in two steps"});
  }
  return change;
}

// The documents of --submit; false after reporting.
bool read_submitted(const std::string& path, sim::Change& change, CliContext& context) {
  if (path.empty()) return true;
  auto document = load_documents(path, context);
  if (!document) return false;
  if (document->has_cluster || document->cluster.workloads.empty()) {
    context.exit_status = report(
        context, Error{ErrorCode::kInvalidArgument, "holds no workloads alone", document_name(path),
                       "--submit", "state documents of kind: Workload"});
    return false;
  }
  for (WorkloadEntry& entry : document->cluster.workloads) {
    change.submitted.push_back(std::move(entry.spec));
  }
  return true;
}

Result<void> check_names(const sim::Change& change, const sim::History& history) {
  std::set<std::string> names;
  for (const sim::HistoryItem& item : history.items) {
    if (!item.event) continue;
    if (const std::string* name = sim::submitted_name(*item.event)) names.insert(*name);
  }
  for (const WorkloadSpec& workload : change.submitted) {
    if (names.insert(workload.name).second) continue;
    return fail(Error{ErrorCode::kAlreadyExists,
                      "there is a workload named \"" + workload.name + "\" already",
                      {},
                      "--submit",
                      "give it another name"});
  }
  return {};
}

sim::KeyValues settings_of(const WhatIfArguments& in) {
  sim::KeyValues out;
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) out.emplace_back(key, value);
  };
  const auto add_all = [&](const char* key, const std::vector<std::string>& values) {
    std::string text;
    for (const std::string& value : values) text += (text.empty() ? "" : " ") + value;
    add(key, text);
  };
  add("log", in.log);
  if (in.log.empty()) out.emplace_back("ahead", in.ahead.empty() ? to_text(kAhead) : in.ahead);
  add("at", in.at);
  add_all("addNodes", in.add_nodes);
  add_all("removeNodes", in.remove_nodes);
  add_all("setQuota", in.quotas);
  add_all("setLimit", in.limits);
  add_all("setWeight", in.weights);
  add("placement", in.placement);
  add("reclaim", in.reclaim);
  add("preempt", in.preempt);
  add("consolidate", in.consolidate);
  add("plan", in.plan);
  add("submit", in.submit);
  return out;
}

void warn(const sim::History& history, const sim::WhatIfComparison& comparison,
          const std::string& log, CliContext& context) {
  std::vector<Error> warnings;
  if (comparison.unknown_runtimes > 0) {
    const std::string n = std::to_string(comparison.unknown_runtimes);
    warnings.push_back(
        Error{ErrorCode::kFailed,
              "nobody knows how long " + n +
                  (comparison.unknown_runtimes == 1 ? " workload runs" : " workloads run") +
                  ": taken to run beyond the time that is looked at",
              {},
              {},
              "state expectedRuntime, or defaultExpectedRuntime of their project"});
  }
  if (history.torn) {
    warnings.push_back(Error{ErrorCode::kIo,
                             "ends in the middle of a record: the last " +
                                 std::to_string(history.torn->bytes) + " bytes are left out",
                             document_name(log) + ", byte " + std::to_string(history.torn->offset),
                             {},
                             {}});
  }
  if (comparison.not_as_recorded > 0) {
    warnings.push_back(Error{ErrorCode::kFailed,
                             "without the change, " + std::to_string(comparison.not_as_recorded) +
                                 " workloads start at another time than in the log: what stopped "
                                 "or woke them came from outside the scheduler",
                             document_name(log),
                             {},
                             {}});
  }
  report_warnings(context, warnings);
}

Result<sim::History> history_of(const WhatIfArguments& in, CliContext& context) {
  const auto not_with_log = [](const char* flag) {
    return fail(Error{ErrorCode::kInvalidArgument,
                      "is for what lies ahead of a server",
                      {},
                      flag,
                      "leave it out, or the log"});
  };
  if (!in.log.empty()) {
    if (!in.ahead.empty()) return not_with_log("--ahead");
    if (!in.connection.server.empty()) return not_with_log("--server");
    FAIRLEAD_ASSIGN(const auto file, open_log(in.log));
    return sim::read_history(*file, document_name(in.log));
  }
  Duration ahead = kAhead;
  if (!in.ahead.empty()) {
    FAIRLEAD_ASSIGN(ahead, parse_duration(in.ahead));
  }
  FAIRLEAD_ASSIGN(control::Present present, fetch_present(in.connection, context));
  return sim::history_ahead({present.at, std::move(present.cluster), std::move(present.frozen),
                             std::move(present.usage), std::move(present.runtimes)},
                            ahead);
}

int whatif(const WhatIfArguments& in, CliContext& context) {
  auto change = read_change(in);
  if (!change) return report(context, change.error());
  if (!check_outputs(context, {{"--output", in.output, true}, {"--html", in.html}},
                     {in.log, in.submit})) {
    return context.exit_status;
  }
  if (!read_submitted(in.submit, *change, context)) return context.exit_status;
  const auto history = history_of(in, context);
  if (!history) return report(context, history.error());
  if (const auto names = check_names(*change, *history); !names) {
    return report(context, names.error());
  }
  if (!in.at.empty()) {
    const auto at = sim::parse_instant(in.at, history->start);
    if (!at) {
      Error error = at.error();
      error.field = "--at";
      return report(context, error);
    }
    change->at = *at;
  }
  const auto before = sim::run_history(*history, nullptr);
  if (!before) return report(context, before.error());
  const auto after = sim::run_history(*history, &*change);
  if (!after) return report(context, after.error());
  const sim::WhatIfComparison comparison = sim::compare(*history, *before, *after);
  warn(*history, comparison, in.log, context);
  const sim::KeyValues settings = settings_of(in);
  if (!in.html.empty() &&
      !write_page(context, in.html,
                  sim::whatif_page(in.log.empty() ? "What if" : "What if: " + document_name(in.log),
                                   settings, comparison))) {
    return context.exit_status;
  }
  return write_output(context, in.output,
                      in.format == OutputFormat::kJson ? whatif_json(settings, comparison)
                                                       : whatif_table(comparison));
}

void add_changes(CLI::App& command, WhatIfArguments& in) {
  // Each may be stated several times, with one value each.
  const auto list = [&](const char* name, std::vector<std::string>& target, const char* what,
                        const char* type) {
    command.add_option(name, target, what)
        ->type_name(type)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  list("--add-nodes", in.add_nodes, "So many copies of a node", "[N x]NODE");
  list("--remove-nodes", in.remove_nodes, "Take nodes away: by name, or so many of the last ones",
       "N|NODE,...");
  list("--set-quota", in.quotas, "Another quota of a queue (GPUs, or of the resource named)",
       "QUEUE=AMOUNT[:RESOURCE][@POOL]");
  list("--set-limit", in.limits, "Another limit of a queue", "QUEUE=AMOUNT[:RESOURCE][@POOL]");
  list("--set-weight", in.weights, "Another over-quota weight of a queue",
       "QUEUE=WEIGHT[:RESOURCE][@POOL]");
  add_choice(*command.add_option("--placement", in.placement, "On which node a task goes"),
             {"default", "random", "bestfit", "dotprod", "fgd", "firstfit"});
  add_choice(*command.add_option("--reclaim", in.reclaim, "Take back for other queues (rule 7.1)"),
             {"on", "off"});
  add_choice(*command.add_option("--preempt", in.preempt, "Take back by priority (rule 7.2)"),
             {"on", "off"});
  add_choice(*command.add_option("--consolidate", in.consolidate,
                                 "Move what runs to make room (rule 7.3)"),
             {"on", "off"});
  add_choice(*command.add_option("--plan", in.plan, "Reserve for what is blocked (rule 9)"),
             {"on", "off"});
  command.add_option("--submit", in.submit, "One more workload, or several: documents")
      ->type_name("FILE");
}

}  // namespace

void add_whatif_command(CLI::App& app, CliContext& context) {
  auto options = std::make_shared<WhatIfArguments>();
  CLI::App* command = app.add_subcommand(
      "whatif", "What a change does for whom: from now on at a server, or in a recorded log");
  command
      ->add_option("LOG", options->log,
                   "A recorded log, - is standard input; without it a server is asked")
      ->type_name("");
  command
      ->add_option("--at", options->at,
                   "When the change takes place: 2h after the first record or from now, or a date "
                   "(default before the first workload; at once)")
      ->type_name("TIME");
  add_duration_range(
      *command->add_option("--ahead", options->ahead, "Of a server: how far to look (default 24h)"),
      seconds(1), kMostAhead);
  add_connection_flags(*command, options->connection);
  add_changes(*command, *options);
  add_format_option(*command, options->format, {OutputFormat::kTable, OutputFormat::kJson});
  add_output_option(*command, options->output);
  command->add_option("--html", options->html, "Also write a page with charts")->type_name("FILE");
  constexpr Example kExamples[] = {
      {"what another quota does for whom from now on", "fairlead whatif --set-quota team-a=16"},
      {"when would this one start", "fairlead whatif --submit train.yaml --ahead 7d"},
      {"four more nodes like n1, in a log", "fairlead whatif cluster.log --add-nodes 4xn1"},
      {"another quota from the third hour on",
       "fairlead whatif cluster.log --at 3h --set-quota team-a=16 --html whatif.html"},
      {"without taking back", "fairlead whatif cluster.log --reclaim off --preempt off"},
  };
  command->footer(examples(kExamples));
  command->callback([options, &context] { context.exit_status = whatif(*options, context); });
}

}  // namespace fairlead::cli
