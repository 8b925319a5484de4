#include "net/client.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "net/server_testing.h"
#include "net/sse.h"

namespace fairlead::net {
namespace {

using testing::echo;
using testing::Signal;
using testing::TestServer;

ClientOptions to_tcp(const TestServer& s) {
  ClientOptions options;
  options.base_url = "http://127.0.0.1:" + std::to_string(s.port());
  return options;
}

ClientOptions to_unix(const TestServer& s) {
  ClientOptions options;
  options.unix_socket = s.socket_path();
  return options;
}

TEST(Client, AsksOverTcpAndUnixSocketsOnOneConnection) {
  const TestServer s(echo);
  for (const ClientOptions& options : {to_tcp(s), to_unix(s)}) {
    const std::uint64_t before = s.server->counts().accepted;
    HttpClient client(options);
    for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE"}) {
      const auto response =
          client.request({.method = method, .target = "/x", .headers = {}, .body = "b"});
      ASSERT_TRUE(response) << response.error().text();
      EXPECT_EQ(response->status, 200);
      EXPECT_EQ(response->body, std::string(method) + " /x b");
      EXPECT_EQ(response->headers.find("content-type"), "text/plain");
    }
    const auto head = client.request({.method = "HEAD", .target = "/", .headers = {}, .body = {}});
    ASSERT_TRUE(head);
    EXPECT_EQ(head->headers.find("Content-Length"), "7");
    EXPECT_EQ(s.server->counts().accepted, before + 1);
  }
}

TEST(Client, SendsItsTokenAndNeverShowsIt) {
  std::string seen;
  const TestServer s([&](const Request& request, const ResponseWriter& writer) {
    seen = request.headers.find("Authorization").value_or("");
    writer.respond(200, {}, {});
  });
  ClientOptions options = to_tcp(s);
  options.bearer_token = "s3cret";
  HttpClient client(options);
  ASSERT_TRUE(client.request({}));
  EXPECT_EQ(seen, "Bearer s3cret");
  s.server->stop({});
  const auto gone = client.request({});
  ASSERT_FALSE(gone);
  EXPECT_FALSE(gone.error().text().contains("s3cret"));
  options.bearer_token = "s3cret\r\nX: y";
  const auto malformed = HttpClient(options).request({});
  ASSERT_FALSE(malformed);
  EXPECT_FALSE(malformed.error().text().contains("s3cret"));
}

TEST(Client, DoesNotFollowARedirect) {
  const TestServer s([](const Request&, const ResponseWriter& writer) {
    writer.respond(307, {{"Location", "http://elsewhere.example/"}}, {});
  });
  HttpClient client(to_tcp(s));
  const auto response = client.request({});
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 307);
  EXPECT_EQ(response->headers.find("location"), "http://elsewhere.example/");
}

TEST(Client, NobodyThereIsAnErrorThatNamesWhom) {
  ClientOptions options;
  options.unix_socket = "/nowhere/socket";
  const auto response = HttpClient(options).request({});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kIo);
  EXPECT_TRUE(response.error().text().contains("/nowhere/socket")) << response.error().text();
}

TEST(Client, GivesUpWhenTheAnswerTakesTooLong) {
  std::vector<ResponseWriter> kept;
  const TestServer s([&](const Request&, const ResponseWriter& writer) { kept.push_back(writer); });
  ClientOptions options = to_unix(s);
  options.total_time = milliseconds(100);
  EXPECT_EQ(HttpClient(options).request({}).error().code, ErrorCode::kIo);
}

TEST(Client, AnAnswerLongerThanAllowedIsRefused) {
  const TestServer s([](const Request&, const ResponseWriter& writer) {
    writer.respond(200, {}, std::string(2000, 'x'));
  });
  ClientOptions options = to_unix(s);
  options.most_body_bytes = 1000;
  EXPECT_EQ(HttpClient(options).request({}).error().code, ErrorCode::kFailed);
}

TEST(Client, AnAnswerThatIsCutOffIsAnError) {
  const TestServer s([](const Request&, const ResponseWriter& writer) {
    writer.stream(200, {}, {}).try_write("half");
  });
  EXPECT_FALSE(HttpClient(to_unix(s)).request({}));
}

TEST(Client, HandsOverLinesAsTheyCome) {
  const TestServer s([](const Request&, const ResponseWriter& writer) {
    const BodyStream stream = writer.stream(200, {}, {});
    for (const char* part : {"on", "e\ntwo\r\n", "\nla", "st"}) stream.try_write(part);
    stream.finish();
  });
  std::vector<std::string> lines;
  HttpClient client(to_unix(s));
  const auto response = client.stream({}, [&](std::string_view line) {
    lines.emplace_back(line);
    return true;
  });
  ASSERT_TRUE(response) << response.error().text();
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two", "", "last"}));
}

TEST(Client, AStreamThatIsRefusedHasItsProblemInTheBody) {
  const TestServer s([](const Request&, const ResponseWriter& writer) {
    writer.respond(problem(404, "no such log"));
  });
  HttpClient client(to_unix(s));
  const auto response = client.stream({}, [](std::string_view) { return true; });
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 404);
  EXPECT_TRUE(response->body.contains("no such log"));
}

TEST(Client, AStreamEndsWhenItsReaderHasEnough) {
  std::optional<EventStream> events;
  Signal closed;
  const TestServer s([&](const Request&, const ResponseWriter& writer) {
    SseOptions options;
    options.on_closed = [&] { closed.set(); };
    events.emplace(writer, options);
    events->event({.id = "1", .type = {}, .data = "x"});
  });
  HttpClient client(to_unix(s));
  EXPECT_TRUE(client.stream({}, [](std::string_view line) { return line != "id: 1"; }));
  EXPECT_TRUE(closed.wait()) << "the connection is not kept half read";
}

TEST(Client, AStreamCanBeCancelledFromAnotherThread) {
  Signal begun;
  std::optional<EventStream> events;
  const TestServer s([&](const Request&, const ResponseWriter& writer) {
    events.emplace(writer, SseOptions{});
    begun.set();
  });
  HttpClient client(to_unix(s));
  std::jthread other([&] {
    begun.wait();
    client.cancel();
  });
  const auto response = client.stream({}, [](std::string_view) { return true; });
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kFailed);
}

}  // namespace
}  // namespace fairlead::net
