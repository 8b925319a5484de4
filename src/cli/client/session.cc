#include "cli/client/session.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <optional>
#include <ostream>
#include <poll.h>
#include <thread>
#include <unistd.h>

#include "base/printable.h"
#include "cli/client/answer.h"
#include "cli/client/interrupt.h"
#include "cli/client/lookup.h"
#include "cli/client/terminal.h"
#include "net/websocket_client.h"

namespace fairlead::cli {
namespace {

enum Channel : char {
  kInput = 0,
  kOutput = 1,
  kErrorOutput = 2,
  kWindow = 3,
  kExit = 4,
  kNote = 5
};

constexpr int kLookMs = 250;  // for a new window size, and for the end
constexpr char kDetachFirst = 0x10;
constexpr char kDetachSecond = 0x11;

class Session {
 public:
  Session(net::WebSocketClient& socket, const SessionOptions& options, CliContext& context)
      : socket_(socket), options_(options), context_(context) {}

  int run() {
    // In a terminal of its own the process gets Ctrl-C as a key.
    std::optional<RawTerminal> raw;
    if (options_.tty && options_.input) raw.emplace(RawTerminal::Signals::kAsKeys);
    int status = 1;
    {
      Interrupt interrupt([this] { socket_.close(); });
      std::thread typing([this] { send_input(); });
      status = receive();
      over_ = true;
      typing.join();
      if (interrupt.came()) status = kExitInterrupted;
    }
    raw.reset();
    if (detached_) {
      context_.err << "detached; it runs on\n";
      return 0;
    }
    if (error_) return report(context_, *error_);
    return status;
  }

 private:
  int receive() {
    int status = 1;
    while (true) {
      auto message = socket_.receive();
      if (!message) {
        if (!detached_) error_ = message.error();
        return 1;
      }
      if (!*message) return status;
      const std::string& bytes = (*message)->bytes;
      if (bytes.empty()) continue;
      const std::string_view rest = std::string_view(bytes).substr(1);
      switch (bytes.front()) {
        case kOutput:
          context_.out << rest << std::flush;
          break;
        case kErrorOutput:
          context_.err << rest << std::flush;
          break;
        case kExit:
          std::from_chars(rest.data(), rest.data() + rest.size(), status);
          break;
        case kNote:
          // The terminal may be raw.
          context_.err << "[fairlead: " << printable(std::string(rest))
                       << (options_.tty ? "]\r\n" : "]\n") << std::flush;
          break;
        default:
          break;  // a channel of a later version
      }
    }
  }

  bool send(char channel, std::string_view bytes) {
    std::string message(1, channel);
    message += bytes;
    return socket_.send({std::move(message), true}).has_value();
  }

  void send_window() {
    const WindowSize size = window_size();
    if (size == window_) return;
    window_ = size;
    (void)send(kWindow, std::to_string(size.columns) + "x" + std::to_string(size.rows));
  }

  // A person leaves by two keys in a row.
  bool detaches(std::string_view typed) {
    for (const char key : typed) {
      if (last_key_ == kDetachFirst && key == kDetachSecond) return true;
      last_key_ = key;
    }
    return false;
  }

  void send_input() {
    bool open = options_.input;
    if (!open) (void)send(kInput, {});
    std::array<char, 4096> block{};
    while (!over_) {
      if (options_.tty) send_window();
      pollfd input{open ? STDIN_FILENO : -1, POLLIN, 0};
      if (::poll(&input, 1, kLookMs) <= 0 || !open) continue;
      const ssize_t count = ::read(STDIN_FILENO, block.data(), block.size());
      if (count < 0 && errno == EINTR) continue;
      // A terminal that is gone is the end of its input.
      if (count < 0) {
        (void)send(kInput, {});
        open = false;
        continue;
      }
      const std::string_view typed(block.data(), static_cast<std::size_t>(count));
      if (options_.tty && detaches(typed)) {
        detached_ = true;
        socket_.close();
        return;
      }
      if (!send(kInput, typed)) return;
      open = count > 0;
    }
  }

  net::WebSocketClient& socket_;
  const SessionOptions& options_;
  CliContext& context_;
  WindowSize window_{0, 0};
  std::atomic<bool> over_ = false;
  std::atomic<bool> detached_ = false;
  char last_key_ = 0;
  std::optional<Error> error_;
};

// Its id; "" if the person interrupts.
Result<std::string> wait_for_running_task(ApiClient& api, const std::string& workload) {
  std::atomic<bool> stop = false;
  const Interrupt interrupt([&] {
    stop = true;
    api.cancel();
  });
  while (!stop) {
    const auto tasks = api.list(api_path({"workloads", workload, "tasks"}));
    const auto found = read_workload(api, workload);
    if (stop) break;
    if (!tasks) return fail(tasks.error());
    if (!found) return fail(found.error());
    for (const Value* task : tasks->items) {
      if (text_at(*task, "phase") == "running") return text_at(*task, "id");
    }
    const std::string phase = text_at(*found->value, "status.phase");
    if (phase != "pending" && phase != "starting" && phase != "running") {
      return fail(ErrorCode::kConflict, found->name() + " is " + phase + ", not running",
                  phase == "frozen" ? "let it go on: fairlead resume " + found->name()
                                    : "see: fairlead logs " + found->name());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(kLookMs));
  }
  return std::string();
}

}  // namespace

int run_session(const ApiClient& api, const SessionOptions& options, CliContext& context) {
  const auto socket = api.websocket(options.path, options.query);
  if (!socket) return report(context, socket.error());
  return Session(**socket, options, context).run();
}

int attach_when_running(ApiClient& api, const std::string& workload, CliContext& context) {
  const auto task = wait_for_running_task(api, workload);
  if (!task) return report(context, task.error());
  if (task->empty()) return kExitInterrupted;
  context.err << "attached; Ctrl-P Ctrl-Q leaves it running\n";
  return run_session(api, {api_path({"tasks", *task, "attach"}), {}, true, true}, context);
}

}  // namespace fairlead::cli
