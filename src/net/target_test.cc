#include "net/target.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace fairlead::net {
namespace {

TEST(Target, SplitsPathAndQueryBeforeDecodingThem) {
  const auto target = parse_target("/api/v1/queues/a%2Fb%20c?x=1%262&y=a+b&flag&x=3");
  ASSERT_TRUE(target) << target.error().text();
  EXPECT_EQ(target->path, "/api/v1/queues/a%2Fb%20c");
  EXPECT_EQ(target->segments, (std::vector<std::string>{"api", "v1", "queues", "a/b c"}));
  ASSERT_EQ(target->query.size(), 4U);
  EXPECT_EQ(*target->value("x"), "1&2");
  EXPECT_EQ(*target->value("y"), "a b");
  EXPECT_EQ(*target->value("flag"), "");
  EXPECT_EQ(target->value("z"), nullptr);
}

TEST(Target, TheRootHasNoSegmentsAndASlashAtTheEndSaysNothing) {
  EXPECT_TRUE(parse_target("/")->segments.empty());
  EXPECT_EQ(parse_target("/ui/")->segments, parse_target("/ui")->segments);
}

TEST(Target, ReadsWhatAProxyWrites) {
  EXPECT_EQ(parse_target("http://host:80/a?b=c")->segments, std::vector<std::string>{"a"});
  EXPECT_TRUE(parse_target("HTTP://host")->segments.empty());
}

TEST(Target, APathHasOneWayOfBeingWrittenAndCannotClimb) {
  for (const char* text : {"", "a", "*", "host:443", "//", "/a//b", "/a/../b", "/./a", "/%2e%2E/a",
                           "/a%", "/a%2", "/a%zz", "/a%00", "/a%1b", "/%ff", "/a#b", "/?x=%c3"}) {
    const auto target = parse_target(text);
    EXPECT_FALSE(target) << text;
    EXPECT_TRUE(target || !target.error().cure.empty()) << text;
  }
}

TEST(Target, MoreParametersThanAnyoneNeedsAreRefused) {
  std::string text = "/?";
  for (int i = 0; i < 257; ++i) text += "a=1&";
  EXPECT_FALSE(parse_target(text));
}

RC_GTEST_PROP(Target, WhatIsEncodedReadsBackAsItWas, ()) {
  const auto text = *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange(' ', '~')));
  RC_PRE(text != "." && text != "..");
  const std::string encoded = percent_encode(text);
  const auto target = parse_target("/" + encoded + "?" + encoded + "=" + encoded);
  RC_ASSERT(target.has_value());
  RC_ASSERT(target->segments == std::vector<std::string>{text});
  RC_ASSERT(*target->value(text) == text);
}

}  // namespace
}  // namespace fairlead::net
