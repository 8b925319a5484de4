#include "net/router.h"

#include <gtest/gtest.h>

namespace fairlead::net {
namespace {

Router router() {
  auto made = Router::build({{"GET", "/"},
                             {"GET", "/jobs"},
                             {"POST", "/jobs"},
                             {"GET", "/jobs/{id}"},
                             {"DELETE", "/jobs/{id}"},
                             {"GET", "/jobs/new"},
                             {"GET", "/jobs/{id}/logs/{task}"},
                             {"GET", "/ui/{rest...}"}});
  EXPECT_TRUE(made) << made.error().text();
  return std::move(*made);
}

Match found(const Router& router, std::string_view method, const std::string& target) {
  const auto result = router.route(method, *parse_target(target));
  EXPECT_TRUE(std::holds_alternative<Match>(result)) << target;
  return std::holds_alternative<Match>(result) ? std::get<Match>(result) : Match{99, {}};
}

TEST(Router, FindsTheRowAndWhatStoodForItsParameters) {
  const Router r = router();
  EXPECT_EQ(found(r, "GET", "/").index, 0U);
  EXPECT_EQ(found(r, "POST", "/jobs").index, 2U);
  const Match logs = found(r, "GET", "/jobs/a%2Fb/logs/t1");
  EXPECT_EQ(logs.index, 6U);
  EXPECT_EQ(logs.parameters, (std::vector<std::string>{"a/b", "t1"}));
}

TEST(Router, AWordWinsOverAParameter) {
  const Router r = router();
  EXPECT_EQ(found(r, "GET", "/jobs/new").index, 5U);
  EXPECT_EQ(found(r, "GET", "/jobs/newer").index, 3U);
  EXPECT_EQ(found(r, "DELETE", "/jobs/new").index, 4U);
}

TEST(Router, ARestTakesOneOrMoreSegments) {
  const Router r = router();
  EXPECT_EQ(found(r, "GET", "/ui/a/b/c").parameters, std::vector<std::string>{"a/b/c"});
  EXPECT_TRUE(std::holds_alternative<Response>(r.route("GET", *parse_target("/ui"))));
}

TEST(Router, HeadIsServedByGet) {
  EXPECT_EQ(found(router(), "HEAD", "/jobs").index, 1U);
}

TEST(Router, WhatIsNotThereIs404AndAnotherMethod405WithWhatIsAllowed) {
  const Router r = router();
  const auto nothing = std::get<Response>(r.route("GET", *parse_target("/nothing")));
  EXPECT_EQ(nothing.status, 404);
  EXPECT_EQ(nothing.headers.find("content-type"), "application/problem+json");
  const auto wrong = std::get<Response>(r.route("PUT", *parse_target("/jobs/7")));
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.headers.find("allow"), "DELETE, GET, HEAD");
}

TEST(Router, TwoRowsForTheSameRequestsAreFoundWhenItIsBuilt) {
  const auto same = Router::build({{"GET", "/a/{x}"}, {"GET", "/a/{y}"}});
  ASSERT_FALSE(same);
  EXPECT_EQ(same.error().code, ErrorCode::kConflict);
  EXPECT_TRUE(Router::build({{"GET", "/a/{x}"}, {"PUT", "/a/{y}"}}));
}

TEST(Router, AMalformedPatternIsRefused) {
  for (const char* pattern : {"", "a", "/a//b", "/{}", "/a{b}", "/{rest...}/b"}) {
    EXPECT_FALSE(Router::build({{"GET", pattern}})) << pattern;
  }
  EXPECT_FALSE(Router::build({{"HEAD", "/a"}}));
}

}  // namespace
}  // namespace fairlead::net
