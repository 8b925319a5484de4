#include "base/result.h"

#include <set>

#include <gtest/gtest.h>

#include "base/nearest.h"
#include "base/quantity.h"

namespace fairlead {
namespace {

constexpr ErrorCode kAll[] = {ErrorCode::kInvalidArgument,
                              ErrorCode::kOutOfRange,
                              ErrorCode::kNotFound,
                              ErrorCode::kAlreadyExists,
                              ErrorCode::kImpossible,
                              ErrorCode::kConflict,
                              ErrorCode::kIo,
                              ErrorCode::kFailed,
                              ErrorCode::kUnauthenticated,
                              ErrorCode::kForbidden,
                              ErrorCode::kStale,
                              ErrorCode::kUnavailable,
                              ErrorCode::kTooLarge,
                              ErrorCode::kTimeout};

TEST(Error, EveryCodeHasANameAndFails) {
  std::set<std::string_view> names;
  for (const ErrorCode code : kAll) {
    names.insert(error_code_name(code));
    EXPECT_NE(exit_code(code), 0);
  }
  EXPECT_EQ(names.size(), std::size(kAll));
}

TEST(Error, TextLeavesOutWhatIsEmpty) {
  EXPECT_EQ((Error{ErrorCode::kIo, "broken", "a.yaml:3", "x.y", "mend it"}.text()),
            "a.yaml:3: x.y: broken; mend it");
  EXPECT_EQ((Error{ErrorCode::kIo, "broken", {}, {}, {}}.text()), "broken");
}

Result<int> half(int n) {
  if (n % 2 != 0) return fail(ErrorCode::kInvalidArgument, "odd");
  return n / 2;
}

Result<int> quarter(int n) {
  FAIRLEAD_ASSIGN(const int h, half(n));
  FAIRLEAD_ASSIGN(const int q, half(h));
  return q;
}

TEST(Result, AnErrorReturnsFromTheFunction) {
  EXPECT_EQ(quarter(8), 2);
  EXPECT_EQ(quarter(6).error().message, "odd");
}

TEST(Quantity, KindsDoNotMixAndAdd) {
  using Apples = Quantity<struct AppleTag>;
  Apples a(3);
  a += Apples(4);
  EXPECT_EQ((a - Apples(2)) * 2, Apples(10));
  EXPECT_FALSE((std::is_convertible_v<std::int64_t, Apples>));
}

TEST(Id, NoneIsNotValid) {
  using Thing = Id<struct ThingTag>;
  EXPECT_FALSE(Thing().valid());
  EXPECT_TRUE(Thing(0).valid());
  EXPECT_LT(Thing(1), Thing(2));
}

TEST(Nearest, SlipsAreFoundAndStrangersAreNot) {
  const std::vector<std::string> names{"count", "memory", "H100-80GB", "queue"};
  EXPECT_EQ(nearest_name("cuont", names), "count");
  EXPECT_EQ(nearest_name("Memory", names), "memory");
  EXPECT_EQ(nearest_name("h100", names), "H100-80GB");
  EXPECT_EQ(nearest_name("zebra", names), "");
  EXPECT_EQ(nearest_name(std::string(100'000, 'x'), names), "");
}

TEST(Listing, ReadsAsASentence) {
  const std::vector<std::string> names{"a", "b", "c"};
  EXPECT_EQ(listing(names), "a, b or c");
  EXPECT_EQ(listing(names, 2), "a, b, … (3 in all)");
  EXPECT_EQ(listing(std::vector<std::string>{"a"}), "a");
}

}  // namespace
}  // namespace fairlead
