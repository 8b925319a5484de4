#include "net/server.h"

#include <algorithm>
#include <mutex>
#include <thread>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/strand.hpp>

#include "base/check.h"
#include "net/sockets.h"
#include "net/wire/acceptor.h"
#include "net/wire/connection.h"
#include "net/wire/core.h"
#include "net/wire/tls.h"

namespace fairlead::net {
namespace {

using TlsContext = std::shared_ptr<boost::asio::ssl::context>;

// One place where the server listens.
class Entrance {
 public:
  static Result<std::unique_ptr<Entrance>> open(const ListenerOptions& options) {
    auto entrance = std::unique_ptr<Entrance>(new Entrance(options));
    FAIRLEAD_TRY(entrance->reload());
    if (const auto* tcp = std::get_if<TcpListener>(&options.at)) {
      FAIRLEAD_ASSIGN(entrance->tcp_, listen_tcp(tcp->address, tcp->port));
    } else {
      if (options.tls) {
        return fail(ErrorCode::kInvalidArgument,
                    "the listener \"" + options.name + "\" is a unix socket and cannot have TLS",
                    "leave its certificate out");
      }
      const auto& at = std::get<UnixListener>(options.at);
      FAIRLEAD_ASSIGN(auto socket, UnixSocket::listen(at.path, at.mode));
      entrance->unix_.emplace(std::move(socket));
    }
    return entrance;
  }

  Result<void> reload() {
    if (!options.tls) return {};
    FAIRLEAD_ASSIGN(TlsContext fresh, wire::server_context(*options.tls));
    const std::lock_guard lock(mutex_);
    tls_ = std::move(fresh);
    return {};
  }

  TlsContext tls() const {
    const std::lock_guard lock(mutex_);
    return tls_;
  }

  int fd() const { return unix_ ? unix_->get() : tcp_.get(); }

  // Nobody finds the server here any more.
  void close() {
    unix_.reset();
    tcp_ = Descriptor();
  }

  const ListenerOptions& options;

 private:
  explicit Entrance(const ListenerOptions& o) : options(o) {}

  mutable std::mutex mutex_;
  TlsContext tls_;
  Descriptor tcp_;
  std::optional<UnixSocket> unix_;
};

// What a callback throws is a defect of its owner, and no reason for the others to lose their
// server.
void run(wire::Core& core) {
  while (true) {
    try {
      core.context.run();
      return;
    } catch (const std::exception& thrown) {
      if (core.options.on_defect) core.options.on_defect(thrown.what());
    }
  }
}

Result<void> check(const ServerOptions& options) {
  FAIRLEAD_CHECK(options.handler && options.threads > 0, "a server needs a handler and a thread");
  for (auto it = options.listeners.begin(); it != options.listeners.end(); ++it) {
    if (std::any_of(options.listeners.begin(), it,
                    [&](const ListenerOptions& other) { return other.name == it->name; })) {
      return fail(ErrorCode::kInvalidArgument, "two listeners are named \"" + it->name + "\"",
                  "give each its own name");
    }
  }
  return {};
}

}  // namespace

struct HttpServer::Parts {
  std::shared_ptr<wire::Core> core;
  std::vector<std::unique_ptr<Entrance>> entrances;
  std::vector<std::shared_ptr<wire::Acceptor>> acceptors;
  std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> work;
  std::vector<std::jthread> threads;
  std::mutex stopping;

  void welcome(const Entrance& entrance, Descriptor socket) const {
    Peer peer = peer_of(socket.get());
    const TlsContext tls = entrance.tls();
    const auto strand = boost::asio::make_strand(core->context);
    wire::Stream stream = tls ? wire::tls_stream(strand, socket.release(), tls, {})
                              : wire::plain_stream(strand, socket.release());
    const auto connection =
        std::make_shared<wire::Connection>(core, entrance.options, std::move(stream), peer);
    switch (core->admit(connection, peer, entrance.options.name)) {
      case wire::Admission::kServed:
        return connection->serve();
      case wire::Admission::kRefused:
        if (tls) return connection->cut();
        return connection->refuse(problem(503, "the server has as many connections as it may"));
      case wire::Admission::kDropped:
        return;
    }
  }
};

HttpServer::HttpServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

HttpServer::~HttpServer() {
  stop({});
}

Result<std::unique_ptr<HttpServer>> HttpServer::start(ServerOptions options) {
  FAIRLEAD_TRY(check(options));
  auto parts = std::make_unique<Parts>();
  parts->core = std::make_shared<wire::Core>(std::move(options));
  wire::Core& core = *parts->core;
  for (const ListenerOptions& listener : core.options.listeners) {
    FAIRLEAD_ASSIGN(auto entrance, Entrance::open(listener));
    parts->entrances.push_back(std::move(entrance));
  }
  parts->work.emplace(core.context.get_executor());
  for (const auto& entrance : parts->entrances) {
    parts->acceptors.push_back(std::make_shared<wire::Acceptor>(
        core.context, entrance->fd(), [p = parts.get(), e = entrance.get()](Descriptor socket) {
          p->welcome(*e, std::move(socket));
        }));
    parts->acceptors.back()->open();
  }
  for (unsigned i = 0; i < core.options.threads; ++i) {
    parts->threads.emplace_back([kept = parts->core] { run(*kept); });
  }
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(parts)));
}

std::uint16_t HttpServer::port(std::string_view listener) const {
  for (const auto& entrance : parts_->entrances) {
    if (entrance->options.name == listener) return bound_port(entrance->fd());
  }
  return 0;
}

Result<void> HttpServer::reload_tls() {
  for (const auto& entrance : parts_->entrances) FAIRLEAD_TRY(entrance->reload());
  return {};
}

void HttpServer::stop(Duration grace) {
  Parts& parts = *parts_;
  const std::lock_guard lock(parts.stopping);
  if (parts.threads.empty()) return;
  wire::Core& core = *parts.core;
  core.stopping = true;
  for (const auto& acceptor : parts.acceptors) acceptor->stop();
  for (const auto& connection : core.connections()) connection->wind_down();
  core.wait_until_empty(grace);
  for (const auto& connection : core.connections()) connection->cut();
  parts.work.reset();
  parts.threads.clear();
  parts.acceptors.clear();
  for (const auto& entrance : parts.entrances) entrance->close();
}

ServerCounts HttpServer::counts() const {
  const wire::Core& core = *parts_->core;
  return {core.open(), core.accepted, core.refused, core.requests};
}

}  // namespace fairlead::net
