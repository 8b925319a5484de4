// Answers of unknown length: bodies that come bit by bit, and server-sent events.
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "net/server_testing.h"
#include "net/sse.h"

namespace fairlead::net {
namespace {

using testing::get;
using testing::RawClient;
using testing::Signal;
using testing::TestServer;

// Hands the stream of each request over to the test.
struct Streams {
  explicit Streams(StreamOptions options = {}) : options_(std::move(options)) {}

  void operator()(const Request&, const ResponseWriter& writer) {
    stream = writer.stream(200, {{"Content-Type", "text/plain"}}, options_);
    begun.set();
  }

  BodyStream stream;
  Signal begun;

 private:
  StreamOptions options_;
};

testing::HandlerFunction by(Streams& streams) {
  return [&](const Request& r, const ResponseWriter& w) { streams(r, w); };
}

TEST(BodyStream, SendsWhatIsWrittenAndKeepsTheConnection) {
  Streams streams;
  const TestServer s(by(streams));
  RawClient client = s.tcp();
  client.send(get("/"));
  ASSERT_TRUE(streams.begun.wait());
  EXPECT_TRUE(client.read_until("\r\n\r\n").contains("Transfer-Encoding: chunked"));
  EXPECT_EQ(streams.stream.try_write("hello"), Push::kQueued);
  EXPECT_EQ(client.read_until("hello\r\n"), "5\r\nhello\r\n");
  EXPECT_TRUE(streams.stream.finish("bye"));
  EXPECT_EQ(client.read_until("0\r\n\r\n"), "3\r\nbye\r\n0\r\n\r\n");
  EXPECT_EQ(streams.stream.try_write("more"), Push::kClosed);
  client.send(get("/again"));
  EXPECT_TRUE(client.read_until("\r\n\r\n").starts_with("HTTP/1.1 200"));
}

TEST(BodyStream, ARequestSentAheadWaitsItsTurn) {
  const TestServer s([](const Request& r, const ResponseWriter& w) {
    w.stream(200, {}, {}).finish("<" + r.target.path + ">");
  });
  RawClient client = s.tcp();
  client.send(get("/1") + get("/2") + get("/3"));
  for (const char* path : {"</1>", "</2>", "</3>"}) {
    EXPECT_TRUE(client.read_until("0\r\n\r\n").contains(path)) << path;
  }
}

TEST(BodyStream, OfAnOldClientEndsWithTheConnection) {
  const TestServer s(
      [](const Request&, const ResponseWriter& w) { w.stream(200, {}, {}).finish("all"); });
  RawClient client = s.tcp();
  client.send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(client.read_all().ends_with("\r\n\r\nall"));
}

TEST(BodyStream, OfHeadIsOverAtOnce) {
  const TestServer s(
      [](const Request&, const ResponseWriter& w) { w.stream(200, {}, {}).finish("all"); });
  RawClient client = s.tcp();
  client.send("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n" + get("/"));
  client.read_until("\r\n\r\n");
  EXPECT_TRUE(client.read_until("\r\n\r\n").starts_with("HTTP/1.1 200"));
  EXPECT_EQ(client.read_until("0\r\n\r\n"), "3\r\nall\r\n0\r\n\r\n");
}

TEST(BodyStream, OneThatNobodyFinishesIsCutSoThatItIsNotTakenForWhole) {
  Streams streams;
  const TestServer s(by(streams));
  RawClient client = s.tcp();
  client.send(get("/"));
  ASSERT_TRUE(streams.begun.wait());
  streams.stream.try_write("half");
  client.read_until("half\r\n");
  streams.stream = BodyStream();
  EXPECT_EQ(client.read_all(), "");
}

TEST(BodyStream, WithMalformedFieldsIs500AndClosed) {
  BodyStream stream;
  Signal begun;
  const TestServer s([&](const Request&, const ResponseWriter& writer) {
    stream = writer.stream(200, {{"A", "b\r\nC: d"}}, {});
    begun.set();
  });
  RawClient client = s.tcp();
  client.send(get("/"));
  EXPECT_TRUE(client.read_response().starts_with("HTTP/1.1 500"));
  ASSERT_TRUE(begun.wait());
  EXPECT_EQ(stream.try_write("x"), Push::kClosed);
}

TEST(BodyStream, SaysWhenTheClientIsGone) {
  Signal closed;
  StreamOptions options;
  options.on_closed = [&] { closed.set(); };
  Streams streams(options);
  const TestServer s(by(streams));
  RawClient client = s.tcp();
  client.send(get("/"));
  ASSERT_TRUE(streams.begun.wait());
  client.close();
  EXPECT_TRUE(closed.wait());
  EXPECT_TRUE(streams.stream.closed());
}

TEST(BodyStream, ASlowClientHoldsTheWriterBackUntilItReads) {
  Signal drained;
  StreamOptions options;
  options.queue_bytes = 100'000;
  options.on_drained = [&] { drained.set(); };
  Streams streams(options);
  const TestServer s(by(streams));
  RawClient client = s.unix_socket();
  client.send(get("/"));
  ASSERT_TRUE(streams.begun.wait());
  std::size_t written = 0;
  while (streams.stream.try_write(std::string(10'000, 'x')) == Push::kQueued) written += 10'000;
  EXPECT_LT(written, std::size_t{8} << 20U) << "what the sockets hold, and the queue";
  EXPECT_FALSE(drained.is_set());
  std::size_t read = 0;
  while (!drained.is_set()) read += client.read_until("x").size();
  EXPECT_EQ(streams.stream.try_write("y"), Push::kQueued);
  EXPECT_TRUE(client.read_until("y").ends_with("y"));
}

TEST(BodyStream, StopEndsItInOrder) {
  Streams streams;
  const TestServer s(by(streams));
  RawClient client = s.tcp();
  client.send(get("/"));
  ASSERT_TRUE(streams.begun.wait());
  client.read_until("\r\n\r\n");
  streams.stream.try_write("last words");
  std::jthread stopping([&] { s.server->stop(seconds(30)); });
  EXPECT_TRUE(client.read_all().ends_with("last words\r\n0\r\n\r\n"));
  client.close();
}

TEST(EventStream, SendsEventsAndComments) {
  std::optional<EventStream> events;
  Signal begun;
  const TestServer s([&](const Request&, const ResponseWriter& writer) {
    events.emplace(writer, SseOptions{});
    begun.set();
  });
  RawClient client = s.tcp();
  client.send(get("/"));
  ASSERT_TRUE(begun.wait());
  EXPECT_TRUE(client.read_until("\r\n\r\n").contains("Content-Type: text/event-stream"));
  EXPECT_TRUE(events->event({.id = "1", .type = "added", .data = "{}"}));
  EXPECT_TRUE(events->comment("still here"));
  const std::string text = client.read_until("still here\n\n");
  EXPECT_TRUE(text.contains("id: 1\nevent: added\ndata: {}\n\n")) << text;
  events->finish();
  client.read_until("0\r\n\r\n");
}

TEST(EventStream, BeatsWhenThereIsNothingToSay) {
  std::optional<EventStream> events;
  const TestServer s([&](const Request&, const ResponseWriter& writer) {
    SseOptions options;
    options.heartbeat = milliseconds(10);
    events.emplace(writer, options);
  });
  RawClient client = s.tcp();
  client.send(get("/"));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(client.read_until(":\n\n").ends_with(":\n\n"));
}

TEST(EventStream, ASlowReaderIsToldThatItMissedSomething) {
  std::optional<EventStream> events;
  Signal begun;
  Signal overflowed;
  const TestServer s([&](const Request&, const ResponseWriter& writer) {
    SseOptions options;
    options.queue_bytes = 50'000;
    options.on_overflow = [&] { overflowed.set(); };
    events.emplace(writer, options);
    begun.set();
  });
  RawClient client = s.unix_socket();
  client.send(get("/"));
  ASSERT_TRUE(begun.wait());
  while (events->event({.id = {}, .type = "added", .data = std::string(5000, 'x')})) {
  }
  EXPECT_TRUE(overflowed.is_set());
  EXPECT_FALSE(events->event({.id = {}, .type = "added", .data = "x"}));
  EXPECT_TRUE(client.read_until("0\r\n\r\n").contains("event: reset\ndata: {}\n\n"));
}

}  // namespace
}  // namespace fairlead::net
