// For tests: an engine that runs nothing, and a server that answers from its logs and sessions.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>

#include "api/streams.h"
#include "engine/frames.h"
#include "net/client.h"
#include "net/server_testing.h"
#include "net/websocket_client.h"

namespace fairlead::api::testing {

// The other end of a session: what a supervisor would do. Blocks, half a minute at most.
class SessionEnd {
 public:
  explicit SessionEnd(engine::Descriptor socket) : socket_(std::move(socket)) {}

  // nullopt: the server closed it.
  std::optional<engine::Frame> next();
  bool send(std::string_view bytes);
  bool say(engine::Channel channel, std::string_view bytes);
  void close() { socket_.reset(); }
  void end_output() { ::shutdown(socket_.get(), SHUT_WR); }

 private:
  engine::Descriptor socket_;
  engine::FrameParser parser_;
};

class FakeEngine final : public engine::Engine {
 public:
  // The folder of a new attempt's output, and its writer.
  engine::OutputWriter& begin(const std::string& attempt, std::int64_t per_file = 1 << 20,
                              int files = 1000);

  Result<void> start(engine::TaskLaunch) override { return {}; }
  Result<void> stop(const engine::AttemptId&, const engine::StopOrder&) override { return {}; }
  Result<void> suspend(const engine::AttemptId&) override { return {}; }
  Result<void> resume(const engine::AttemptId&) override { return {}; }
  Result<std::vector<engine::Adopted>> adopt(const std::vector<engine::AttemptId>&) override {
    return std::vector<engine::Adopted>();
  }
  Result<void> remove(const engine::AttemptId&) override { return {}; }
  Result<engine::Descriptor> open_session(const engine::AttemptId& attempt,
                                          const engine::SessionRequest& request) override;
  Result<engine::OutputReader> output(const engine::AttemptId& attempt) override;

  // Gets the other end of each session, on a thread of the server.
  std::function<void(SessionEnd, const engine::SessionRequest&)> on_session;

 private:
  struct Kept {
    engine::Descriptor folder;
    std::optional<engine::OutputWriter> writer;
  };
  net::testing::TemporaryFolder folder_;
  std::mutex mutex_;
  std::map<std::string, Kept> attempts_;
};

// Over a unix socket: /log, /session and /forward answer with what stands here.
class StreamsServer {
 public:
  StreamsServer();

  net::ClientOptions client() const;
  net::ClientResponse get(const std::string& target) const;
  Result<std::unique_ptr<net::WebSocketClient>> websocket(const std::string& target) const;
  std::unique_ptr<net::WebSocketClient> session() const;  // fails the test if there is none

  FakeEngine engine;
  std::function<LogRequest()> log_request;
  std::uint32_t uid = 0;
  std::uint16_t port = 0;
  std::optional<Streams> streams;
  std::optional<net::testing::TestServer> server;
};

}  // namespace fairlead::api::testing
