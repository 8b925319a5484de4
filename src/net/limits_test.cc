// What a peer sends or leaves out costs bounded memory and time, and is answered.
#include <thread>

#include <gtest/gtest.h>

#include "net/server_testing.h"

namespace fairlead::net {
namespace {

using testing::echo;
using testing::get;
using testing::post;
using testing::RawClient;
using testing::Signal;
using testing::TestServer;

// Sends bytes; the answer must be a problem of that status, and the connection must end.
void expect_problem(const TestServer& s, const std::string& bytes, int status) {
  RawClient client = s.tcp();
  client.send(bytes);
  const std::string response = client.read_all();
  EXPECT_TRUE(response.starts_with("HTTP/1.1 " + std::to_string(status) + " "))
      << bytes.substr(0, 80) << "\n"
      << response;
  EXPECT_TRUE(response.contains("application/problem+json")) << response;
  EXPECT_TRUE(response.contains("Connection: close")) << response;
}

TEST(Limits, MalformedRequestsAreAnsweredAndTheConnectionEnds) {
  const TestServer s(echo);
  const std::string host = "Host: h\r\n";
  expect_problem(s, "nonsense\r\n\r\n", 400);
  expect_problem(s, "G@T / HTTP/1.1\r\n" + host + "\r\n", 400);
  expect_problem(s, "GET  / HTTP/1.1\r\n" + host + "\r\n", 400);
  expect_problem(s, "GET / HTTP/1.1\r\n\r\n", 400);
  expect_problem(s, "GET / HTTP/1.1\r\n" + host + host + "\r\n", 400);
  expect_problem(s, "GET / HTTP/1.1\r\n" + host + "A B: c\r\n\r\n", 400);
  expect_problem(s, "GET /%zz HTTP/1.1\r\n" + host + "\r\n", 400);
  expect_problem(s, "GET * HTTP/1.1\r\n" + host + "\r\n", 400);
  expect_problem(s, "GET / HTTP/2.0\r\n" + host + "\r\n", 505);
  expect_problem(s, "POST / HTTP/1.1\r\n" + host + "Content-Length: x\r\n\r\n", 400);
  expect_problem(s, "POST / HTTP/1.1\r\n" + host + "Content-Length: -1\r\n\r\n", 400);
  expect_problem(s, "POST / HTTP/1.1\r\n" + host + "Expect: a miracle\r\n\r\n", 417);
  expect_problem(s, "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip\r\n\r\n", 501);
}

// Two ways to tell where a body ends: a proxy and we might take different ones.
TEST(Limits, ABodyHasOneLength) {
  const TestServer s(echo);
  const std::string head = "POST / HTTP/1.1\r\nHost: h\r\n";
  expect_problem(s, head + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400);
  expect_problem(s, head + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", 400);
  expect_problem(s, head + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc", 400);
}

TEST(Limits, MalformedChunksAreAnswered) {
  const TestServer s(echo);
  const std::string head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  expect_problem(s, head + "zz\r\nabc\r\n", 400);
  expect_problem(s, head + "ffffffffffffffffff\r\nabc\r\n", 400);
  expect_problem(s, head + "3\r\nabcdef\r\n", 400);
}

TEST(Limits, AHeadThatIsTooLongOrHasTooManyFieldsIs431) {
  const TestServer s(echo, {.header_bytes = 1000, .header_fields = 10});
  expect_problem(s, get("/" + std::string(2000, 'a')), 431);
  expect_problem(s, get("/", "A: " + std::string(2000, 'a') + "\r\n"), 431);
  std::string fields;
  for (int i = 0; i < 20; ++i) fields += "A: b\r\n";
  expect_problem(s, get("/", fields), 431);
}

TEST(Limits, ABodyThatIsTooLongIs413WhicheverWayItComes) {
  const TestServer s(echo, {.body_bytes = 1000});
  RawClient client = s.tcp();
  client.send(post("/", std::string(1000, 'x')));
  EXPECT_TRUE(client.read_response().starts_with("HTTP/1.1 200"));
  expect_problem(s, post("/", std::string(1001, 'x')), 413);
  // Megabytes that nobody reads do not keep the answer from arriving.
  expect_problem(s, post("/", std::string(500'000, 'x')), 413);
  expect_problem(s, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999\r\n\r\n", 413);
  const std::string chunk = "1f4\r\n" + std::string(500, 'x') + "\r\n";
  expect_problem(
      s, "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk + chunk + chunk,
      413);
}

TEST(Limits, ASlowHeadIs408HoweverItTrickles) {
  const TestServer s(echo, {.header_time = milliseconds(100)});
  expect_problem(s, "GET / HTTP/1.1\r\nHost: h\r\n", 408);
  RawClient client = s.tcp();
  const std::string endless = "GET / HTTP/1.1\r\n" + std::string(1U << 20U, 'A');
  for (const char c : endless) {
    if (!client.send({&c, 1})) break;  // the server gave up, and did not wait for a million bytes
  }
  SUCCEED();
}

TEST(Limits, ASlowBodyIs408) {
  const TestServer s(echo, {.body_time = milliseconds(100)});
  expect_problem(s, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc", 408);
}

TEST(Limits, WhoSaysNothingIsHungUpOn) {
  const TestServer s(echo, {.header_time = milliseconds(50), .idle_time = milliseconds(50)});
  RawClient silent = s.tcp();
  EXPECT_EQ(silent.read_all(), "");
  RawClient once = s.tcp();
  once.send(get("/"));
  EXPECT_TRUE(once.read_all().starts_with("HTTP/1.1 200")) << "and then the end";
}

TEST(Limits, WhoTakesNothingIsCut) {
  Signal asked;
  const TestServer s(
      [&](const Request&, const ResponseWriter& writer) {
        writer.respond(200, {}, std::string(std::size_t{64} << 20U, 'x'));
        asked.set();
      },
      {.write_time = milliseconds(100)});
  RawClient client = s.unix_socket();
  client.send(get("/"));
  ASSERT_TRUE(asked.wait());
  while (s.server->counts().open > 0) std::this_thread::yield();
  EXPECT_LT(client.read_all().size(), std::size_t{64} << 20U);
}

TEST(Limits, MoreConnectionsThanAllowedAre503AndOthersGoOn) {
  const TestServer s(echo, {.connections = 2});
  RawClient first = s.tcp();
  RawClient second = s.tcp();
  for (RawClient* client : {&first, &second}) {
    client->send(get("/"));
    client->read_response();
  }
  expect_problem(s, "", 503);
  EXPECT_EQ(s.server->counts().refused, 1U);
  first.send(get("/again"));
  EXPECT_TRUE(first.read_response().ends_with("/again "));
}

// Strangers who hold connections of one listener shut nobody out of another.
TEST(Limits, EachListenerHasABoundOfItsOwn) {
  const TestServer s(echo, {.connections = 1});
  RawClient stranger = s.tcp();
  stranger.send(get("/"));
  stranger.read_response();
  expect_problem(s, "", 503);
  RawClient local = s.unix_socket();
  local.send(get("/"));
  EXPECT_TRUE(local.read_response().starts_with("HTTP/1.1 200"));
}

TEST(Limits, OneAddressHasItsShareAndUnixSocketsAreNotCounted) {
  const TestServer s(echo, {.connections_per_address = 1});
  RawClient first = s.tcp();
  first.send(get("/"));
  first.read_response();
  expect_problem(s, "", 503);
  RawClient local = s.unix_socket();
  RawClient other = s.unix_socket();
  for (RawClient* client : {&local, &other}) {
    client->send(get("/"));
    EXPECT_TRUE(client->read_response().starts_with("HTTP/1.1 200"));
  }
}

// A page of evil.example whose name was made to resolve to 127.0.0.1 sends its own name.
TEST(Limits, AHostThatIsNotAllowedIs421) {
  const TestServer s(echo, {}, [](ServerOptions& o) {
    o.listeners[0].allowed_hosts = {"localhost", "127.0.0.1"};
  });
  RawClient client = s.tcp();
  client.send("GET / HTTP/1.1\r\nHost: LOCALHOST:7380\r\n\r\n");
  EXPECT_TRUE(client.read_response().starts_with("HTTP/1.1 200"));
  expect_problem(s, "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421);
  RawClient local = s.unix_socket();
  local.send("GET / HTTP/1.1\r\nHost: anything\r\n\r\n");
  EXPECT_TRUE(local.read_response().starts_with("HTTP/1.1 200"));
}

}  // namespace
}  // namespace fairlead::net
