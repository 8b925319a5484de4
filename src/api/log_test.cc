// Logs over HTTP: streams.h, from the client's side.
#include <atomic>
#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "api/streams_testing.h"

namespace fairlead::api {
namespace {

using engine::OutputWriter;
using engine::Stream;
using net::testing::RawClient;
using net::testing::Signal;
using testing::StreamsServer;

class Log : public ::testing::Test {
 protected:
  Log() {
    request_.attempt = "a-1";
    request_.over = [this] { return over_.load(); };
    server_.log_request = [this] { return request_; };
  }

  StreamsServer server_;
  LogRequest request_;
  std::atomic<bool> over_ = true;
};

TEST_F(Log, IsWhatTheTaskWroteAsPlainText) {
  OutputWriter& out = server_.engine.begin("a-1");
  out.write(Stream::kOutput, "one\n", Instant{1});
  out.write(Stream::kError, "two\n", Instant{2});
  const auto response = server_.get("/log");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "one\ntwo\n");
  EXPECT_EQ(response.headers.find("Content-Type"), "text/plain; charset=utf-8");
  EXPECT_EQ(response.headers.find("X-Content-Type-Options"), "nosniff");
}

TEST_F(Log, OfATaskThatWroteNothingIsEmpty) {
  server_.engine.begin("a-1");
  EXPECT_EQ(server_.get("/log").body, "");
  request_.follow = true;
  EXPECT_EQ(server_.get("/log").body, "");
}

TEST_F(Log, OfAnUnknownAttemptIs404) {
  const auto response = server_.get("/log");
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.headers.find("Content-Type"), "application/problem+json");
}

// A reader that lost the connection asks again from the line that it read last.
TEST_F(Log, GoesOnAtAnOffset) {
  OutputWriter& out = server_.engine.begin("a-1");
  out.write(Stream::kOutput, "one\ntwo\nthree\n", Instant{1});
  request_.offsets = true;
  EXPECT_EQ(server_.get("/log").body, "0 one\n4 two\n8 three\n");
  request_.offset = 4;
  request_.tail = 1;
  EXPECT_EQ(server_.get("/log").body, "4 two\n8 three\n") << "instead of tail";
}

// Of the ten lines "0" to "9", written at the seconds 0 to 9.
TEST_F(Log, BeginsWhereItIsAskedFor) {
  OutputWriter& out = server_.engine.begin("a-1");
  for (int i = 0; i < 10; ++i) {
    out.write(Stream::kOutput, std::to_string(i) + "\n", Instant{seconds(i).ms});
  }
  request_.tail = 2;
  EXPECT_EQ(server_.get("/log").body, "8\n9\n");
  request_.tail = 0;
  EXPECT_EQ(server_.get("/log").body, "");
  request_.tail = 1'000'000'000;
  EXPECT_EQ(server_.get("/log").body, "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n");
  request_.since = Instant{7000};
  EXPECT_EQ(server_.get("/log").body, "7\n8\n9\n");
  request_.tail = 1;
  EXPECT_EQ(server_.get("/log").body, "9\n");
  request_.since = Instant{9001};
  EXPECT_EQ(server_.get("/log").body, "");
}

TEST_F(Log, HasTimesAndALimitWhereAskedFor) {
  server_.engine.begin("a-1").write(Stream::kOutput, "one\ntwo\n", Instant{1500});
  request_.timestamps = true;
  EXPECT_EQ(server_.get("/log").body,
            "1970-01-01T00:00:01.500Z one\n1970-01-01T00:00:01.500Z two\n");
  request_.limit_bytes = 5;
  EXPECT_EQ(server_.get("/log").body, "1970-");
  request_.limit_bytes = 0;
  EXPECT_EQ(server_.get("/log").body, "");
}

// Three files of a line each, of which two are kept.
TEST_F(Log, SaysWhatWasRotatedAway) {
  OutputWriter& out = server_.engine.begin("a-1", 1, 2);
  for (const char* line : {"one\n", "two\n", "three\n"}) out.write(Stream::kOutput, line, {});
  EXPECT_EQ(server_.get("/log").body,
            "[fairlead: 4 bytes of earlier output were removed]\ntwo\nthree\n");
}

TEST_F(Log, FollowedGoesOnUntilTheTaskIsOver) {
  OutputWriter& out = server_.engine.begin("a-1");
  out.write(Stream::kOutput, "1\n", {});
  request_.follow = true;
  over_ = false;
  std::string seen;
  const auto response =
      net::HttpClient(server_.client()).stream({"GET", "/log", {}, {}}, [&](std::string_view line) {
        seen += line;
        // Each line is written when the one before has come.
        if (line == "1") out.write(Stream::kOutput, "2\n", {});
        if (line == "2") {
          out.write(Stream::kOutput, "3\n4\n", {});
          over_ = true;
        }
        return true;
      });
  ASSERT_TRUE(response) << response.error().text();
  EXPECT_EQ(seen, "1234");
}

TEST_F(Log, FollowedEndsAtItsLimit) {
  server_.engine.begin("a-1").write(Stream::kOutput, "abc", {});
  request_.follow = true;
  request_.limit_bytes = 2;
  over_ = false;
  EXPECT_EQ(server_.get("/log").body, "ab");
}

// Sixteen MiB are far more than the queue and the sockets hold.
TEST_F(Log, AClientThatDoesNotReadHoldsUpNobodyAndMissesNothing) {
  OutputWriter& out = server_.engine.begin("a-1");
  std::string all;
  for (int i = 0; i < 256; ++i) {
    const std::string chunk = std::to_string(i) + std::string(65'536, 'x') + "\n";
    out.write(Stream::kOutput, chunk, {});
    all += chunk;
  }
  RawClient slow = server_.server->unix_socket();
  slow.send("GET /log HTTP/1.0\r\n\r\n");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(server_.get("/log").body, all);
  slow.read_until("\r\n\r\n");
  EXPECT_EQ(slow.read_all(), all);
}

TEST_F(Log, AFollowerThatLeavesIsForgotten) {
  server_.engine.begin("a-1").write(Stream::kOutput, "1\n", {});
  Signal forgotten;
  struct Tell {
    Signal& signal;
    ~Tell() { signal.set(); }
  };
  server_.log_request = [&, told = false]() mutable {
    LogRequest request;
    request.attempt = "a-1";
    request.follow = true;
    // Goes away with the request.
    auto tell = std::exchange(told, true) ? nullptr : std::shared_ptr<Tell>(new Tell{forgotten});
    request.over = [tell] { return false; };
    return request;
  };
  {
    RawClient leaver = server_.server->unix_socket();
    leaver.send(net::testing::get("/log"));
    leaver.read_until("1\n");
    EXPECT_FALSE(forgotten.is_set());
  }
  EXPECT_TRUE(forgotten.wait());
}

TEST_F(Log, IsCutWhenTheStreamsEnd) {
  server_.engine.begin("a-1").write(Stream::kOutput, "1\n", {});
  request_.follow = true;
  over_ = false;
  RawClient follower = server_.server->unix_socket();
  follower.send(net::testing::get("/log"));
  follower.read_until("1\n");
  server_.streams.reset();
  // Without the last chunk, so that nobody takes it for the whole.
  EXPECT_FALSE(follower.read_all().contains("0\r\n\r\n"));
}

}  // namespace
}  // namespace fairlead::api
