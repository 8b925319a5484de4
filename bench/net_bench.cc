// What the server costs by itself: requests per second of a handler that does nothing, over a unix
// socket and over TCP, each of `clients` connections asking one request after another or `ahead` of
// them at once; and connections per second.
//
// Client and server share the machine's cores, so this is a lower bound.
#include <cstdlib>
#include <memory>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include <benchmark/benchmark.h>

#include "net/server.h"
#include "net/sockets.h"

namespace fairlead::bench {
namespace {

constexpr std::string_view kRequest = "GET /api/v1/nothing HTTP/1.1\r\nHost: localhost\r\n\r\n";

class Server {
 public:
  Server() {
    net::ServerOptions options;
    options.listeners.resize(2);
    options.listeners[0].name = "tcp";
    options.listeners[1].name = "unix";
    options.listeners[1].at = net::UnixListener{.path = path(), .mode = 0600};
    options.handler = [](const net::Request&, const net::ResponseWriter& writer) {
      writer.respond(204, {}, {});
    };
    auto server = net::HttpServer::start(std::move(options));
    if (!server) std::abort();
    server_ = std::move(*server);
  }

  net::Descriptor connect(bool tcp) const {
    auto socket = tcp ? net::connect_tcp("127.0.0.1", server_->port("tcp"), seconds(5))
                      : net::connect_unix(path());
    if (!socket) std::abort();
    return std::move(*socket);
  }

 private:
  static std::string path() { return "/tmp/fairlead_net_bench." + std::to_string(::getpid()); }

  std::unique_ptr<net::HttpServer> server_;
};

// Reads until `answers` heads have come; 204 has no body.
void read_answers(int fd, int answers) {
  static thread_local std::string text;
  text.clear();
  int found = 0;
  std::size_t from = 0;
  while (found < answers) {
    char bytes[16384];
    pollfd wanted{fd, POLLIN, 0};
    ::poll(&wanted, 1, -1);
    const ssize_t got = ::recv(fd, bytes, sizeof bytes, 0);
    if (got <= 0) std::abort();
    text.append(bytes, static_cast<std::size_t>(got));
    for (std::size_t at = 0; (at = text.find("\r\n\r\n", from)) != std::string::npos; ++found) {
      from = at + 4;
    }
  }
}

void send(int fd, std::string_view bytes) {
  if (::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size())) {
    std::abort();
  }
}

void requests(benchmark::State& state) {
  const Server server;
  const int ahead = static_cast<int>(state.range(2));
  std::string batch;
  for (int i = 0; i < ahead; ++i) batch += kRequest;
  std::vector<net::Descriptor> clients;
  clients.reserve(static_cast<std::size_t>(state.range(1)));
  for (int i = 0; i < state.range(1); ++i) clients.push_back(server.connect(state.range(0) != 0));
  for (auto _ : state) {
    for (const net::Descriptor& client : clients) send(client.get(), batch);
    for (const net::Descriptor& client : clients) read_answers(client.get(), ahead);
  }
  state.SetItemsProcessed(state.iterations() * ahead * state.range(1));
}
BENCHMARK(requests)
    ->ArgNames({"tcp", "clients", "ahead"})
    ->ArgsProduct({{0, 1}, {1, 16}, {1, 16}})
    ->UseRealTime();

void connections(benchmark::State& state) {
  const Server server;
  for (auto _ : state) {
    const net::Descriptor client = server.connect(state.range(0) != 0);
    send(client.get(), kRequest);
    read_answers(client.get(), 1);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(connections)->ArgNames({"tcp"})->Arg(0)->Arg(1)->UseRealTime();

}  // namespace
}  // namespace fairlead::bench
