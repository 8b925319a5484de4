// fairlead up, fairlead down.
#include <ctime>
#include <fcntl.h>
#include <iostream>
#include <mutex>
#include <ostream>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "base/printable.h"
#include "base/time.h"
#include "cli/client/connection.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/server/server.h"
#include "control/clock.h"
#include "store/state_dir.h"

namespace fairlead::cli {
namespace {

struct UpOptions {
  ServerSettings settings;
  bool detach = false;
};

std::string banner(const ServerReady& ready) {
  std::string out = "Fairlead serves " + ready.node + ": " + ready.gpus + "\n";
  for (const std::string& note : ready.notes) out += "Note    " + note + "\n";
  out += "Socket  " + ready.socket + "\n";
  if (!ready.address.empty()) {
    out += "Page    " + ready.address + "\n";
    out += "Sign in " + ready.link + "   (as the administrator, once, within 15 minutes)\n";
  }
  out += "Next    fairlead run --gpu 1 -- nvidia-smi │ fairlead list │ fairlead queue\n";
  return out;
}

std::string log_line(const std::string& text) {
  return to_rfc3339(control::SystemClock().now()) + " " + printable(text) + "\n";
}

// Runs in the foreground: the banner and the log go to err.
int serve(const ServerSettings& settings, CliContext& context,
          const std::function<void(const ServerReady&)>& ready) {
  std::mutex mutex;
  const auto warn = [&](const std::string& text) {
    const std::scoped_lock lock(mutex);
    context.err << log_line(text) << std::flush;
  };
  const auto ran = run_server(settings, ready, warn);
  return ran ? 0 : report(context, ran.error());
}

// A child of its own session serves; this process waits until it does, and says so.
int serve_detached(const ServerSettings& settings, CliContext& context) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return report(context, Error{ErrorCode::kIo, "no pipe can be made", {}, {}, {}});
  }
  const pid_t child = fork();
  if (child < 0)
    return report(context, Error{ErrorCode::kIo, "no process can be made", {}, {}, {}});
  if (child == 0) {
    close(ends[0]);
    setsid();
    const std::string path = settings.state + "/server.log";
    bool told = false;
    const auto ready = [&](const ServerReady& said) {
      const std::string text = "+" + banner(said);
      told = write(ends[1], text.data(), text.size()) > 0;
      close(ends[1]);
      const int log = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
      const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
      dup2(null, STDIN_FILENO);
      dup2(null, STDOUT_FILENO);
      dup2(log >= 0 ? log : null, STDERR_FILENO);
    };
    std::ostringstream errors;
    CliContext quiet{context.out, std::cerr, false, false, 0};
    const auto ran = run_server(settings, ready, [&](const std::string& text) {
      if (told) std::cerr << log_line(text) << std::flush;
    });
    if (!ran && !told) {
      const std::string text = "-" + ran.error().text() + "\n";
      static_cast<void>(!write(ends[1], text.data(), text.size()));
    } else if (!ran) {
      static_cast<void>(report(quiet, ran.error()));
    }
    _exit(ran ? 0 : exit_code(ran.error().code));
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(n));
  }
  close(ends[0]);
  if (text.starts_with("+")) {
    context.err << text.substr(1) << "Log     " << settings.state << "/server.log\n"
                << "Stop    fairlead down\n";
    return 0;
  }
  int status = 0;
  waitpid(child, &status, 0);
  context.err << "error: " << (text.empty() ? "the server ended at once\n" : text.substr(1));
  return WIFEXITED(status) && WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : 1;
}

void add_up_command(CLI::App& app, CliContext& context) {
  auto options = std::make_shared<UpOptions>();
  CLI::App* up = app.add_subcommand("up", "serve this machine's GPUs to its users");
  up->add_option("--state", options->settings.state, "directory for all that must survive")
      ->type_name("DIR")
      ->default_str(store::default_state_dir());
  options->settings.listen = "127.0.0.1:7380";
  up->add_option("--listen", options->settings.listen,
                 "address and port for the page and remote clients; port 0 is any free one; \"\" "
                 "for none")
      ->type_name("ADDRESS:PORT")
      ->capture_default_str();
  up->add_option("--tls-cert", options->settings.certificate, "certificate chain (PEM)")
      ->type_name("FILE");
  up->add_option("--tls-key", options->settings.key, "its private key (PEM)")->type_name("FILE");
  up->add_option("--simulate", options->settings.simulate,
                 "serve GPUs that are not there, to try things out")
      ->type_name("GPUS");
  up->add_flag("--allow-root-tasks", options->settings.allow_root_tasks,
               "let root's submissions run as root");
  up->add_flag(
      "--end-unknown-tasks", options->settings.end_unknown_tasks,
      "end tasks that run here and are not in the store, which was lost or is an old copy");
  up->add_flag("--detach", options->detach, "go on in the background");
  static constexpr Example kExamples[] = {
      {"eight simulated GPUs, in the foreground", "fairlead up --simulate 8xH100-80GB"},
      {"the GPUs of this machine, in the background", "fairlead up --detach"},
      {"reachable from other machines",
       "fairlead up --listen 0.0.0.0:7380 --tls-cert cert.pem --tls-key key.pem"}};
  up->footer(examples(kExamples));
  up->callback([options, &context] {
    ServerSettings& settings = options->settings;
    if (settings.state.empty()) settings.state = store::default_state_dir();
    // One server of the machine is for everyone; others that root may start are not.
    if (geteuid() == 0 && settings.state == store::kSystemStateDir) settings.socket = kPublicSocket;
    if (options->detach) {
      context.exit_status = serve_detached(settings, context);
      return;
    }
    context.exit_status = serve(settings, context, [&](const ServerReady& ready) {
      context.err << banner(ready) << "Stop    Ctrl-C; what runs goes on\n" << std::flush;
    });
  });
}

void add_down_command(CLI::App& app, CliContext& context) {
  auto state = std::make_shared<std::string>();
  CLI::App* down = app.add_subcommand("down", "stop the server of this machine; tasks go on");
  down->add_option("--state", *state, "its state directory")
      ->type_name("DIR")
      ->default_str(store::default_state_dir());
  static constexpr Example kExamples[] = {{"stop the server", "fairlead down"}};
  down->footer(examples(kExamples));
  down->callback([state, &context] {
    if (state->empty()) *state = store::default_state_dir();
    const auto stopped = stop_server(*state);
    if (!stopped) {
      context.exit_status = report(context, stopped.error());
    } else if (!*stopped) {
      context.exit_status = report(context, Error{ErrorCode::kNotFound,
                                                  "no server runs on " + *state,
                                                  {},
                                                  {},
                                                  "name its directory with --state DIR"});
    } else {
      context.err << "Stopped. What runs goes on; `fairlead up` takes it up again.\n";
    }
  });
}

}  // namespace

void add_server_commands(CLI::App& app, CliContext& context) {
  add_up_command(app, context);
  add_down_command(app, context);
}

}  // namespace fairlead::cli
