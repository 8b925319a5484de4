#include "api/streams_testing.h"

#include <array>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "api/problem.h"

namespace fairlead::api::testing {
namespace {

constexpr int kPatience = 30'000;

}  // namespace

std::optional<engine::Frame> SessionEnd::next() {
  while (true) {
    auto frame = parser_.next();
    if (!frame) return std::nullopt;
    if (*frame) return std::move(*frame);
    pollfd wanted{socket_.get(), POLLIN, 0};
    if (::poll(&wanted, 1, kPatience) != 1) return std::nullopt;
    std::array<char, 65536> bytes{};
    const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (got <= 0) return std::nullopt;
    parser_.feed({bytes.data(), static_cast<std::size_t>(got)});
  }
}

bool SessionEnd::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool SessionEnd::say(engine::Channel channel, std::string_view bytes) {
  std::string frame;
  engine::append_frame(frame, channel, bytes);
  return send(frame);
}

engine::OutputWriter& FakeEngine::begin(const std::string& attempt, std::int64_t per_file,
                                        int files) {
  const std::string path = folder_.path(attempt);
  EXPECT_EQ(::mkdir(path.c_str(), 0700), 0);
  const std::lock_guard lock(mutex_);
  Kept& kept = attempts_[attempt];
  kept.folder.reset(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return kept.writer.emplace(kept.folder.get(), per_file, files);
}

Result<engine::Descriptor> FakeEngine::open_session(const engine::AttemptId& attempt,
                                                    const engine::SessionRequest& request) {
  if (!on_session) return fail(ErrorCode::kConflict, attempt + " is not running");
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return fail(ErrorCode::kFailed, "no socket is left");
  }
  on_session(SessionEnd(engine::Descriptor(ends[1])), request);
  return engine::Descriptor(ends[0]);
}

Result<engine::OutputReader> FakeEngine::output(const engine::AttemptId& attempt) {
  const std::lock_guard lock(mutex_);
  if (!attempts_.contains(attempt)) {
    return fail(ErrorCode::kNotFound, "there is no attempt " + attempt);
  }
  return engine::OutputReader(folder_.path(attempt));
}

StreamsServer::StreamsServer() {
  streams.emplace(engine);
  server.emplace([this](const net::Request& request, const net::ResponseWriter& writer) {
    const auto& path = request.target.path;
    const auto refuse = [writer](const Error& error) { writer.respond(problem(error, "r")); };
    if (path == "/log") {
      if (const auto begun = streams->log(log_request(), writer); !begun) refuse(begun.error());
    } else if (path == "/forward") {
      streams->forward(uid, port, writer, refuse);
    } else {
      streams->session("a-1", {}, writer, refuse);
    }
  });
}

net::ClientOptions StreamsServer::client() const {
  net::ClientOptions options;
  options.unix_socket = server->socket_path();
  return options;
}

net::ClientResponse StreamsServer::get(const std::string& target) const {
  net::ClientRequest request;
  request.target = target;
  auto response = net::HttpClient(client()).request(request);
  EXPECT_TRUE(response) << response.error().text();
  return response ? std::move(*response) : net::ClientResponse{};
}

Result<std::unique_ptr<net::WebSocketClient>> StreamsServer::websocket(
    const std::string& target) const {
  net::WebSocketClientOptions options;
  options.unix_socket = server->socket_path();
  options.target = target;
  return net::WebSocketClient::connect(options);
}

std::unique_ptr<net::WebSocketClient> StreamsServer::session() const {
  auto socket = websocket("/session");
  EXPECT_TRUE(socket) << socket.error().text();
  return socket ? std::move(*socket) : nullptr;
}

}  // namespace fairlead::api::testing
