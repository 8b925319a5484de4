// fairlead login, logout, whoami, config, version: who calls, and where.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>

#include "base/nearest.h"
#include "cli/client/answer.h"
#include "cli/client/client_options.h"
#include "cli/client/config_settings.h"
#include "cli/client/details.h"
#include "cli/client/interrupt.h"
#include "cli/client/terminal.h"
#include "cli/commands.h"

namespace fairlead::cli {
namespace {

struct LoginOptions {
  ConnectionFlags connection;
  OutputFormat format = OutputFormat::kTable;
};

std::string caller_text(const Value& caller) {
  const std::string projects = joined_at(caller, "projects");
  return key_lines({{"User", text_at(caller, "user")},
                    {"Role", text_at(caller, "role")},
                    {"By", text_at(caller, "via")},
                    {"Projects", projects}});
}

int login(const LoginOptions& options, CliContext& context) {
  auto found = find_connection(options.connection);
  if (!found) return report(context, found.error());
  if (options.connection.token_file.empty()) {
    if (!context.in_terminal) {
      return report(context, Error{ErrorCode::kInvalidArgument,
                                   "nobody can be asked for a token",
                                   {},
                                   {},
                                   "state --token-file FILE"});
    }
    const auto typed = ask_secret("Token: ");
    if (!typed) return kExitInterrupted;
    found->token = *typed;
    if (found->token.empty()) {
      return report(context, Error{ErrorCode::kInvalidArgument,
                                   "there is no token",
                                   {},
                                   {},
                                   "an administrator makes one: fairlead token create"});
    }
  }
  ApiClient api(*found);
  const auto reply = api.get(api_path({"whoami"}));
  if (!reply) return report(context, reply.error());
  const std::string server = found->socket.empty() ? found->url : "unix:" + found->socket;
  const auto kept = keep_login(options.connection.context, server, found->token);
  if (!kept) return report(context, kept.error());
  context.out << "Signed in to " << found->place() << " as " << text_at(reply->root(), "user")
              << " (" << text_at(reply->root(), "role") << ")\n";
  return 0;
}

int logout(CliContext& context) {
  const auto forgotten = forget_token();
  if (!forgotten) return report(context, forgotten.error());
  context.out << (*forgotten ? "Signed out\n" : "There was no token\n");
  return 0;
}

int whoami(const LoginOptions& options, CliContext& context) {
  auto api = connect(options.connection, context);
  if (!api) return report(context, api.error());
  const auto reply = api->get(api_path({"whoami"}));
  if (!reply) return report(context, reply.error());
  return print_item(context, options.format, *reply, caller_text(reply->root()));
}

int version(const LoginOptions& options, CliContext& context) {
  context.out << "client  " << version_text() << "\n";
  auto api = connect(options.connection, context);
  const auto reply = api ? api->get(api_path({"version"})) : fail(api.error());
  if (!reply) {
    context.err << "server  " << reply.error().message << "\n";
    return 0;
  }
  const Value& server = reply->root();
  context.out << "server  fairlead " << text_at(server, "version") << ", API "
              << text_at(server, "apiVersion") << ", engine " << text_at(server, "engine")
              << (true_at(server, "simulated") ? ", simulated GPUs" : "") << "\n";
  return 0;
}

void add_formats(CLI::App& command, OutputFormat& format) {
  add_format_option(command, format,
                    {OutputFormat::kTable, OutputFormat::kJson, OutputFormat::kYaml});
}

int settled(const Result<std::string>& done, CliContext& context) {
  if (!done) return report(context, done.error());
  context.out << *done;
  return 0;
}

void add_config(CLI::App& app, CliContext& context) {
  CLI::App& config = add_noun(app, "config", "What is kept for you: servers and the project");
  const auto add_named = [&](const char* verb, const char* what, const char* word,
                             Result<std::string> (*work)(const std::string&)) {
    auto name = std::make_shared<std::string>();
    CLI::App& command = add_verb(config, verb, what);
    command.add_option(word, *name, "Its name")->required()->type_name("");
    on_run(command, context, [name, work, &context] { return settled(work(*name), context); });
  };
  add_named("project", "The project that is meant from now on", "PROJECT", &use_project);
  CLI::App& view = add_verb(config, "view", "Show it, without tokens");
  on_run(view, context, [&context] { return settled(view_config(), context); });
  add_named("use-context", "The server that is meant from now on", "CONTEXT", &use_context);
  add_named("delete-context", "Forget a server and its token", "CONTEXT", &delete_context);
}

}  // namespace

void add_login_commands(CLI::App& app, CliContext& context) {
  constexpr Example kExamples[] = {
      {"asks for the token", "fairlead login --server https://gpu.example.org"},
      {"in a script", "fairlead login --server 10.0.0.5:7380 --token-file token.txt"},
  };
  auto of_login = std::make_shared<LoginOptions>();
  CLI::App& login_app = add_verb(app, "login", "Keep a server and a token for later", kExamples);
  add_connection_flags(login_app, of_login->connection);
  on_run(login_app, context, [of_login, &context] { return login(*of_login, context); });
  CLI::App& logout_app = add_verb(app, "logout", "Forget the token");
  on_run(logout_app, context, [&context] { return logout(context); });

  auto of_whoami = std::make_shared<LoginOptions>();
  CLI::App& whoami_app = add_verb(app, "whoami", "Who you are to the server");
  add_formats(whoami_app, of_whoami->format);
  add_connection_flags(whoami_app, of_whoami->connection);
  on_run(whoami_app, context, [of_whoami, &context] { return whoami(*of_whoami, context); });

  add_config(app, context);
  auto of_version = std::make_shared<LoginOptions>();
  CLI::App& version_app = add_verb(app, "version", "The versions of client and server");
  add_connection_flags(version_app, of_version->connection);
  on_run(version_app, context, [of_version, &context] { return version(*of_version, context); });
}

// "project set NAME", as others call it.
void add_project_set_verb(CLI::App& noun, CliContext& context) {
  auto name = std::make_shared<std::string>();
  CLI::App& command = add_verb(noun, "set", "The project that is meant from now on");
  command.add_option("PROJECT", *name, "Its name")->required()->type_name("");
  on_run(command, context, [name, &context] { return settled(use_project(*name), context); });
}

}  // namespace fairlead::cli
