#include "base/decimal.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/quantity.h"

namespace fairlead {
namespace {

ErrorCode code_of(const Result<std::int64_t>& result) {
  EXPECT_FALSE(result.has_value());
  return result ? ErrorCode::kFailed : result.error().code;
}

TEST(Decimal, IsReadExactly) {
  EXPECT_EQ(parse_decimal("0.3", 3), 300);
  EXPECT_EQ(parse_decimal("2", 3), 2000);
  EXPECT_EQ(parse_decimal("-1.25", 2), -125);
  EXPECT_EQ(parse_decimal("+7", 0), 7);
  EXPECT_EQ(parse_decimal("0007.500", 1), 75);
}

TEST(Decimal, TrailingZerosAreNoDecimals) {
  EXPECT_EQ(parse_decimal("1.50000", 1), 15);
}

TEST(Decimal, TooManyDecimalsAreRefusedNotRounded) {
  EXPECT_EQ(code_of(parse_decimal("0.3333", 3)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(parse_decimal("1.5", 0)), ErrorCode::kInvalidArgument);
}

TEST(Decimal, WhatIsNoNumberIsRefused) {
  for (const char* text :
       {"", ".", "-", "1.", ".5", "1e3", "0x10", " 1", "1 ", "1,5", "--1", "nan"}) {
    EXPECT_EQ(code_of(parse_decimal(text, 3)), ErrorCode::kInvalidArgument) << text;
  }
}

TEST(Decimal, OverflowIsOutOfRange) {
  EXPECT_EQ(parse_decimal("1099511627776", 3), kMaxAmount * 1000);
  EXPECT_EQ(code_of(parse_decimal("1099511627776.001", 3)), ErrorCode::kOutOfRange);
  EXPECT_EQ(code_of(parse_decimal("99999999999999999999999999999999999999999", 3)),
            ErrorCode::kOutOfRange);
  EXPECT_EQ(code_of(parse_decimal("-99999999999999999999", 0)), ErrorCode::kOutOfRange);
}

TEST(Decimal, IsPrintedAsShortAsPossible) {
  EXPECT_EQ(decimal_text(1500, 3), "1.5");
  EXPECT_EQ(decimal_text(2000, 3), "2");
  EXPECT_EQ(decimal_text(-7, 3), "-0.007");
  EXPECT_EQ(decimal_text(0, 3), "0");
  EXPECT_EQ(decimal_text(42, 0), "42");
  EXPECT_EQ(decimal_text(std::numeric_limits<std::int64_t>::min(), 0), "-9223372036854775808");
}

RC_GTEST_PROP(Decimal, PrintedReadsBack, ()) {
  const int places = *rc::gen::inRange(0, 7);
  const std::int64_t value = *rc::gen::inRange<std::int64_t>(-kMaxAmount, kMaxAmount);
  RC_ASSERT(parse_decimal(decimal_text(value, places), places).value() == value);
}

TEST(Cpu, IsMilli) {
  EXPECT_EQ(parse_cpu("2"), 2000);
  EXPECT_EQ(parse_cpu("0.5"), 500);
  EXPECT_EQ(parse_cpu("500m"), 500);
  EXPECT_EQ(cpu_text(31'500), "31.5");
  EXPECT_EQ(code_of(parse_cpu("0.0001")), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(parse_cpu("0.5m")), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(parse_cpu("m")), ErrorCode::kInvalidArgument);
}

TEST(Bytes, SuffixesArePowersOf1024Or1000) {
  EXPECT_EQ(parse_bytes("17"), 17);
  EXPECT_EQ(parse_bytes("1Ki"), 1024);
  EXPECT_EQ(parse_bytes("1k"), 1000);
  EXPECT_EQ(parse_bytes("1KB"), 1000);
  EXPECT_EQ(parse_bytes("48Gi"), std::int64_t{48} << 30);
  EXPECT_EQ(parse_bytes("1.5GiB"), std::int64_t{3} << 29);
  EXPECT_EQ(parse_bytes("0.5k"), 500);
  EXPECT_EQ(parse_bytes("8Pi"), kMaxBytes);
}

TEST(Bytes, MustComeOutWholeAndFit) {
  EXPECT_EQ(code_of(parse_bytes("0.3Ki")), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(parse_bytes("9Pi")), ErrorCode::kOutOfRange);
  EXPECT_EQ(code_of(parse_bytes("Gi")), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(parse_bytes("1 Gi")), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(parse_bytes("1Gib")), ErrorCode::kInvalidArgument);
}

RC_GTEST_PROP(Bytes, PrintedReadsBack, ()) {
  const std::int64_t value = *rc::gen::inRange<std::int64_t>(0, 1 << 20)
                             << *rc::gen::inRange(0, 33);
  RC_ASSERT(parse_bytes(bytes_text(value)).value() == value);
}

TEST(Mib, ABareNumberIsMib) {
  EXPECT_EQ(parse_mib("4864"), 4864);
  EXPECT_EQ(parse_mib("4Gi"), 4096);
  EXPECT_EQ(parse_mib("4294967296B"), 4096);
  EXPECT_EQ(code_of(parse_mib("1500k")), ErrorCode::kInvalidArgument);
  EXPECT_EQ(mib_text(4096), "4Gi");
  EXPECT_EQ(mib_text(81'559), "81559Mi");
}

}  // namespace
}  // namespace fairlead
