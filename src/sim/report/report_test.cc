// Numbers of a summary and the frame of a page.
#include <gtest/gtest.h>

#include "sim/report/page.h"
#include "sim/report/replay_page.h"
#include "sim/report/summary.h"
#include "sim/report/svg.h"
#include "sim/report/text.h"
#include "sim/report/time_columns.h"

namespace fairlead::sim {
namespace {

// Seconds, hours and kiloseconds once stood in tables of the same kind.
TEST(TimeColumns, HaveOneUnitEachThatTheHeaderNames) {
  TextTable table;
  table.column("size");
  for (const char* name : {"a", "b", "c", "d"}) table.time_column(name);
  const auto row = [&](double a, double b, double c, double d) {
    table.rows.push_back({"x", time_cell(a), time_cell(b), time_cell(c), time_cell(d)});
  };
  row(0, 30, 90, 86'400);
  row(89.94, 90, 90 * 60, 48 * 3600);
  table.settle_times();
  EXPECT_EQ(table.header, (std::vector<std::string>{"size", "a [s]", "b [min]", "c [h]", "d [d]"}));
  EXPECT_EQ(table.rows[0], (std::vector<std::string>{"x", "0.0", "0.5", "0.03", "1.00"}));
  EXPECT_EQ(table.rows[1], (std::vector<std::string>{"x", "89.9", "1.5", "1.50", "2.00"}));
}

TEST(Summary, QuantilesAreSortedValuesAtTheIntegerPartOfQTimesN) {
  std::vector<double> values;
  for (int i = 100; i > 0; --i) values.push_back(i);
  const Quantiles q = quantiles_of(values);
  EXPECT_EQ(q.count, 100);
  EXPECT_DOUBLE_EQ(q.mean, 50.5);
  EXPECT_DOUBLE_EQ(q.p50, 51);
  EXPECT_DOUBLE_EQ(q.p90, 91);
  EXPECT_DOUBLE_EQ(q.p99, 100);
  EXPECT_DOUBLE_EQ(quantiles_of({}).p99, 0);
}

JobRecord record(std::int64_t submit, std::int64_t start, std::int64_t end, std::int64_t milli) {
  JobRecord r;
  r.name = "j";
  r.project = "p";
  r.milli = milli;
  r.submit = Instant{submit * 1000};
  r.first_start = Instant{start * 1000};
  r.ended = Instant{end * 1000};
  r.run_time = seconds(end - start);
  r.end = JobEnd::kFinished;
  return r;
}

TEST(Summary, FinishTimeFairnessComparesWithAnEqualPartOfTheCluster) {
  // Two jobs of 4 GPUs on 4 GPUs: a 0-10, b waits 0-10 and runs 10-20. For a: n̄ = 2 over its life,
  // alone it has 2 GPUs and takes 20 s: ρ = 10 / 20. For b: n̄ = 1.5, 10 s × 1.5: ρ = 20 / 15.
  ReplayResult r;
  r.jobs = {record(0, 0, 10, 4000), record(0, 10, 20, 4000)};
  r.samples = {{Instant{0}, 4000, 4000, 4000, 1, 1, 0},
               {Instant{10'000}, 4000, 4000, 0, 1, 0, 0},
               {Instant{20'000}, 4000, 0, 0, 0, 0, 0}};
  const Summary s = summarise(r, 4);
  ASSERT_EQ(s.finish_time.sorted.size(), 2u);
  EXPECT_DOUBLE_EQ(s.finish_time.sorted[0], 0.5);
  EXPECT_DOUBLE_EQ(s.finish_time.worst, 20.0 / 15);
  EXPECT_DOUBLE_EQ(s.finish_time.unfair_percent, 50);
  EXPECT_DOUBLE_EQ(s.allocated_percent, 100);
  ASSERT_EQ(s.buckets.size(), 4u);
  EXPECT_DOUBLE_EQ(s.buckets[0].waiting, 4);
  EXPECT_DOUBLE_EQ(s.buckets[3].waiting, 0);
}

TEST(Text, ReadsLikeAPersonWouldWriteIt) {
  EXPECT_EQ(grouped(1234567.4), "1,234,567");
  EXPECT_EQ(grouped(-1234), "-1,234");
  EXPECT_EQ(grouped(0.2), "0");
  EXPECT_EQ(duration_words(0.2), "0 s");
  EXPECT_EQ(duration_words(61), "61 s");
  EXPECT_EQ(duration_words(150), "2.5 min");
  EXPECT_EQ(duration_words(3 * 86'400), "3.0 d");
  EXPECT_EQ(escape_html("<a href='x'>&\""), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;");
}

TEST(Svg, StepsOfAxesAreRound) {
  EXPECT_DOUBLE_EQ(nice_step(100, 5), 20);
  EXPECT_DOUBLE_EQ(nice_step(7, 5), 2);
  EXPECT_DOUBLE_EQ(nice_step(0, 5), 1);
}

TEST(Page, StandsAloneAndEscapesNames) {
  ReplayResult r;
  r.jobs = {record(0, 0, 10, 1000)};
  r.jobs[0].project = "<script>alert(1)</script>";
  r.projects = {{r.jobs[0].project, 1000, 10'000, 10'000, 0}};
  r.samples = {{Instant{0}, 4000, 1000, 0, 1, 0, 0}, {Instant{10'000}, 4000, 0, 0, 0, 0, 0}};
  const std::string page = replay_page("A & B", {{"seed", "1"}}, r, summarise(r));
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos);  // nothing fetched, no link out
  EXPECT_NE(page.find("<title>A &amp; B · Fairlead</title>"), std::string::npos);
  EXPECT_NE(page.find("prefers-color-scheme: dark"), std::string::npos);
}

TEST(Page, OfAnEmptyReplayIsStillAPage) {
  const ReplayResult r;
  EXPECT_NE(replay_page("Nothing", {}, r, summarise(r)).find("</html>"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::sim
