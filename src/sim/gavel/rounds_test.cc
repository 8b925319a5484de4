// GPU types: the best assignment, and rounds small enough to compute by hand.
#include "sim/gavel/rounds.h"

#include <gtest/gtest.h>

#include "sim/gavel/assignment.h"

namespace fairlead::sim {
namespace {

TEST(TypeAssignment, MovesAnEarlierJobWhenTheSumGains) {
  // One GPU each of two types. a likes x a little (1000, 990), b likes x a lot (1000, 300): b gets
  // it, 1990 against 1300.
  TypeAssignment types;
  types.add_type(1);
  types.add_type(1);
  ASSERT_TRUE(types.add_job(1, {1000, 990}));
  EXPECT_EQ(types.type_of(0), 0);
  ASSERT_TRUE(types.add_job(1, {1000, 300}));
  EXPECT_EQ(types.type_of(0), 1);
  EXPECT_EQ(types.type_of(1), 0);
  EXPECT_FALSE(types.add_job(1, {1000, 1000}));
}

TEST(TypeAssignment, FollowsChainsOverSeveralTypes) {
  // a on x, b on y, z free. c runs on x only: a moves to y, b to z.
  TypeAssignment types;
  for (int i = 0; i < 3; ++i) types.add_type(1);
  ASSERT_TRUE(types.add_job(1, {1000, 900, -1}));
  ASSERT_TRUE(types.add_job(1, {-1, 1000, 900}));
  ASSERT_TRUE(types.add_job(1, {1000, -1, -1}));
  EXPECT_EQ(types.type_of(0), 1);
  EXPECT_EQ(types.type_of(1), 2);
  EXPECT_EQ(types.type_of(2), 0);
}

GavelResult run(const std::vector<GavelJob>& jobs, const char* policy, const char* restart = "0") {
  GavelOptions options;
  options.cluster = *parse_gavel_cluster("fast:1,slow:1");
  options.policy = policy;
  options.restart_cost = *parse_duration(restart);
  const GavelThroughputs rates{{{"fast", "t", 1}, 2}, {{"slow", "t", 1}, 1}};
  const auto result = run_gavel(jobs, rates, options);
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().text());
  return result ? *result : GavelResult{};
}

TEST(Gavel, AJobMovesToTheFastTypeWhenItIsFree) {
  // 7,200 steps each: a takes fast, one hour. b does 3,600 on slow in that hour, then 3,600 on fast
  // in half an hour: 1.5 h.
  const auto r = run({{"a", 0, "t", 1, 7200}, {"b", 0, "t", 1, 7200}}, "fifo");
  EXPECT_NEAR(r.avg_hours, 1.25, 1e-9);
  EXPECT_EQ(r.moves, 1);
  EXPECT_EQ(r.measured, 2u);
}

// Played round by round, this once ran for ever.
TEST(Gavel, AJobOfMoreThanACenturyIsRefused) {
  GavelOptions options;
  options.cluster = *parse_gavel_cluster("slow:1");
  const auto result =
      run_gavel({{"a", 0, "t", 1, 7200}}, GavelThroughputs{{{"slow", "t", 1}, 1e-300}}, options);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::kOutOfRange);
  EXPECT_NE(result.error().text().find("more than 100 years on slow"), std::string::npos);
}

TEST(Gavel, AMoveCostsItsRestart) {
  const auto r = run({{"a", 0, "t", 1, 7200}, {"b", 0, "t", 1, 7200}}, "fifo", "60s");
  EXPECT_NEAR(r.avg_hours, 1.25 + 60.0 / 3600 / 2, 1e-9);
}

TEST(Gavel, NamesWhatIsWrong) {
  EXPECT_EQ(
      parse_gavel_cluster("v100:0").error().text(),
      "'v100:0' in 'v100:0' is not a number of GPUs of one type; write TYPE:COUNT,TYPE:COUNT, "
      "each type once, 1 to 99999 GPUs");
  EXPECT_FALSE(parse_gavel_cluster("a:1,a:2").has_value());
  GavelOptions options;
  options.cluster = *parse_gavel_cluster("fast:1");
  options.policy = "magic";
  EXPECT_EQ(run_gavel({}, {}, options).error().text(),
            "policy 'magic' is not known here; there are fifo, las or default");
  options.policy = "fifo";
  EXPECT_EQ(run_gavel({{"a", 0, "t", 1, 1}}, {}, options).error().text(),
            "there is no throughput of 't' with 1 GPUs on fast; add the line to the throughputs, "
            "with 0 if it cannot run there");
}

}  // namespace
}  // namespace fairlead::sim
