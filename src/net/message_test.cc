#include "net/message.h"

#include <gtest/gtest.h>

#include "net/sse.h"

namespace fairlead::net {
namespace {

TEST(Headers, NamesCompareWithoutCase) {
  Headers headers{{"Content-Type", "a"}, {"X", "1"}, {"x", "2"}};
  EXPECT_EQ(headers.find("content-type"), "a");
  EXPECT_EQ(headers.count("X"), 2U);
  headers.set("X", "3");
  EXPECT_EQ(headers.count("x"), 1U);
  EXPECT_EQ(headers.find("missing"), std::nullopt);
}

TEST(Headers, AFieldThatWouldBeginAnotherIsMalformed) {
  EXPECT_TRUE((Headers{{"A", "b\tc"}}.well_formed()));
  EXPECT_FALSE((Headers{{"A", "b\r\nC: d"}}.well_formed()));
  EXPECT_FALSE((Headers{{"A b", "c"}}.well_formed()));
  EXPECT_FALSE((Headers{{"", "c"}}.well_formed()));
}

TEST(Origin, OnlyThePageThatTheServerGaveMayAsk) {
  Request request;
  request.headers = {{"Host", "localhost:7380"}};
  EXPECT_TRUE(same_origin(request)) << "no browser";
  request.headers.set("Origin", "http://localhost:7380");
  EXPECT_TRUE(same_origin(request));
  for (const char* other : {"http://evil", "http://localhost", "https://localhost:7380", "null"}) {
    request.headers.set("Origin", other);
    EXPECT_FALSE(same_origin(request)) << other;
  }
}

TEST(Host, IsReadWithoutItsPort) {
  EXPECT_EQ(host_without_port("localhost:80"), "localhost");
  EXPECT_EQ(host_without_port("localhost"), "localhost");
  EXPECT_EQ(host_without_port("[::1]:80"), "[::1]");
  EXPECT_EQ(host_without_port("[::1]"), "[::1]");
}

TEST(Problem, SaysStatusTitleAndDetail) {
  EXPECT_EQ(problem(404, "no \"x\"").body,
            "{\"type\":\"about:blank\",\"title\":\"Not Found\",\"status\":404,"
            "\"code\":\"not-found\",\"detail\":\"no \\\"x\\\"\"}\n");
}

TEST(Sse, EachLineOfTheDataIsAFieldAndNothingElseCanBecomeOne) {
  EXPECT_EQ(sse_text({.id = "7", .type = "added", .data = "a\nb\r\nc\rd"}),
            "id: 7\nevent: added\ndata: a\ndata: b\ndata: c\ndata: d\n\n");
  EXPECT_EQ(sse_text({.id = "7\ndata: x", .type = {}, .data = {}}), "id: 7data: x\ndata: \n\n");
}

}  // namespace
}  // namespace fairlead::net
