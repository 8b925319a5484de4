#include "base/time.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace fairlead {
namespace {

TEST(DurationText, IsReadInAllItsForms) {
  EXPECT_EQ(parse_duration("250ms"), milliseconds(250));
  EXPECT_EQ(parse_duration("90s"), seconds(90));
  EXPECT_EQ(parse_duration("90"), seconds(90));
  EXPECT_EQ(parse_duration("0.25"), milliseconds(250));
  EXPECT_EQ(parse_duration("1.5h"), minutes(90));
  EXPECT_EQ(parse_duration("2h30m"), minutes(150));
  EXPECT_EQ(parse_duration("1w"), hours(7 * 24));
  EXPECT_EQ(parse_duration("0"), Duration{0});
}

TEST(DurationText, SlipsAreRefused) {
  for (const char* text : {"", "h", "-5s", "5 s", "5x", "1h2", "30m2h", "2h2h", ".5h", "5.h",
                           "1.2.3s", "0.0001s", "1e3s"}) {
    const auto result = parse_duration(text);
    ASSERT_FALSE(result.has_value()) << text;
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument) << text;
  }
}

TEST(DurationText, MoreThanACenturyIsOutOfRange) {
  const auto result = parse_duration("999999999999w");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::kOutOfRange);
}

TEST(DurationText, IsPrintedShortAndExact) {
  EXPECT_EQ(to_text(minutes(90)), "1h30m");
  EXPECT_EQ(to_text(milliseconds(250)), "250ms");
  EXPECT_EQ(to_text(Duration{0}), "0s");
  EXPECT_EQ(to_text(hours(49)), "2d1h");
  EXPECT_EQ(to_text(seconds(-5)), "-5s");
}

RC_GTEST_PROP(DurationText, PrintedReadsBack, ()) {
  const Duration d{*rc::gen::inRange<std::int64_t>(0, 3'000'000'000'000)};
  RC_ASSERT(parse_duration(to_text(d)).value() == d);
}

TEST(Rfc3339, IsReadWithItsOffset) {
  EXPECT_EQ(parse_rfc3339("1970-01-01T00:00:00Z"), Instant{0});
  EXPECT_EQ(parse_rfc3339("2026-01-31T08:00:00Z"), Instant{1'769'846'400'000});
  EXPECT_EQ(parse_rfc3339("2026-01-31T09:00:00.250+01:00"), Instant{1'769'846'400'250});
  EXPECT_EQ(parse_rfc3339("2000-02-29T00:00:00Z"), Instant{951'782'400'000});
  EXPECT_EQ(to_rfc3339(Instant{1'769'846'400'250}), "2026-01-31T08:00:00.250Z");
  EXPECT_EQ(to_rfc3339(Instant{-1}), "1969-12-31T23:59:59.999Z");
}

TEST(Rfc3339, WhatTheCalendarDoesNotHaveIsRefused) {
  for (const char* text :
       {"", "2026-01-31", "2026-01-31T08:00:00", "2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z",
        "1900-02-29T00:00:00Z", "2026-01-31T24:00:00Z", "2026-01-31T08:00:00.0001Z",
        "2026-01-31T08:00:00+25:00", "2026-01-31T08:00:00Zx", "yesterday"}) {
    EXPECT_FALSE(parse_rfc3339(text).has_value()) << text;
  }
}

RC_GTEST_PROP(Rfc3339, PrintedReadsBack, ()) {
  // Years 0000 to 9999.
  const Instant t{*rc::gen::inRange<std::int64_t>(-62'167'219'200'000, 253'402'300'800'000)};
  RC_ASSERT(parse_rfc3339(to_rfc3339(t)).value() == t);
}

}  // namespace
}  // namespace fairlead
