#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "net/server_testing.h"
#include "net/sockets.h"
#include "net/websocket_client.h"

namespace fairlead::net {
namespace {

using testing::RawClient;
using testing::Signal;
using testing::TestServer;

// A server that sends each message back; pauses while its own queue is full.
class EchoServer {
 public:
  explicit EchoServer(WebSocketOptions options = {}) : options_(std::move(options)) {
    options_.on_message = [this](Message message) {
      const std::lock_guard lock(mutex_);
      if (socket_.try_send(message) == Push::kQueued) return;
      waiting_ = std::move(message);
      socket_.pause();
    };
    options_.on_drained = [this] {
      const std::lock_guard lock(mutex_);
      if (waiting_) socket_.try_send(*std::exchange(waiting_, std::nullopt));
      socket_.resume();
    };
    options_.on_closed = [this](std::uint16_t with, const std::string&) {
      code = with;
      closed.set();
    };
    server.emplace([this](const Request&, const ResponseWriter& writer) {
      const std::lock_guard lock(mutex_);
      if (auto socket = writer.accept_websocket(options_)) socket_ = std::move(*socket);
    });
  }

  EchoServer(const EchoServer&) = delete;
  EchoServer& operator=(const EchoServer&) = delete;

  // Its handlers use all that stands after it.
  ~EchoServer() { server.reset(); }

  WebSocketClientOptions over_tcp() const {
    WebSocketClientOptions options;
    options.host = "127.0.0.1";
    options.port = server->port();
    return options;
  }
  WebSocketClientOptions over_unix() const {
    WebSocketClientOptions options;
    options.unix_socket = server->socket_path();
    return options;
  }
  void close(std::uint16_t with, const std::string& reason) {
    const std::lock_guard lock(mutex_);
    socket_.close(with, reason);
  }
  void ping() {
    const std::lock_guard lock(mutex_);
    socket_.ping();
  }

  Signal closed;
  std::atomic<std::uint16_t> code = 0;
  std::optional<TestServer> server;

 private:
  WebSocketOptions options_;
  std::mutex mutex_;
  WebSocket socket_;
  std::optional<Message> waiting_;
};

std::unique_ptr<WebSocketClient> connected(const WebSocketClientOptions& options) {
  auto client = WebSocketClient::connect(options);
  EXPECT_TRUE(client) << client.error().text();
  return client ? std::move(*client) : nullptr;
}

TEST(WebSocket, CarriesTextAndBytesBothWays) {
  EchoServer s;
  for (const auto& options : {s.over_tcp(), s.over_unix()}) {
    const auto client = connected(options);
    ASSERT_TRUE(client->send({"text", false}));
    ASSERT_TRUE(client->send({std::string("\0\xff", 2), true}));
    const auto text = client->receive().value();
    EXPECT_EQ(text->bytes, "text");
    EXPECT_FALSE(text->binary);
    s.ping();
    const auto bytes = client->receive().value();
    EXPECT_EQ(bytes->bytes, std::string("\0\xff", 2));
    EXPECT_TRUE(bytes->binary);
  }
}

// As in a URL, with brackets, and without.
TEST(WebSocket, ConnectsToAnAddressOfIpv6) {
  if (!listen_tcp("::1", 0)) GTEST_SKIP() << "this machine has no IPv6";
  std::string host;
  const TestServer server(
      [&](const Request& request, const ResponseWriter& writer) {
        host = std::string(request.headers.find("Host").value_or(""));
        if (auto socket = writer.accept_websocket({})) socket->close(1000, "");
      },
      {},
      [](ServerOptions& options) {
        std::get<TcpListener>(options.listeners[0].at).address = "::1";
      });
  for (const char* name : {"[::1]", "::1"}) {
    WebSocketClientOptions options;
    options.host = name;
    options.port = server.port();
    const auto client = connected(options);
    ASSERT_TRUE(client);
    EXPECT_FALSE(client->receive().value());
    EXPECT_EQ(host, "[::1]:" + std::to_string(server.port()));
  }
}

// More than all queues and sockets on the way hold, so that each side must wait for the other.
TEST(WebSocket, CarriesMoreThanItsQueuesHoldInOrder) {
  WebSocketOptions small;
  small.queue_bytes = 100'000;
  EchoServer s(small);
  WebSocketClientOptions options = s.over_unix();
  options.queue_bytes = 100'000;
  const auto client = connected(options);
  constexpr int kMessages = 100;
  std::jthread sender([&] {
    for (int i = 0; i < kMessages; ++i) {
      ASSERT_TRUE(client->send({std::to_string(i) + std::string(200'000, 'x'), true}));
    }
  });
  for (int i = 0; i < kMessages; ++i) {
    const auto message = client->receive();
    ASSERT_TRUE(message && *message) << i;
    ASSERT_TRUE((*message)->bytes.starts_with(std::to_string(i) + "x")) << i;
  }
}

TEST(WebSocket, AMessageThatIsTooLongEndsItWith1009) {
  WebSocketOptions small;
  small.most_message_bytes = 1000;
  EchoServer s(small);
  const auto client = connected(s.over_unix());
  ASSERT_TRUE(client->send({std::string(1001, 'x'), true}));
  const auto end = client->receive();
  ASSERT_FALSE(end);
  EXPECT_TRUE(end.error().text().contains("1009")) << end.error().text();
}

TEST(WebSocket, TheClientCloses) {
  EchoServer s;
  const auto client = connected(s.over_tcp());
  ASSERT_TRUE(client->send({"before"}));
  EXPECT_EQ(client->receive().value()->bytes, "before");
  client->close();
  EXPECT_FALSE(client->receive().value());
  EXPECT_FALSE(client->send({"after"}));
  ASSERT_TRUE(s.closed.wait());
  EXPECT_EQ(s.code, 1000);
}

TEST(WebSocket, TheServerClosesWithAReason) {
  EchoServer s;
  const auto client = connected(s.over_tcp());
  client->send({"x"});
  client->receive().value();
  s.close(4001, "the task ended");
  const auto end = client->receive();
  ASSERT_FALSE(end);
  EXPECT_TRUE(end.error().text().contains("4001: the task ended")) << end.error().text();
  EXPECT_TRUE(s.closed.wait());
}

TEST(WebSocket, AnAbruptEndIsSeenOnBothSides) {
  EchoServer s;
  auto client = connected(s.over_tcp());
  client->send({"x"});
  client->receive().value();
  client.reset();
  ASSERT_TRUE(s.closed.wait());
  EXPECT_EQ(s.code, 1006);

  EchoServer other;
  const auto left = connected(other.over_tcp());
  left->send({"x"});
  left->receive().value();
  other.server->server->stop({});
  EXPECT_FALSE(left->receive().value_or(std::nullopt));
}

TEST(WebSocket, StopSaysGoodbye) {
  EchoServer s;
  const auto client = connected(s.over_tcp());
  client->send({"x"});
  client->receive().value();
  s.server->server->stop(seconds(30));
  const auto end = client->receive();
  ASSERT_FALSE(end);
  EXPECT_TRUE(end.error().text().contains("1001")) << end.error().text();
}

// Who closes a WebSocket holds it for a moment longer than the peer needs to see it, and the server
// may be gone by then: its queue was destroyed under the last one to hold a part of it. Seldom, so
// many times.
TEST(WebSocket, MayBeHeldByAnotherThreadWhenTheServerGoes) {
  for (int i = 0; i < 200; ++i) {
    Signal opened;
    std::vector<std::jthread> closers;
    TestServer server([&](const Request&, const ResponseWriter& writer) {
      const WebSocket socket = *writer.accept_websocket({});
      for (int k = 0; k < 4; ++k) {
        closers.emplace_back([&opened, socket] {
          opened.wait();
          socket.close(4000, "go");
        });
      }
    });
    WebSocketClientOptions options;
    options.unix_socket = server.socket_path();
    const auto client = connected(options);
    opened.set();
    const auto end = client->receive();
    ASSERT_FALSE(end);
    ASSERT_TRUE(end.error().text().contains("4000: go")) << end.error().text();
  }
}

TEST(WebSocket, APlainRequestIs426AndAPageOfAnotherOrigin403) {
  const EchoServer s;
  RawClient plain = s.server->tcp();
  plain.send(testing::get("/"));
  EXPECT_TRUE(plain.read_response().starts_with("HTTP/1.1 426"));
  WebSocketClientOptions options = s.over_tcp();
  options.headers.add("Origin", "http://evil.example");
  const auto refused = WebSocketClient::connect(options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kFailed);
  EXPECT_TRUE(refused.error().text().contains("403")) << refused.error().text();
}

TEST(WebSocket, NamesTheProtocolThatWasChosen) {
  WebSocketOptions chosen;
  chosen.protocol = "exec.v1";
  const EchoServer s(chosen);
  RawClient client = s.server->tcp();
  client.send(
      testing::get("/",
                   "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                   "Sec-WebSocket-Protocol: exec.v1\r\n"
                   "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"));
  const std::string response = client.read_until("\r\n\r\n");
  EXPECT_TRUE(response.starts_with("HTTP/1.1 101")) << response;
  EXPECT_TRUE(response.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")) << response;
  EXPECT_TRUE(response.contains("Sec-WebSocket-Protocol: exec.v1")) << response;
}

TEST(WebSocket, WhatACallbackThrowsIsReportedAndEndsItWith1011) {
  Signal reported;
  WebSocket socket;
  const TestServer s(
      [&](const Request&, const ResponseWriter& writer) {
        WebSocketOptions options;
        options.on_message = [](const Message&) { throw std::runtime_error("a defect"); };
        socket = writer.accept_websocket(options).value();
      },
      {}, [&](ServerOptions& o) { o.on_defect = [&](const std::string&) { reported.set(); }; });
  WebSocketClientOptions options;
  options.unix_socket = s.socket_path();
  const auto client = connected(options);
  client->send({"x"});
  const auto end = client->receive();
  ASSERT_FALSE(end);
  EXPECT_TRUE(end.error().text().contains("1011")) << end.error().text();
  EXPECT_TRUE(reported.wait());
}

TEST(WebSocket, NobodyThereIsAnError) {
  WebSocketClientOptions options;
  options.unix_socket = "/nowhere/socket";
  EXPECT_EQ(WebSocketClient::connect(options).error().code, ErrorCode::kIo);
}

// A server that accepts the connection and then says nothing.
TEST(WebSocket, AServerThatDoesNotAnswerIsGivenUpOn) {
  const auto deaf = listen_tcp("127.0.0.1", 0);
  ASSERT_TRUE(deaf);
  WebSocketClientOptions options;
  options.host = "127.0.0.1";
  options.port = bound_port(deaf->get());
  options.connect_time = milliseconds(100);
  EXPECT_EQ(WebSocketClient::connect(options).error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace fairlead::net
