// fairlead exec, bash, attach, port-forward; and the same below the nouns.
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/client/answer.h"
#include "cli/client/client_options.h"
#include "cli/client/forward.h"
#include "cli/client/lookup.h"
#include "cli/client/session.h"
#include "cli/client/verbs.h"
#include "cli/commands.h"

namespace fairlead::cli {
namespace {

struct SessionFlags {
  ConnectionFlags connection;
  std::string project;
  std::string name;
  TaskChoice choice;
  bool input = false;
  bool tty = false;
  bool no_input = false;
  bool no_tty = false;
  std::vector<std::string> ports;
};

struct Target {
  ApiClient api;
  std::string task;  // its id
};

Result<Target> running_task(const SessionFlags& flags, CliContext& context) {
  FAIRLEAD_ASSIGN(ApiClient api, connect(flags.connection, context));
  const std::string project = flags.project.empty() ? api.connection().project : flags.project;
  FAIRLEAD_ASSIGN(const FoundWorkload found, find_workload(api, flags.name, project));
  FAIRLEAD_ASSIGN(const Listing tasks, api.list(api_path({"workloads", found.id(), "tasks"})));
  FAIRLEAD_ASSIGN(const Value* task, choose_running_task(tasks, flags.choice, found.name()));
  std::string id = text_at(*task, "id");
  return Target{std::move(api), std::move(id)};
}

int exec(const SessionFlags& flags, const std::vector<std::string>& command, CliContext& context) {
  if (command.empty()) {
    return report(context, Error{ErrorCode::kInvalidArgument,
                                 "there is no command",
                                 {},
                                 {},
                                 "as in: fairlead exec " + flags.name + " -- nvidia-smi"});
  }
  auto target = running_task(flags, context);
  if (!target) return report(context, target.error());
  SessionOptions options{api_path({"tasks", target->task, "exec"}), {}, flags.tty, flags.input};
  for (const std::string& word : command) options.query.emplace_back("command", word);
  if (flags.tty) options.query.emplace_back("tty", "true");
  return run_session(target->api, options, context);
}

int attach(const SessionFlags& flags, CliContext& context) {
  auto target = running_task(flags, context);
  if (!target) return report(context, target.error());
  return run_session(target->api,
                     {api_path({"tasks", target->task, "attach"}),
                      {},
                      !flags.no_tty && context.in_terminal,
                      !flags.no_input},
                     context);
}

int forward(const SessionFlags& flags, CliContext& context) {
  std::vector<ForwardedPort> ports;
  for (const std::string& text : flags.ports) {
    const auto port = parse_forwarded_port(text);
    if (!port) return report(context, port.error());
    ports.push_back(*port);
  }
  auto target = running_task(flags, context);
  if (!target) return report(context, target.error());
  return forward_ports(target->api, target->task, ports, context);
}

CLI::App& add_session_verb(CLI::App& parent, const char* name, const char* what,
                           SessionFlags& flags, std::span<const Example> list = {}) {
  CLI::App& command = add_verb(parent, name, what, list);
  command.add_option("WORKLOAD", flags.name, "Its name")->required()->type_name("");
  command
      .add_option("--task,--pod", flags.choice.task,
                  "In this task: worker-1, or a role (default the first that runs)")
      ->type_name("TASK");
  add_project_flag(command, flags.project);
  add_connection_flags(command, flags.connection);
  return command;
}

}  // namespace

void add_session_verbs(CLI::App& parent, CliContext& context) {
  constexpr Example kExamples[] = {
      {"look at its GPUs", "fairlead exec train -- nvidia-smi"},
      {"a shell", "fairlead exec -it train -- bash"},
  };
  auto of_exec = std::make_shared<SessionFlags>();
  CLI::App& exec_app =
      add_session_verb(parent, "exec", "A command beside a running task", *of_exec, kExamples);
  exec_app.add_flag("-i,--stdin", of_exec->input, "What you type goes to it");
  exec_app.add_flag("-t,--tty", of_exec->tty, "Give it a terminal");
  exec_app.prefix_command();
  on_run(exec_app, context, [of_exec, &exec_app, &context] {
    std::vector<std::string> command = exec_app.remaining();
    command.insert(command.end(), context.after_dashes.begin(), context.after_dashes.end());
    return exec(*of_exec, command, context);
  });

  auto of_bash = std::make_shared<SessionFlags>();
  CLI::App& bash = add_session_verb(parent, "bash", "A shell beside a running task", *of_bash);
  on_run(bash, context, [of_bash, &context] {
    of_bash->tty = context.in_terminal;
    of_bash->input = true;
    return exec(*of_bash, {"bash"}, context);
  });

  auto of_attach = std::make_shared<SessionFlags>();
  CLI::App& attach_app = add_session_verb(
      parent, "attach", "A running task's own input and output; Ctrl-P Ctrl-Q leaves", *of_attach);
  attach_app.add_flag("--no-stdin", of_attach->no_input, "Only look");
  attach_app.add_flag("--no-tty", of_attach->no_tty, "Leave this terminal as it is");
  on_run(attach_app, context, [of_attach, &context] { return attach(*of_attach, context); });

  constexpr Example kForward[] = {
      {"a notebook of the task on port 8888", "fairlead port-forward nb --port 8888"},
  };
  auto of_forward = std::make_shared<SessionFlags>();
  CLI::App& forward_app =
      add_session_verb(parent, "port-forward", "Ports of a running task as ports of this machine",
                       *of_forward, kForward);
  forward_app
      .add_option("--port", of_forward->ports, "LOCAL:PORT, PORT, or :PORT; may be repeated")
      ->type_name("PORTS")
      ->required()
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  on_run(forward_app, context, [of_forward, &context] { return forward(*of_forward, context); });
}

}  // namespace fairlead::cli
