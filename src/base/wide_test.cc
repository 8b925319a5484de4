#include "base/wide.h"

#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace fairlead {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

TEST(MulDiv, ProductsBeyond64BitsAreExact) {
  EXPECT_EQ(mul_div_floor(kMax, kMax, kMax), kMax);
  EXPECT_EQ(mul_div_floor(10, 10, 3), 33);
  EXPECT_EQ(mul_div_ceil(10, 10, 3), 34);
  EXPECT_EQ(mul_div_ceil(10, 9, 3), 30);
  EXPECT_EQ(mul_div_ceil(0, 5, 3), 0);
}

TEST(Ratio, ComparesWithoutRounding) {
  EXPECT_LT((Ratio{1, 3}), (Ratio{333'333'333'333'334, 1'000'000'000'000'000}));
  EXPECT_EQ((Ratio{2, 4}), (Ratio{1, 2}));
  EXPECT_LT((Ratio{kMax - 1, kMax}), (Ratio{kMax, kMax}));
}

// Something held of nothing granted is above all else; nothing of nothing is nothing.
TEST(Ratio, OverZeroIsInfinite) {
  EXPECT_GT((Ratio{1, 0}), (Ratio{kMax, 1}));
  EXPECT_GT((Ratio{2, 0}), (Ratio{1, 0}));
  EXPECT_EQ((Ratio{0, 0}), (Ratio{0, 5}));
}

RC_GTEST_PROP(Ratio, OrderIsTheOneOfFractions, ()) {
  const auto small = [] { return *rc::gen::inRange<std::int64_t>(0, 1000); };
  const Ratio a{small(), small() + 1};
  const Ratio b{small(), small() + 1};
  RC_ASSERT((a < b) == (a.num * b.den < b.num * a.den));
  RC_ASSERT((a == b) == !(a < b || b < a));
}

}  // namespace
}  // namespace fairlead
