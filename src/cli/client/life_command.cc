// fairlead suspend, resume, delete; and the same below the nouns.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>

#include "cli/client/answer.h"
#include "cli/client/client_options.h"
#include "cli/client/lookup.h"
#include "cli/client/verbs.h"
#include "cli/commands.h"

namespace fairlead::cli {
namespace {

struct LifeOptions {
  ConnectionFlags connection;
  std::string project;
  std::vector<std::string> names;
  bool all = false;
  bool yes = false;
  bool dry_run = false;
  bool freeze = false;
  std::string grace_period;
};

enum class Act : std::uint8_t { kSuspend, kResume, kDelete };

struct Words {
  const char* verb;
  const char* done;  // what is said of each
  const char* what;
};

constexpr Words words_of(Act act) {
  switch (act) {
    case Act::kSuspend:
      return {"suspend", "is suspended", "Stop workloads and keep their definition"};
    case Act::kResume:
      return {"resume", "waits again", "Let suspended workloads wait again, and frozen ones go on"};
    case Act::kDelete:
      break;
  }
  return {"delete", "is deleted", "End workloads and remove them"};
}

// Whether --all means it: what is over has nothing to be suspended.
bool meant(Act act, const LifeOptions& options, const std::string& phase) {
  switch (act) {
    case Act::kSuspend:
      if (options.freeze) return phase == "running";
      return phase == "pending" || phase == "starting" || phase == "running" || phase == "frozen";
    case Act::kResume:
      return phase == "suspended" || phase == "frozen";
    case Act::kDelete:
      break;
  }
  return phase != "deleted" && phase != "deleting";
}

struct Meant {
  std::string id;
  std::string name;
};

Result<std::vector<Meant>> all_of(ApiClient& api, Act act, const LifeOptions& options,
                                  const std::string& project) {
  const Query query = project.empty() ? Query{} : Query{{"project", project}};
  FAIRLEAD_ASSIGN(const Listing listing, api.list(api_path({"workloads"}), query));
  std::vector<Meant> out;
  for (const Value* item : listing.items) {
    if (meant(act, options, text_at(*item, "status.phase"))) {
      out.push_back({text_at(*item, "id"), text_at(*item, "name")});
    }
  }
  return out;
}

Result<Reply> carry_out(ApiClient& api, Act act, const Meant& one, const LifeOptions& options) {
  Query query;
  if (options.dry_run) query.emplace_back("dryRun", "true");
  if (act != Act::kDelete) {
    return api.send("POST", api_path({"workloads", one.id, words_of(act).verb}), query,
                    options.freeze ? R"({"freeze": true})" : "");
  }
  if (!options.grace_period.empty()) query.emplace_back("gracePeriod", options.grace_period);
  return api.send("DELETE", api_path({"workloads", one.id}), query, {});
}

// What is said of one; what was frozen does not wait, but goes on.
std::string told(Act act, const LifeOptions& options, const Reply& reply) {
  if (options.freeze) return "is frozen";
  if (act == Act::kResume && text_at(reply.root(), "status.phase") == "running") return "goes on";
  return words_of(act).done;
}

int change_life(Act act, const LifeOptions& options, CliContext& context) {
  const std::string verb = words_of(act).verb;
  if (options.names.empty() != options.all) {
    return report(context,
                  Error{ErrorCode::kInvalidArgument,
                        options.all ? "--all and names contradict each other" : "there is no name",
                        {},
                        {},
                        "state names, or --all for all of the project"});
  }
  auto api = connect(options.connection, context);
  if (!api) return report(context, api.error());
  const std::string project = options.project.empty() ? api->connection().project : options.project;
  int status = 0;
  std::vector<Meant> all;
  if (options.all) {
    auto found = all_of(*api, act, options, project);
    if (!found) return report(context, found.error());
    all = std::move(*found);
    if (all.empty()) context.err << "There are none.\n";
    const auto sure = all.empty() || options.dry_run
                          ? Result<void>()
                          : confirm(context,
                                    "This would " + verb + " " +
                                        counted(static_cast<std::int64_t>(all.size()), "workload") +
                                        (project.empty() ? "" : " of project " + project) + ".",
                                    options.yes);
    if (!sure) return report(context, sure.error());
  }
  std::vector<std::string> names = options.names;
  // runai delete job NAME
  const bool of_kind = names.size() > 1 && (names.front() == "job" || names.front() == "jobs");
  if (context.program == "runai" && of_kind) names.erase(names.begin());
  for (const std::string& name : names) {
    const auto found = find_workload(*api, name, project);
    if (found) {
      all.push_back({found->id(), found->name()});
    } else {
      status = std::max(status, report(context, found.error()));
    }
  }
  // One that cannot be does not keep the others from it; the first failure is the status.
  for (const Meant& one : all) {
    const auto done = carry_out(*api, act, one, options);
    if (!done) {
      const int failed = report(context, done.error());
      if (status == 0) status = failed;
      continue;
    }
    context.out << one.name << (options.dry_run ? " would be: " : " ") << told(act, options, *done)
                << "\n";
  }
  return status;
}

void add_life_verb(CLI::App& parent, Act act, CliContext& context) {
  auto options = std::make_shared<LifeOptions>();
  CLI::App& command = add_verb(parent, words_of(act).verb, words_of(act).what);
  command.add_option("WORKLOAD", options->names, "Their names")->type_name("");
  command.add_flag("-A,--all", options->all, "All of the project that it makes sense for");
  add_yes_flag(command, options->yes);
  command.add_flag("--dry-run", options->dry_run, "Check and change nothing");
  if (act == Act::kSuspend) {
    command.add_flag("--freeze", options->freeze,
                     "Keep tasks as they are, with all that they hold, and give them no CPU time");
  } else if (act == Act::kDelete) {
    command
        .add_option("--grace-period", options->grace_period,
                    "Instead of the workload's own; 0s ends it at once")
        ->type_name("DURATION");
  }
  add_project_flag(command, options->project);
  add_connection_flags(command, options->connection);
  on_run(command, context,
         [options, act, &context] { return change_life(act, *options, context); });
}

}  // namespace

void add_life_verbs(CLI::App& parent, CliContext& context) {
  for (const Act act : {Act::kSuspend, Act::kResume, Act::kDelete}) {
    add_life_verb(parent, act, context);
  }
}

}  // namespace fairlead::cli
