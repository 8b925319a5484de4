// The published numbers (docs/yardsticks.md) on the published traces, where those are at hand:
// ../shared/traces beside the checkout. Skipped, and said so, where they are not.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "sim/gavel/rounds.h"
#include "sim/muri/cluster.h"
#include "sim/muri/compatibility.h"
#include "sim/openb/fill.h"
#include "sim/replay/replay.h"
#include "sim/report/summary.h"

namespace fairlead::sim {
namespace {

const std::string kTraces = "../shared/traces/";

#define NEEDS_TRACES()                                                           \
  if (!std::filesystem::exists(kTraces + "muri/trace1.csv")) {                   \
    GTEST_SKIP() << "no traces at " << kTraces << ": the published numbers are " \
                 << "not checked here";                                          \
  }                                                                              \
  static_cast<void>(0)

CsvFile csv(const std::string& path) {
  return std::move(*CsvFile::read(kTraces + path));
}

double completion_ks(const Result<ReplayResult>& result) {
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().text());
  return result ? summarise(*result).completion.mean / 1000 : 0;
}

struct Published {
  const char* trace;
  const char* policy;
  double ks;
};

class MuriAsPublished : public testing::TestWithParam<Published> {};

TEST_P(MuriAsPublished, IsWithinATenthOfAPercent) {
  NEEDS_TRACES();
  const auto jobs = read_muri_jobs(csv(std::string("muri/") + GetParam().trace + ".csv"));
  ASSERT_TRUE(jobs.has_value());
  const auto policy = ServicePolicy::named(GetParam().policy);
  const double ks = completion_ks(replay_as_published(*jobs, 8, 8, *policy));
  EXPECT_NEAR(ks, GetParam().ks, GetParam().ks / 1000);
}

INSTANTIATE_TEST_SUITE_P(
    Table, MuriAsPublished,
    testing::Values(Published{"trace1", "srtf", 1370.6}, Published{"trace1", "srsf", 980.1},
                    Published{"trace1", "tiresias", 3330.4}, Published{"trace3", "srtf", 193.1},
                    Published{"trace3", "srsf", 185.0}, Published{"trace3", "tiresias", 347.2}),
    [](const auto& test) { return std::string(test.param.trace) + "_" + test.param.policy; });

TEST(Muri, LeastAttainedServiceBeatsWhatIsPublishedWithoutKnowingDurations) {
  NEEDS_TRACES();
  for (const auto& [trace, most] : {std::pair{"trace1", 1823.0}, std::pair{"trace3", 347.0}}) {
    const auto jobs = read_muri_jobs(csv(std::string("muri/") + trace + ".csv"));
    ASSERT_TRUE(jobs.has_value());
    ReplayOptions options;
    options.policy = *ServicePolicy::named("las");
    EXPECT_LE(completion_ks(replay(uniform_cluster(8, 8), *muri_trace(*jobs, 8, 8), options)),
              most);
  }
}

double unallocated_at_full(const OpenbInput& input, const std::string& policy) {
  const auto run = run_openb_fill(input, policy, 42);
  EXPECT_TRUE(run.has_value()) << (run ? "" : run.error().text());
  return run ? run->unallocated_percent[100] : 100;
}

TEST(Openb, PublishedPoliciesAgreeAndOursPacksBetter) {
  NEEDS_TRACES();
  OpenbInput input;
  input.nodes = *read_openb_nodes(csv("openb/openb_node_list_gpu_node.csv"));
  input.pods = *read_openb_pods(csv("openb/openb_pod_list_default.csv"));
  // One seed of ten, so a wider band than the mean's ±0.25.
  const double fgd = unallocated_at_full(input, "fgd");
  const double firstfit = unallocated_at_full(input, "firstfit");
  EXPECT_NEAR(fgd, 4.77, 0.5);
  EXPECT_NEAR(firstfit, 5.67, 0.5);
  const double ours = unallocated_at_full(input, "default");
  EXPECT_LT(ours, fgd);
  EXPECT_LT(ours, firstfit);
  EXPECT_LE(ours, 4.6);
}

TEST(Gavel, TypesByAssignmentBeatTheLinearProgram) {
  NEEDS_TRACES();
  const auto jobs = read_gavel_jobs(csv("gavel/generated_single_gpu_seed0.csv"));
  const auto rates = read_gavel_throughputs(csv("gavel/isolated_throughputs.csv"));
  ASSERT_TRUE(jobs && rates);
  GavelOptions options;
  options.cluster = *parse_gavel_cluster("v100:36,p100:36,k80:36");
  options.jobs_per_hour = 4.8;
  const auto result = run_gavel(*jobs, *rates, options);
  ASSERT_TRUE(result.has_value()) << result.error().text();
  EXPECT_LE(result->avg_hours, 18.97);
}

}  // namespace
}  // namespace fairlead::sim
