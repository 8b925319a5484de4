// Generated load: the same seed gives the same jobs, and the parts have the shares asked for.
#include "sim/generate/generator.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "model/cluster_reader.h"
#include "sim/demo/demo.h"
#include "sim/replay/faults.h"
#include "sim/trace/own.h"

namespace fairlead::sim {
namespace {

TEST(Generator, SameSeedSameJobsOtherSeedOtherJobs) {
  GeneratorOptions options;
  const std::string first = trace_text(generate_jobs(options));
  EXPECT_EQ(trace_text(generate_jobs(options)), first);
  options.seed = 2;
  EXPECT_NE(trace_text(generate_jobs(options)), first);
}

TEST(Generator, KeepsTheRateInEveryPattern) {
  // 20,000 jobs at 60 an hour take 333 hours; patterns move jobs about, not their mean rate.
  for (const auto pattern :
       {ArrivalPattern::kPoisson, ArrivalPattern::kBursty, ArrivalPattern::kDiurnal}) {
    GeneratorOptions options;
    options.jobs = 20'000;
    options.arrivals = pattern;
    const auto jobs = generate_jobs(options);
    ASSERT_EQ(jobs.size(), 20'000u);
    EXPECT_NEAR(static_cast<double>(jobs.back().submit.ms) / 3'600'000, 333, 333 * 0.08);
    EXPECT_TRUE(std::is_sorted(jobs.begin(), jobs.end(),
                               [](const auto& a, const auto& b) { return a.submit < b.submit; }));
  }
}

TEST(Generator, DiurnalLoadIsHighestInTheAfternoon) {
  GeneratorOptions options;
  options.jobs = 20'000;
  options.arrivals = ArrivalPattern::kDiurnal;
  std::int64_t afternoon = 0;  // 12 to 16
  std::int64_t night = 0;      // 0 to 4
  for (const TraceJob& job : generate_jobs(options)) {
    const std::int64_t hour = job.submit.ms / 3'600'000 % 24;
    afternoon += hour >= 12 && hour < 16 ? 1 : 0;
    night += hour < 4 ? 1 : 0;
  }
  // Rates 1 + 0.8 cos: about 1.76 against 0.24.
  EXPECT_GT(afternoon, 5 * night);
}

TEST(Generator, DrawsSizesAndDurationsAsAsked) {
  GeneratorOptions options;
  options.jobs = 20'000;
  options.sizes = {{500, 1}, {1000, 3}};
  options.failing_share = 0;
  const auto jobs = generate_jobs(options);
  const auto halves =
      std::count_if(jobs.begin(), jobs.end(), [](const auto& j) { return job_milli(j) == 500; });
  EXPECT_NEAR(static_cast<double>(halves), 5000, 300);
  std::vector<std::int64_t> times;
  for (const TraceJob& job : jobs) times.push_back(job.run_time.ms);
  std::sort(times.begin(), times.end());
  EXPECT_NEAR(static_cast<double>(times[10'000]), 1'800'000, 120'000);
  // One sigma above the median: × e^1.5.
  EXPECT_NEAR(std::log(static_cast<double>(times[16'827]) / 1'800'000), 1.5, 0.12);
}

TEST(Generator, ReadsItsOptionsAndNamesWhatItCannotRead) {
  EXPECT_EQ(parse_sizes("0.25:15,1,16:2")->at(1).milli, 1000);
  EXPECT_EQ(
      parse_sizes("1.5:1").error().text(),
      "'1.5' is not a number of GPUs; allowed are 1 to 100000, or a portion from 0.001 to 0.999");
  // It would be a line of its own in the trace.
  EXPECT_EQ(parse_projects("a\nb:1").error().text(),
            "'a\\x0ab' holds control characters; write NAME:WEIGHT on one line");
  EXPECT_EQ(
      parse_sizes("1:x").error().text(),
      "'x' in '1:x' is not a weight; write NAME:WEIGHT with a weight above 0, at most 1000000000");
  EXPECT_EQ(parse_projects("a:1,,b").error().text(),
            "'a:1,,b' has an empty part; write NAME:WEIGHT,NAME:WEIGHT");
  EXPECT_FALSE(parse_arrivals("sometimes").has_value());
}

TEST(Demo, FilesInTracesAreTheBundledOnes) {
  const auto read = [](const char* path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  };
  EXPECT_EQ(read("traces/demo.csv"), trace_text(generate_jobs(demo_options(kDemoSeed))))
      << "write it anew: fairlead simulate demo --write traces";
  EXPECT_EQ(read("traces/demo-cluster.yaml"), demo_cluster_document());
}

TEST(Faults, ComeAtThePublishedRates) {
  const auto document = parse_cluster(demo_cluster_document(), "demo");
  ASSERT_TRUE(document.has_value());
  const ClusterSpec& cluster = document->cluster;
  FaultRates rates;
  rates.scale = 200;
  rates.lemon_share = 0;
  const Duration year = hours(24 * 365);
  const auto faults = plan_faults(cluster, year, rates, 1);
  // 48 GPUs × 1.2e-5 + 8 nodes × 4e-5 + 48 × 1e-6 per hour, × 200 × 8760 h = 1654.
  EXPECT_NEAR(static_cast<double>(faults.size()), 1654, 150);
  EXPECT_NEAR(expected_faults(cluster, year, rates), 1654, 1);
  const auto silent =
      std::count_if(faults.begin(), faults.end(), [](const Fault& f) { return f.noticed > f.at; });
  EXPECT_NEAR(static_cast<double>(silent) / static_cast<double>(faults.size()), 0.2, 0.04);
  std::vector<std::int64_t> repairs;
  for (const Fault& f : faults) repairs.push_back((f.repaired - f.noticed).ms);
  std::sort(repairs.begin(), repairs.end());
  EXPECT_NEAR(static_cast<double>(repairs[repairs.size() / 2]), 4 * 3'600'000, 1'500'000);
  EXPECT_TRUE(std::is_sorted(faults.begin(), faults.end(),
                             [](const Fault& a, const Fault& b) { return a.at < b.at; }));
}

}  // namespace
}  // namespace fairlead::sim
