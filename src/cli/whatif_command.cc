// fairlead whatif LOG CHANGE…: a recorded history again, as it was and with a change.
#include <memory>
#include <ostream>
#include <set>

#include <CLI/CLI.hpp>

#include "base/printable.h"
#include "cli/commands.h"
#include "cli/log_file.h"
#include "cli/output.h"
#include "cli/simulate_options.h"
#include "cli/whatif_report.h"
#include "model/document.h"
#include "sim/scenario/time_text.h"
#include "sim/whatif/page.h"

namespace fairlead::cli {
namespace {

struct WhatIfArguments {
  std::string log;
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
                      "a workload of the log is named \"" + workload.name + "\" too",
                      {},
                      "--submit",
                      "give it another name"});
  }
  return {};
}

sim::KeyValues settings_of(const WhatIfArguments& in) {
  sim::KeyValues out{{"log", in.log}};
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) out.emplace_back(key, value);
  };
  const auto add_all = [&](const char* key, const std::vector<std::string>& values) {
    std::string text;
    for (const std::string& value : values) text += (text.empty() ? "" : " ") + value;
    add(key, text);
  };
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

int whatif(const WhatIfArguments& in, CliContext& context) {
  auto change = read_change(in);
  if (!change) return report(context, change.error());
  if (!check_outputs(context, {{"--output", in.output, true}, {"--html", in.html}},
                     {in.log, in.submit})) {
    return context.exit_status;
  }
  if (!read_submitted(in.submit, *change, context)) return context.exit_status;
  const auto file = open_log(in.log);
  if (!file) return report(context, file.error());
  const auto history = sim::read_history(**file, document_name(in.log));
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
                  sim::whatif_page("What if: " + document_name(in.log), settings, comparison))) {
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
      "whatif", "Play a recorded log again with a change: what changes for whom");
  command->add_option("LOG", options->log, "A recorded log; - is standard input")
      ->required()
      ->type_name("");
  command
      ->add_option("--at", options->at,
                   "When the change takes place: 2h after the first record, or a date (default "
                   "before the first workload)")
      ->type_name("TIME");
  add_changes(*command, *options);
  add_format_option(*command, options->format, {OutputFormat::kTable, OutputFormat::kJson});
  add_output_option(*command, options->output);
  command->add_option("--html", options->html, "Also write a page with charts")->type_name("FILE");
  constexpr Example kExamples[] = {
      {"four more nodes like n1", "fairlead whatif cluster.log --add-nodes 4xn1"},
      {"another quota from the third hour on",
       "fairlead whatif cluster.log --at 3h --set-quota team-a=16 --html whatif.html"},
      {"when would this one start", "fairlead whatif cluster.log --at 2h --submit train.yaml"},
      {"without taking back", "fairlead whatif cluster.log --reclaim off --preempt off"},
  };
  command->footer(examples(kExamples));
  command->callback([options, &context] { context.exit_status = whatif(*options, context); });
}

}  // namespace fairlead::cli
