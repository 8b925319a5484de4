#include "cli/app.h"

#include <algorithm>
#include <charconv>
#include <ostream>
#include <sstream>

#include <CLI/CLI.hpp>

#include "base/nearest.h"
#include "base/printable.h"
#include "cli/commands.h"
#include "cli/outline.h"
#include "cli/output.h"

#ifndef FAIRLEAD_VERSION
#error "FAIRLEAD_VERSION comes from src/cli/CMakeLists.txt"
#endif

namespace fairlead::cli {
namespace {

// What adds commands to the program, and which.
struct Commands {
  const char* title;  // of the group in --help
  std::vector<std::string_view> names;
  void (*add)(CLI::App&, CliContext&);
};

constexpr const char* kWorkloads = "Workloads";
constexpr const char* kCluster = "Cluster and people";
constexpr const char* kDocuments = "Documents and simulation";
constexpr const char* kProgram = "This program";

// In the order in which --help lists them.
const std::vector<Commands>& all_commands() {
  static const std::vector<Commands> kAll = {
      {kProgram, {"up", "down"}, &add_server_commands},
      {kProgram, {"backup"}, &add_backup_command},
      {kWorkloads, {"run", "submit", "submit-dist", "apply"}, &add_submit_commands},
      {kWorkloads, {"list", "events"}, &add_list_commands},
      {kWorkloads, {"describe"}, &add_describe_command},
      {kWorkloads, {"why", "queue", "doctor"}, &add_ask_commands},
      {kWorkloads,
       {"logs", "exec", "bash", "attach", "port-forward", "suspend", "resume", "delete"},
       &add_workload_commands},
      {kWorkloads, {"top"}, &add_top_command},
      {kWorkloads, {"workspace", "training", "pytorch", "mpi", "workload"}, &add_workload_nouns},
      {kCluster, {"project", "department", "node", "nodepool"}, &add_organization_commands},
      {kCluster, {"reservation"}, &add_reservation_command},
      {kCluster, {"export"}, &add_export_command},
      {kCluster, {"token", "user", "audit"}, &add_access_commands},
      {kCluster, {"settings"}, &add_settings_command},
      {kCluster, {"login", "logout", "whoami", "config", "version"}, &add_login_commands},
      {kCluster, {"__complete"}, &add_complete_command},
      {kDocuments, {"validate"}, &add_validate_command},
      {kDocuments, {"scenario"}, &add_scenario_command},
      {kDocuments, {"replay"}, &add_replay_command},
      {kDocuments, {"whatif"}, &add_whatif_command},
      {kDocuments, {"share"}, &add_share_command},
      {kDocuments, {"schema"}, &add_schema_command},
      {kDocuments, {"simulate"}, &add_simulate_command},
      {kProgram, {"completion"}, &add_completion_command},
      {kProgram, {"man"}, &add_man_command},
  };
  return kAll;
}

// The program has thousands of flags, and a person waits for one command: the others are left out
// where its name is known. Those that speak of the whole program need it all.
const Commands* only_needed(const std::string& word) {
  if (word == "completion" || word == "man") return nullptr;
  for (const Commands& commands : all_commands()) {
    for (const std::string_view name : commands.names) {
      if (name == word) return &commands;
    }
  }
  return nullptr;
}

// The innermost command that was named.
const CLI::App& innermost(const CLI::App& app) {
  const std::vector<const CLI::App*> chosen =
      app.get_subcommands([](const CLI::App* sub) { return sub->parsed(); });
  return chosen.empty() ? app : innermost(*chosen.front());
}

// Commands that run another one, whose words stand behind "--" and are not ours to read.
constexpr std::string_view kRunners[] = {"run",      "submit",   "submit-dist", "exec", "workspace",
                                         "training", "workload", "pytorch",     "mpi"};

// The words before the first "--" of a runner; those behind it go to context.after_dashes.
std::vector<std::string> own_words(const std::vector<std::string>& arguments, CliContext& context) {
  const bool runner = !arguments.empty() && std::find(std::begin(kRunners), std::end(kRunners),
                                                      arguments.front()) != std::end(kRunners);
  const auto dashes =
      runner ? std::find(arguments.begin(), arguments.end(), "--") : arguments.end();
  if (dashes != arguments.end()) context.after_dashes.assign(dashes + 1, arguments.end());
  return {arguments.begin(), dashes};
}

std::string full_name(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : full_name(*parent) + " " + app.get_name();
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!sub->get_group().empty()) names.push_back(sub->get_name());
  }
  return names;
}

std::string did_you_mean(const std::string& near) {
  return near.empty() ? "" : "did you mean \"" + near + "\"?";
}

// What stands where nothing of the kind is known: an option, a command, or one word too many.
Error unexpected(const CLI::App& command, const std::string& word) {
  Error error;
  const std::string name = word.substr(0, word.find('='));
  if (word.size() > 1 && word.front() == '-') {
    error.message = "unknown option \"" + name + "\" for \"" + full_name(command) + "\"";
    error.cure = did_you_mean(nearest_name(name, option_names(command)));
  } else if (const std::vector<std::string> commands = command_names(command); !commands.empty()) {
    error.message = "unknown command \"" + word + "\" for \"" + full_name(command) + "\"";
    error.cure = did_you_mean(nearest_name(word, commands));
  } else {
    error.message = "\"" + word + "\" is one argument too many for \"" + full_name(command) + "\"";
  }
  return error;
}

// "--seed: At Most 1 required but received 2": an option that takes one value.
std::string option_of(const CLI::ParseError& e) {
  const std::string_view text = e.what();
  return std::string(text.substr(0, text.find(':')));
}
std::size_t times_given(const CLI::ParseError& e) {
  const std::string_view text = e.what();
  constexpr std::string_view kOnce = "At Most 1 required but received ";
  const std::size_t at = text.find(kOnce);
  std::size_t times = 0;
  if (at != std::string_view::npos) {
    std::from_chars(text.data() + at + kOnce.size(), text.data() + text.size(), times);
  }
  return times;
}

// Commands to copy, by the name under which the person calls us.
std::string as_called(std::string text, const CliContext& context) {
  constexpr std::string_view kName = "fairlead ";
  if (context.program == "fairlead") return text;
  for (std::size_t at = text.find(kName); at != std::string::npos;
       at = text.find(kName, at + context.program.size())) {
    text.replace(at, kName.size() - 1, context.program);
  }
  return text;
}

int usage_error(const CLI::App& app, const CLI::ParseError& e, CliContext& context) {
  const CLI::App& command = innermost(app);
  const std::vector<std::string> extras = app.remaining(true);
  const bool names_missing = !command_names(command).empty();
  if (extras.empty() && names_missing && e.get_name() == "RequiredError") {
    // Just "fairlead" or "fairlead scenario": show what there is.
    context.err << as_called(command.help(), context);
    return kExitUsage;
  }
  Error error;
  if (!extras.empty()) {
    error = unexpected(command, extras.front());
  } else if (dynamic_cast<const CLI::ArgumentMismatch*>(&e) != nullptr && times_given(e) > 1) {
    error.message = option_of(e) + " is given " + std::to_string(times_given(e)) + " times";
    error.cure = "give it once";
  } else {
    error.message = e.what();
  }
  (void)report(context, error);
  context.err << "Run \"" << full_name(command) << " --help\" for usage.\n";
  return kExitUsage;
}

void report_as(CliContext& context, std::string_view word, std::string_view colour,
               const Error& error) {
  if (context.color) {
    context.err << colour << word << ":\x1b[0m ";
  } else {
    context.err << word << ": ";
  }
  context.err << as_called(printable(error.text()), context) << "\n";
}

}  // namespace

std::string version_text() {
  return "fairlead " FAIRLEAD_VERSION;
}

int report(CliContext& context, const Error& error) {
  return report(context, std::span(&error, 1));
}

int report(CliContext& context, std::span<const Error> errors) {
  for (const Error& error : errors) report_as(context, "error", "\x1b[1;31m", error);
  return errors.empty() ? 0 : exit_code(errors.front().code);
}

int report_invalid(CliContext& context, std::span<const Error> errors) {
  (void)report(context, errors);
  if (errors.empty()) return 0;
  return errors.front().code == ErrorCode::kIo ? exit_code(ErrorCode::kIo) : kExitUsage;
}

void report_warnings(CliContext& context, std::span<const Error> warnings) {
  for (const Error& warning : warnings) report_as(context, "warning", "\x1b[1;33m", warning);
}

namespace {

// `word`: the command that is called; empty: all are wanted.
void set_up(CLI::App& app, CliContext& context, const std::string& word) {
  app.name(context.program);
  app.description("Fairlead shares the GPUs of an organisation: placement, quotas, fair use.");
  app.set_version_flag("--version", version_text(), "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  constexpr Example kExamples[] = {
      {"two GPUs; the log comes here", "fairlead run -g 2 -- python train.py"},
      {"what waits, and why", "fairlead queue; fairlead why train-1"},
      {"check a cluster document", "fairlead validate cluster.yaml"},
      {"what a command takes", "fairlead validate --help"},
  };
  app.footer(examples(kExamples));
  const auto all = [](const CLI::App*) { return true; };
  const Commands* only = only_needed(word);
  for (const Commands& commands : all_commands()) {
    if (only != nullptr && &commands != only) continue;
    const std::size_t before = app.get_subcommands(all).size();
    commands.add(app, context);
    const std::vector<CLI::App*> added = app.get_subcommands(all);
    for (std::size_t i = before; i < added.size(); ++i) {
      // What has no group is hidden.
      if (!added[i]->get_group().empty()) added[i]->group(commands.title);
    }
  }
}

}  // namespace

std::vector<CommandOutline> program_outline() {
  std::ostringstream nowhere;
  CliContext context{nowhere, nowhere};
  CLI::App app;
  set_up(app, context, {});
  return outline_of(app);
}

int run(const std::vector<std::string>& arguments, CliContext& context) {
  CLI::App app;
  set_up(app, context, arguments.empty() ? std::string() : arguments.front());
  try {
    std::vector<std::string> words = own_words(arguments, context);
    std::reverse(words.begin(), words.end());
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    context.out << as_called(app.help(), context);
    context.exit_status = 0;
  } catch (const CLI::CallForVersion&) {
    context.out << version_text() << "\n";
    context.exit_status = 0;
  } catch (const CLI::ParseError& e) {
    context.exit_status = usage_error(app, e, context);
  }
  context.out.flush();
  if (!context.out && context.exit_status == 0) {
    context.exit_status =
        report(context, Error{ErrorCode::kIo, "standard output cannot be written", {}, {}, {}});
  }
  return context.exit_status;
}

}  // namespace fairlead::cli
