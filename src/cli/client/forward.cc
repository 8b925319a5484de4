#include "cli/client/forward.h"

#include <array>
#include <atomic>
#include <list>
#include <ostream>
#include <poll.h>
#include <sys/socket.h>
#include <thread>

#include "base/decimal.h"
#include "cli/client/interrupt.h"
#include "net/sockets.h"
#include "net/websocket_client.h"

namespace fairlead::cli {
namespace {

constexpr int kLookMs = 250;  // for the end

struct Listener {
  net::Descriptor socket;
  ForwardedPort port;
};

Result<Listener> listen_on(ForwardedPort port) {
  auto socket = net::listen_tcp("127.0.0.1", port.local);
  if (!socket) {
    Error error = socket.error();
    error.field = "--port";
    error.cure = "state another, as in 8081:80, or :80 for any free one";
    return fail(std::move(error));
  }
  port.local = net::bound_port(socket->get());
  return Listener{std::move(*socket), port};
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// One connection, carried both ways. Each way ends by itself, told by an empty message; the other
// goes on.
class Carried {
 public:
  Carried(net::Descriptor local, std::unique_ptr<net::WebSocketClient> remote)
      : local_(std::move(local)), remote_(std::move(remote)) {
    down_ = std::thread([this] { carry_down(); });
    up_ = std::thread([this] { carry_up(); });
  }
  ~Carried() {
    cut();
    up_.join();
    down_.join();
  }
  Carried(const Carried&) = delete;
  Carried& operator=(const Carried&) = delete;

  bool over() const { return ended_ == 2; }
  void cut() {
    ::shutdown(local_.get(), SHUT_RDWR);
    remote_->close();
  }

 private:
  void carry_up() {
    std::array<char, 65536> block{};
    while (true) {
      const ssize_t count = ::recv(local_.get(), block.data(), block.size(), 0);
      if (count < 0) break;
      std::string bytes(block.data(), static_cast<std::size_t>(count));
      if (!remote_->send({std::move(bytes), true}) || count == 0) break;
    }
    ++ended_;
  }
  void carry_down() {
    while (true) {
      const auto message = remote_->receive();
      if (!message || !*message) break;
      if ((*message)->bytes.empty()) ::shutdown(local_.get(), SHUT_WR);
      if (!write_all(local_.get(), (*message)->bytes)) break;
    }
    cut();
    ++ended_;
  }

  net::Descriptor local_;
  std::unique_ptr<net::WebSocketClient> remote_;
  std::atomic<int> ended_ = 0;
  std::thread up_;
  std::thread down_;
};

}  // namespace

Result<ForwardedPort> parse_forwarded_port(const std::string& text) {
  const auto number = [](const std::string& part) -> std::int64_t {
    const auto value = parse_decimal(part, 0);
    return value && *value >= 0 && *value <= 65535 ? *value : -1;
  };
  const std::size_t colon = text.find(':');
  const std::int64_t remote = number(colon == std::string::npos ? text : text.substr(colon + 1));
  const std::int64_t local = colon == 0                   ? 0
                             : colon == std::string::npos ? remote
                                                          : number(text.substr(0, colon));
  if (remote < 1 || local < 0) {
    return fail(Error{ErrorCode::kInvalidArgument,
                      "\"" + text + "\" names no ports",
                      {},
                      "--port",
                      "as in 8080:80 (here 8080, in the task 80), 80 or :80"});
  }
  return ForwardedPort{static_cast<std::uint16_t>(local), static_cast<std::uint16_t>(remote)};
}

int forward_ports(const ApiClient& api, const std::string& task,
                  const std::vector<ForwardedPort>& ports, CliContext& context) {
  std::vector<Listener> listeners;
  std::vector<pollfd> polled;
  for (const ForwardedPort port : ports) {
    auto listener = listen_on(port);
    if (!listener) return report(context, listener.error());
    polled.push_back({listener->socket.get(), POLLIN, 0});
    context.out << "127.0.0.1:" << listener->port.local << " is port " << port.remote
                << " of the task\n"
                << std::flush;
    listeners.push_back(std::move(*listener));
  }
  std::atomic<bool> stop = false;
  const Interrupt interrupt([&] { stop = true; });
  std::list<Carried> carried;
  while (!stop) {
    carried.remove_if([](const Carried& one) { return one.over(); });
    if (::poll(polled.data(), polled.size(), kLookMs) <= 0) continue;
    for (std::size_t i = 0; i < polled.size(); ++i) {
      if ((polled[i].revents & POLLIN) == 0) continue;
      net::Descriptor local(::accept4(polled[i].fd, nullptr, nullptr, SOCK_CLOEXEC));
      if (local.get() < 0) continue;
      auto remote = api.websocket(api_path({"tasks", task, "forward"}),
                                  {{"port", std::to_string(listeners[i].port.remote)}});
      if (!remote) {
        (void)report(context, remote.error());
        continue;
      }
      carried.emplace_back(std::move(local), std::move(*remote));
    }
  }
  return kExitInterrupted;
}

}  // namespace fairlead::cli
