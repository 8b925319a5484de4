#include "net/server.h"

#include <atomic>
#include <thread>
#include <unistd.h>
#include <vector>

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

int status_of(const std::string& response) {
  return response.size() > 12 ? std::stoi(response.substr(9, 3)) : 0;
}

TEST(Server, AnswersOnTcpAndOnAUnixSocket) {
  const TestServer s(echo);
  for (const bool local : {false, true}) {
    RawClient client = local ? s.unix_socket() : s.tcp();
    ASSERT_TRUE(client.send(post("/a", "hello")));
    const std::string response = client.read_response();
    EXPECT_TRUE(response.starts_with("HTTP/1.1 200 OK\r\n")) << response;
    EXPECT_TRUE(response.ends_with("\r\n\r\nPOST /a hello")) << response;
  }
}

TEST(Server, KnowsWhoIsAtTheOtherEnd) {
  Peer tcp;
  Peer local;
  const TestServer s([&](const Request& request, const ResponseWriter& writer) {
    (request.listener == "unix" ? local : tcp) = request.peer;
    writer.respond(200, {}, {});
  });
  for (const bool local_one : {false, true}) {
    RawClient client = local_one ? s.unix_socket() : s.tcp();
    client.send(get("/"));
    client.read_response();
  }
  EXPECT_FALSE(tcp.unix_socket);
  EXPECT_EQ(tcp.address, "127.0.0.1");
  EXPECT_TRUE(local.unix_socket);
  EXPECT_EQ(local.uid, ::getuid());
  EXPECT_EQ(local.gid, ::getgid());
  EXPECT_EQ(local.pid, ::getpid());
}

TEST(Server, RequestsSentAheadAreAnsweredInTheirOrder) {
  const TestServer s(echo);
  RawClient client = s.tcp();
  std::string all;
  for (int i = 0; i < 100; ++i) all += post("/" + std::to_string(i), std::string(100, 'x'));
  ASSERT_TRUE(client.send(all));
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(client.read_response().contains("POST /" + std::to_string(i) + " x")) << i;
  }
}

TEST(Server, ARequestMayComeInPiecesCutAnywhere) {
  const TestServer s(echo);
  const std::string whole =
      "POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
  RawClient client = s.unix_socket();
  for (std::size_t cut = 1; cut < whole.size(); ++cut) {
    ASSERT_TRUE(client.send(whole.substr(0, cut)));
    ASSERT_TRUE(client.send(whole.substr(cut)));
    EXPECT_TRUE(client.read_response().ends_with("POST /x abc")) << cut;
  }
  for (const char c : whole) ASSERT_TRUE(client.send({&c, 1}));
  EXPECT_TRUE(client.read_response().ends_with("POST /x abc"));
}

TEST(Server, AnAnswerMayComeLaterAndFromAnotherThread) {
  std::jthread worker;
  const TestServer s([&](const Request&, const ResponseWriter& writer) {
    worker = std::jthread([writer] { writer.respond(200, {}, "later"); });
  });
  RawClient client = s.tcp();
  client.send(get("/"));
  EXPECT_TRUE(client.read_response().ends_with("later"));
}

TEST(Server, TheFirstAnswerStands) {
  std::atomic<bool> second = true;
  const TestServer s([&](const Request&, const ResponseWriter& writer) {
    writer.respond(200, {}, "first");
    second = writer.respond(500, {}, "second");
  });
  RawClient client = s.tcp();
  client.send(get("/"));
  EXPECT_TRUE(client.read_response().ends_with("first"));
  client.send(get("/"));
  EXPECT_TRUE(client.read_response().ends_with("first"));
  EXPECT_FALSE(second);
}

TEST(Server, ARequestThatTheHandlerForgetsIsAnsweredAnyway) {
  const TestServer s([](const Request&, const ResponseWriter&) {});
  RawClient client = s.tcp();
  client.send(get("/"));
  EXPECT_EQ(status_of(client.read_response()), 500);
}

TEST(Server, WhatAHandlerThrowsIsReportedAndAnswered) {
  std::string what;
  const TestServer s(
      [](const Request&, const ResponseWriter&) { throw std::runtime_error("a defect"); }, {},
      [&](ServerOptions& o) { o.on_defect = [&](const std::string& text) { what = text; }; });
  RawClient client = s.tcp();
  client.send(get("/"));
  const std::string response = client.read_response();
  EXPECT_EQ(status_of(response), 500);
  EXPECT_FALSE(response.contains("a defect")) << "not for strangers";
  EXPECT_EQ(what, "a defect");
}

TEST(Server, AHandlerCannotSmuggleASecondFieldIntoTheAnswer) {
  const TestServer s([](const Request&, const ResponseWriter& writer) {
    writer.respond(200, {{"Location", "/a\r\nSet-Cookie: x"}}, {});
  });
  RawClient client = s.tcp();
  client.send(get("/"));
  const std::string response = client.read_response();
  EXPECT_EQ(status_of(response), 500);
  EXPECT_FALSE(response.contains("Set-Cookie"));
}

TEST(Server, HeadHasTheFieldsOfGetAndNoBody) {
  const TestServer s(echo);
  RawClient client = s.tcp();
  client.send("HEAD /x HTTP/1.1\r\nHost: h\r\n\r\n" + get("/next"));
  const std::string head = client.read_until("\r\n\r\n");
  EXPECT_TRUE(head.contains("Content-Length: 8")) << head;
  EXPECT_TRUE(client.read_response().ends_with("GET /next ")) << "the next answer follows at once";
}

TEST(Server, AnAnswerWithoutABodyHasNoLength) {
  const TestServer s([](const Request&, const ResponseWriter& w) { w.respond(204, {}, "no"); });
  RawClient client = s.tcp();
  client.send(get("/") + get("/"));
  for (int i = 0; i < 2; ++i) {
    const std::string head = client.read_until("\r\n\r\n");
    EXPECT_TRUE(head.starts_with("HTTP/1.1 204")) << head;
    EXPECT_FALSE(head.contains("Content-Length")) << head;
  }
}

TEST(Server, InvitesABodyThatWaitsForIt) {
  const TestServer s(echo);
  RawClient client = s.tcp();
  client.send("PUT /x HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("ok");
  EXPECT_TRUE(client.read_response().ends_with("PUT /x ok"));
}

TEST(Server, TheGateAnswersBeforeABodyIsRead) {
  std::atomic<int> handled = 0;
  const TestServer s(
      [&](const Request& r, const ResponseWriter& w) {
        ++handled;
        echo(r, w);
      },
      {},
      [](ServerOptions& o) {
        o.gate = [](const Request& request) -> std::optional<Response> {
          if (request.headers.find("Authorization")) return std::nullopt;
          return problem(401, "who are you?");
        };
      });
  RawClient client = s.tcp();
  client.send("PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n");
  EXPECT_EQ(status_of(client.read_response()), 401);
  EXPECT_EQ(client.read_all(), "");
  RawClient again = s.tcp();
  again.send(get("/") + get("/", "Authorization: me\r\n"));
  EXPECT_EQ(status_of(again.read_response()), 401);
  EXPECT_EQ(status_of(again.read_response()), 200) << "without a body the connection stays";
  EXPECT_EQ(handled, 1);
}

TEST(Server, AnswersOldClientsAndHangsUp) {
  const TestServer s(echo);
  RawClient client = s.tcp();
  client.send("GET /old HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(client.read_all().ends_with("GET /old "));
}

TEST(Server, AClientThatEndsItsSideStillGetsItsAnswer) {
  const TestServer s(echo);
  RawClient client = s.tcp();
  client.send(get("/half"));
  client.finish_sending();
  EXPECT_TRUE(client.read_all().ends_with("GET /half "));
}

TEST(Server, ServesManyAtOnce) {
  const TestServer s(echo);
  std::vector<RawClient> clients;
  for (int i = 0; i < 200; ++i) clients.push_back(i % 2 == 0 ? s.tcp() : s.unix_socket());
  for (int round = 0; round < 3; ++round) {
    for (RawClient& client : clients) ASSERT_TRUE(client.send(post("/many", "x")));
    for (RawClient& client : clients) EXPECT_TRUE(client.read_response().ends_with("/many x"));
  }
  EXPECT_EQ(s.server->counts().open, 200U);
  EXPECT_EQ(s.server->counts().requests, 600U);
}

TEST(Server, StopLetsARequestUnderWayBeAnswered) {
  Signal arrived;
  std::optional<ResponseWriter> kept;
  const TestServer s([&](const Request&, const ResponseWriter& writer) {
    kept = writer;
    arrived.set();
  });
  RawClient idle = s.tcp();
  RawClient busy = s.tcp();
  busy.send(get("/"));
  ASSERT_TRUE(arrived.wait());
  std::jthread stopping([&] { s.server->stop(seconds(30)); });
  EXPECT_EQ(idle.read_all(), "") << "one without a request is closed at once";
  kept->respond(200, {}, "done");
  const std::string response = busy.read_all();
  EXPECT_TRUE(response.contains("Connection: close")) << response;
  EXPECT_TRUE(response.ends_with("done"));
  busy.close();
  stopping.join();
  EXPECT_FALSE(connect_unix(s.socket_path()));
}

TEST(Server, StopCutsWhatIsNotDoneInTime) {
  Signal arrived;
  std::optional<ResponseWriter> kept;
  TestServer s([&](const Request&, const ResponseWriter& writer) {
    kept = writer;
    arrived.set();
  });
  RawClient client = s.tcp();
  client.send(get("/"));
  ASSERT_TRUE(arrived.wait());
  s.server->stop({});
  EXPECT_EQ(client.read_all(), "");
  s.server.reset();
  EXPECT_TRUE(kept->respond(200, {}, "too late")) << "a writer may outlast its server";
}

TEST(Server, TwoListenersOfOneNameAreRefused) {
  ServerOptions options;
  options.handler = echo;
  options.listeners.resize(2);
  EXPECT_EQ(HttpServer::start(std::move(options)).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace fairlead::net
