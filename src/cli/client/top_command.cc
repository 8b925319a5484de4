// fairlead top [nodes|jobs]: who holds what, once or as a view that keeps itself up to date.
#include <atomic>
#include <memory>
#include <optional>
#include <ostream>
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cli/client/client_options.h"
#include "cli/client/interrupt.h"
#include "cli/client/outside.h"
#include "cli/client/terminal.h"
#include "cli/client/top.h"
#include "cli/commands.h"

namespace fairlead::cli {
namespace {

struct TopOptions {
  ConnectionFlags connection;
  std::string project;
  bool all_projects = false;
  std::string what;
};

constexpr int kEveryMs = 2000;

// The other screen of the terminal, and back.
class Screen {
 public:
  explicit Screen(std::ostream& out) : out_(out) { enter(); }
  ~Screen() { leave(); }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  void enter() { out_ << "\x1b[?1049h\x1b[?25l" << std::flush; }
  void leave() { out_ << "\x1b[?25h\x1b[?1049l" << std::flush; }
  void draw(const std::string& text) { out_ << "\x1b[H\x1b[2J" << text << std::flush; }

 private:
  std::ostream& out_;
};

struct State {
  Listing nodes;
  Listing workloads;
  Listing waiting;
};

Query query_of(const TopOptions& options, const Connection& connection) {
  const std::string project = options.project.empty() ? connection.project : options.project;
  return options.all_projects || project.empty() ? Query{} : Query{{"project", project}};
}

Result<Listing> running_workloads(ApiClient& api, const TopOptions& options) {
  Query query = query_of(options, api.connection());
  query.emplace_back("phase", "starting,running,stopping");
  return api.list(api_path({"workloads"}), query);
}

Result<State> read_state(ApiClient& api, const TopOptions& options) {
  State state;
  FAIRLEAD_ASSIGN(state.nodes, api.list(api_path({"nodes"})));
  FAIRLEAD_ASSIGN(state.waiting,
                  api.list(api_path({"queue"}), query_of(options, api.connection())));
  FAIRLEAD_ASSIGN(state.workloads, running_workloads(api, options));
  return state;
}

enum class Key : std::uint8_t { kNone, kQuit, kSuspend, kOther };

// What the person pressed within the time. A terminal that is gone quits.
Key pressed(int timeout_ms) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (::poll(&input, 1, timeout_ms) <= 0) return Key::kNone;
  char key = 'q';
  if (::read(STDIN_FILENO, &key, 1) <= 0 || key == 'q' || key == 'Q' || key == 0x03) {
    return Key::kQuit;
  }
  return key == 0x1a ? Key::kSuspend : Key::kOther;
}

// The first line of the screen while no server answers; the rest stays.
std::string away_line(const Error& error) {
  return "\x1b[H\x1b[7m" + error.message + "; trying again, q quits\x1b[0m\x1b[K";
}

int live(ApiClient& api, const TopOptions& options, CliContext& context) {
  std::optional<Error> error;
  {
    std::atomic<bool> stop = false;
    const Interrupt interrupt([&] {
      stop = true;
      api.cancel();
    });
    const RawTerminal raw(RawTerminal::Signals::kInterrupt);
    Screen screen(context.out);
    bool seen = false;
    while (!stop) {
      const auto state = read_state(api, options);
      if (stop) break;
      if (state) {
        const WindowSize size = window_size();
        screen.draw(top_screen(state->nodes.items, state->workloads.items, state->waiting.items,
                               size.rows, size.columns, wall_clock()));
        seen = true;
      } else if (seen && state.error().code == ErrorCode::kUnavailable) {
        context.out << away_line(state.error()) << std::flush;
      } else {
        error = state.error();
        break;
      }
      const WindowSize drawn = window_size();
      for (int waited = 0; waited < kEveryMs && !stop && window_size() == drawn; waited += 100) {
        const Key key = pressed(100);
        if (key == Key::kQuit) stop = true;
        if (key != Key::kSuspend) continue;
        screen.leave();
        raw.suspend();
        screen.enter();
        break;
      }
    }
  }
  return error ? report(context, *error) : 0;
}

int top(const TopOptions& options, CliContext& context) {
  auto api = connect(options.connection, context);
  if (!api) return report(context, api.error());
  if (options.what.empty() && context.out_terminal && context.in_terminal) {
    return live(*api, options, context);
  }
  if (!options.what.starts_with("job")) {
    const auto nodes = api->list(api_path({"nodes"}));
    if (!nodes) return report(context, nodes.error());
    context.out << top_node_table(nodes->items);
  }
  if (options.what.empty()) context.out << "\n";
  if (!options.what.starts_with("node")) {
    const auto workloads = running_workloads(*api, options);
    if (!workloads) return report(context, workloads.error());
    context.out << top_job_table(workloads->items, wall_clock());
  }
  return 0;
}

}  // namespace

void add_top_command(CLI::App& app, CliContext& context) {
  constexpr Example kExamples[] = {
      {"a view that keeps itself up to date", "fairlead top"},
      {"once", "fairlead top nodes"},
  };
  auto options = std::make_shared<TopOptions>();
  CLI::App& command = add_verb(app, "top", "Who holds what right now", kExamples);
  CLI::Option* what = command.add_option("WHAT", options->what, "Only these, once");
  add_choice(*what, {"nodes", "jobs", "node", "job"});
  what->type_name("nodes|jobs");
  add_project_flag(command, options->project);
  add_all_projects_flag(command, options->all_projects);
  add_connection_flags(command, options->connection);
  on_run(command, context, [options, &context] { return top(*options, context); });
}

}  // namespace fairlead::cli
