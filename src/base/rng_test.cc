#include "base/rng.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace fairlead {
namespace {

TEST(Rng, SameSeedSameNumbers) {
  Rng a(42);
  Rng b(42);
  Rng c(43);
  EXPECT_EQ(a.next(), b.next());
  EXPECT_NE(a.next(), c.next());
}

// The first outputs of xoshiro256** seeded by splitmix64(0), from the reference implementations.
TEST(Rng, IsThePublishedGenerator) {
  Rng rng(0);
  EXPECT_EQ(rng.next(), 0x99ec5f36cb75f2b4ULL);
  EXPECT_EQ(rng.next(), 0xbf6e1f784956452aULL);
  EXPECT_EQ(rng.next(), 0x1a5f849d4933e6e0ULL);
}

RC_GTEST_PROP(Rng, StaysWithinItsBounds, (std::uint64_t seed)) {
  Rng rng(seed);
  const std::int64_t low = *rc::gen::arbitrary<std::int64_t>();
  const std::int64_t high =
      *rc::gen::suchThat<std::int64_t>([&](std::int64_t h) { return h >= low; });
  const std::int64_t drawn = rng.between(low, high);
  RC_ASSERT(drawn >= low && drawn <= high);
  const double u = rng.unit();
  RC_ASSERT(u >= 0.0 && u < 1.0);
}

TEST(Rng, EveryValueOfASmallRangeComesUp) {
  Rng rng(7);
  std::vector<int> seen(6);
  for (int i = 0; i < 6000; ++i) ++seen[static_cast<std::size_t>(rng.below(6))];
  // 1000 each are expected; the standard deviation is about 29.
  EXPECT_GT(*std::min_element(seen.begin(), seen.end()), 850);
}

TEST(Rng, AForkDoesNotDependOnLaterUse) {
  Rng a(1);
  const Rng early = a.fork(5);
  Rng b(1);
  Rng from_early = early;
  Rng from_b = b.fork(5);
  (void)a.next();
  EXPECT_EQ(from_early.next(), from_b.next());
  EXPECT_NE(b.fork(6).next(), b.fork(5).next());
}

TEST(Rng, ShuffleKeepsWhatIsThere) {
  Rng rng(3);
  std::vector<int> items{1, 2, 3, 4, 5, 6, 7, 8};
  rng.shuffle(items);
  std::sort(items.begin(), items.end());
  EXPECT_EQ(items, (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8}));
}

}  // namespace
}  // namespace fairlead
