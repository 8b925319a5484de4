#include <fstream>

#include <gtest/gtest.h>

#include "net/certificate_testing.h"
#include "net/client.h"
#include "net/server_testing.h"
#include "net/sse.h"
#include "net/websocket_client.h"

namespace fairlead::net {
namespace {

using testing::echo;
using testing::HandlerFunction;
using testing::RawClient;
using testing::TemporaryFolder;
using testing::TestServer;
using testing::write_certificate;

// A server whose listener "tcp" has TLS, with a certificate made for the test.
class TlsServer {
 public:
  explicit TlsServer(HandlerFunction handler, Limits limits = {}) {
    write_certificate(certificate(), key());
    server_.emplace(std::move(handler), limits,
                    [&](ServerOptions& o) { o.listeners[0].tls = TlsFiles{certificate(), key()}; });
  }

  ClientOptions client() const {
    ClientOptions options;
    options.base_url = "https://localhost:" + std::to_string(server_->port());
    options.ca_file = certificate();
    return options;
  }
  std::string certificate() const { return folder_.path("cert.pem"); }
  std::string key() const { return folder_.path("key.pem"); }
  const TestServer& server() const { return *server_; }

 private:
  TemporaryFolder folder_;
  std::optional<TestServer> server_;
};

TEST(Tls, AnswersWhoTrustsItsCertificate) {
  const TlsServer s([](const Request& request, const ResponseWriter& writer) {
    writer.respond(200, {}, request.tls ? "safe" : "open");
  });
  HttpClient client(s.client());
  for (int i = 0; i < 3; ++i) {
    const auto response = client.request({});
    ASSERT_TRUE(response) << response.error().text();
    EXPECT_EQ(response->body, "safe");
  }
  ClientOptions stranger = s.client();
  stranger.ca_file = {};
  EXPECT_FALSE(HttpClient(stranger).request({})) << "a certificate that nobody vouches for";
}

TEST(Tls, CarriesLargeBodiesBothWays) {
  const TlsServer s(echo);
  HttpClient client(s.client());
  const std::string large(3'000'000, 'x');
  const auto response =
      client.request({.method = "PUT", .target = "/", .headers = {}, .body = large});
  ASSERT_TRUE(response) << response.error().text();
  EXPECT_EQ(response->body, "PUT / " + large);
}

TEST(Tls, StreamsEvents) {
  const TlsServer s([](const Request&, const ResponseWriter& writer) {
    const EventStream events(writer, {});
    for (int i = 0; i < 3; ++i) events.event({.id = {}, .type = {}, .data = "x"});
    events.finish();
  });
  int lines = 0;
  HttpClient client(s.client());
  const auto response = client.stream({}, [&](std::string_view) { return ++lines > 0; });
  ASSERT_TRUE(response) << response.error().text();
  EXPECT_EQ(lines, 6);
}

TEST(Tls, WhoSpeaksNoTlsOrNothingIsHungUpOn) {
  const TlsServer s(echo, {.header_time = milliseconds(200)});
  RawClient plain = s.server().tcp();
  plain.send(testing::get("/"));
  EXPECT_FALSE(plain.read_all().contains("HTTP/1.1 200"));
  RawClient silent = s.server().tcp();
  EXPECT_EQ(silent.read_all(), "");
}

TEST(Tls, NewFilesServeNewConnectionsAndBrokenOnesChangeNothing) {
  const TlsServer s(echo);
  HttpClient old_client(s.client());
  ASSERT_TRUE(old_client.request({}));

  std::ofstream(s.certificate()) << "broken";
  const auto broken = s.server().server->reload_tls();
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().where, s.certificate());

  write_certificate(s.certificate(), s.key(), "another");
  ASSERT_TRUE(s.server().server->reload_tls());
  const auto fresh = HttpClient(s.client()).request({});
  EXPECT_TRUE(fresh) << fresh.error().text();
}

TEST(Tls, AKeyThatDoesNotFitIsRefusedAtTheStart) {
  const TemporaryFolder folder;
  write_certificate(folder.path("a.pem"), folder.path("a.key"));
  write_certificate(folder.path("b.pem"), folder.path("b.key"));
  ServerOptions options;
  options.handler = echo;
  options.listeners = {{.name = "tls",
                        .at = TcpListener{},
                        .tls = TlsFiles{folder.path("a.pem"), folder.path("b.key")},
                        .allowed_hosts = {}}};
  EXPECT_FALSE(HttpServer::start(options));
  options.listeners[0].tls = TlsFiles{folder.path("none.pem"), folder.path("b.key")};
  EXPECT_EQ(HttpServer::start(options).error().where, folder.path("none.pem"));
}

TEST(Tls, CarriesWebSockets) {
  std::optional<WebSocket> socket;
  const TlsServer s([&](const Request&, const ResponseWriter& writer) {
    WebSocketOptions options;
    options.on_message = [&](const Message& message) { socket->try_send(message); };
    socket = writer.accept_websocket(options);
  });
  WebSocketClientOptions options;
  options.port = s.server().port();
  options.tls = true;
  options.ca_file = s.certificate();
  const auto client = WebSocketClient::connect(options);
  ASSERT_TRUE(client) << client.error().text();
  ASSERT_TRUE((*client)->send({"hello"}));
  EXPECT_EQ((*client)->receive().value()->bytes, "hello");

  options.ca_file = {};
  EXPECT_FALSE(WebSocketClient::connect(options));
}

}  // namespace
}  // namespace fairlead::net
