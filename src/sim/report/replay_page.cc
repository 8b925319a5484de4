#include "sim/report/replay_page.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "sim/report/svg.h"
#include "sim/report/text.h"
#include "sim/report/time_columns.h"

namespace fairlead::sim {
namespace {

// The x axis counts hours of short replays and days of long ones.
struct TimeAxis {
  const char* label = "hours since the first submit";
  double per_unit = 1;
};

TimeAxis axis_of(const Summary& s) {
  if (s.makespan_seconds > 5 * 86'400) return {"days since the first submit", 24};
  return {};
}

Series series_of(const Summary& s, const TimeAxis& axis, double Bucket::* field, std::string label,
                 std::string colour, Mark mark) {
  Series series;
  series.label = std::move(label);
  series.colour = std::move(colour);
  series.mark = mark;
  series.steps = true;
  for (const Bucket& b : s.buckets) {
    series.points.emplace_back(b.from_hours / axis.per_unit, b.*field);
  }
  if (!series.points.empty()) {
    series.points.emplace_back(s.makespan_seconds / 3600 / axis.per_unit,
                               series.points.back().second);
  }
  return series;
}

void allocation_section(Page& page, const Summary& s, const TimeAxis& axis) {
  page.section("GPUs in use",
               "Devices held by running jobs, against the healthy devices there are.");
  page.legend({{"c1", "allocated"}, {"muted", "capacity"}});
  LineChart chart;
  chart.title = "GPUs in use over time";
  chart.description = fmt::format("On average {} % of {} GPUs were allocated.",
                                  fixed(s.allocated_percent, 1), grouped(s.capacity_gpus));
  chart.x_label = axis.label;
  chart.y_label = "GPUs";
  chart.series = {series_of(s, axis, &Bucket::allocated, "allocated GPUs", "c1", Mark::kArea),
                  series_of(s, axis, &Bucket::capacity, "healthy GPUs", "muted", Mark::kDashed)};
  page.chart(line_chart(chart));
}

void waiting_section(Page& page, const Summary& s, const TimeAxis& axis) {
  page.section("Demand that waits",
               "GPUs asked for by jobs that were submitted and do not run yet.");
  page.legend({{"c2", "GPUs asked for by waiting jobs"}});
  LineChart chart;
  chart.title = "GPUs asked for by waiting jobs over time";
  chart.description =
      fmt::format("Half of the jobs waited less than {}.", duration_words(s.wait.p50));
  chart.x_label = axis.label;
  chart.y_label = "GPUs";
  chart.series = {series_of(s, axis, &Bucket::waiting, "waiting GPUs", "c2", Mark::kArea)};
  page.chart(line_chart(chart));
}

void fragmentation_section(Page& page, const Summary& s, const TimeAxis& axis) {
  page.section("Fragmentation",
               "Free GPU capacity, and the part of it that the trace's mix of requests cannot use "
               "where it is (the measure of FGD).");
  page.legend({{"muted", "free"}, {"c4", "free but of no use to the mix"}});
  Series free = series_of(s, axis, &Bucket::capacity, "free GPUs", "muted", Mark::kArea);
  for (std::size_t i = 0; i < free.points.size(); ++i) {
    const Bucket& b = s.buckets[std::min(i, s.buckets.size() - 1)];
    free.points[i].second = std::max(0.0, b.capacity - b.allocated);
  }
  LineChart chart;
  chart.title = "Free and fragmented GPUs over time";
  chart.description = fmt::format("On average {} % of the capacity was free but unusable.",
                                  fixed(s.fragmentation_percent, 1));
  chart.x_label = axis.label;
  chart.y_label = "GPUs";
  chart.series = {std::move(free),
                  series_of(s, axis, &Bucket::fragmented, "fragmented GPUs", "c4", Mark::kArea)};
  page.chart(line_chart(chart));
}

void waits_section(Page& page, const std::string& what, const std::vector<WaitGroup>& groups) {
  if (groups.empty()) return;
  page.section(
      "Waiting time by " + what,
      "From submit to first start. Each row shows how long half, 90 % and 99 % of its jobs "
      "waited at most; the axis is logarithmic.");
  page.legend({{"c1", "half of the jobs"}, {"c2", "90 %"}, {"c3", "99 %"}});
  std::vector<RangeRow> rows;
  TextTable table;
  table.column(what);
  table.column("jobs");
  for (const char* name : {"mean", "half", "90 %", "99 %", "longest"}) table.time_column(name);
  for (const WaitGroup& group : groups) {
    const Quantiles& q = group.wait;
    const std::string jobs =
        grouped(static_cast<double>(q.count)) + (q.count == 1 ? " job" : " jobs");
    rows.push_back({group.label, jobs, q.p50, q.p90, q.p99});
    table.rows.push_back({group.label, grouped(static_cast<double>(q.count)), time_cell(q.mean),
                          time_cell(q.p50), time_cell(q.p90), time_cell(q.p99), time_cell(q.max)});
  }
  page.chart(range_chart("Waiting time by " + what, "Median, 90th and 99th percentile.", rows));
  table.settle_times();
  page.table(table.header, table.rows);
}

void fairness_section(Page& page, const Summary& s) {
  if (s.fairness.empty()) return;
  page.section(
      "Shares of the projects",
      "GPU time each project received, beside the GPU time its fair share entitled it to "
      "while it had demand. More than entitled is what others left idle. Missed is what it "
      "was entitled to and waited for: while lent to others, or else while none of its "
      "waiting jobs fitted what was free.");
  page.legend({{"c1", "received"}, {"c2", "entitled"}});
  std::vector<PairRow> rows;
  std::vector<std::vector<std::string>> cells;
  for (const FairnessRow& row : s.fairness) {
    rows.push_back({row.project, row.received_gpu_hours, row.entitled_gpu_hours});
    cells.push_back(fairness_cells(row, "–"));
  }
  page.chart(pair_chart("GPU-hours received and entitled by project", "Two bars per project.",
                        "GPU-hours", "received", "entitled", rows));
  page.table({"project", "quota", "received GPU-h", "of all", "entitled", "of entitled", "missed",
              "while lent", "preempted", "lost GPU-h"},
             cells);
}

Series rho_curve(const FinishTimeFairness& f, std::string label, std::string colour) {
  Series series;
  series.label = std::move(label);
  series.colour = std::move(colour);
  const std::size_t n = f.sorted.size();
  const std::size_t stride = std::max<std::size_t>(1, n / 400);
  for (std::size_t i = 0; i < n; i += stride) {
    series.points.emplace_back(f.sorted[i],
                               100.0 * static_cast<double>(i + 1) / static_cast<double>(n));
  }
  series.points.emplace_back(f.worst, 100);
  return series;
}

void finish_time_section(Page& page, const Summary& s, const Comparison& comparison) {
  const FinishTimeFairness& f = s.finish_time;
  if (f.sorted.empty()) return;
  page.section("Finish-time fairness",
               "ρ compares a job's completion time with the time in a private cluster of an equal "
               "part of the GPUs. Left of the mark at 1, sharing was better than owning.");
  LineChart chart;
  chart.title = "Distribution of finish-time fairness";
  chart.description = fmt::format("Worst {}, {} % of the jobs above 1.", fixed(f.worst, 1),
                                  fixed(f.unfair_percent, 1));
  chart.x_label = "ρ (logarithmic)";
  chart.y_label = "% of jobs";
  chart.log_x = true;
  chart.x_min = std::min(0.1, std::max(0.001, f.sorted.front()));
  chart.x_max = std::max(10.0, f.worst);
  chart.y_max = 100;
  chart.vertical_rule = 1;
  std::vector<PolicyFairness> policies = comparison.policies;
  if (policies.empty()) policies.push_back({"this replay", f, s.completion});
  constexpr std::array<const char*, 3> kColours{"c3", "c2", "c4"};
  KeyValues legend;
  TextTable table;
  table.column("policy");
  for (const char* name : {"worst ρ", "99 %", "90 %", "half", "jobs above 1"}) table.column(name);
  table.time_column("mean completion");
  for (std::size_t i = 0; i < policies.size(); ++i) {
    const PolicyFairness& p = policies[i];
    if (p.rho.sorted.empty()) continue;
    chart.x_max = std::max(chart.x_max, p.rho.worst);
    legend.emplace_back(kColours[i], p.policy);
    chart.series.push_back(rho_curve(p.rho, p.policy, kColours[i]));
    table.rows.push_back({p.policy, fixed(p.rho.worst, 2), fixed(p.rho.p99, 2), fixed(p.rho.p90, 2),
                          fixed(p.rho.p50, 2), fixed(p.rho.unfair_percent, 1) + " %",
                          time_cell(p.completion.mean)});
  }
  legend.emplace_back("rule", "ρ = 1");
  page.legend(legend);
  page.chart(line_chart(chart));
  table.settle_times();
  page.table(table.header, table.rows);
}

void safety_section(Page& page, const Comparison& comparison) {
  if (comparison.safety.empty()) return;
  page.section("What quotas promise",
               "Jobs whose project asked for no more than its quota while they waited, against the "
               "same jobs alone in a private cluster of that quota. None should wait longer than "
               "there by more than one gang takes to drain.");
  TextTable table;
  table.column("project");
  for (const char* name : {"quota", "within quota", "waited longer", "beyond a drain"}) {
    table.column(name);
  }
  table.time_column("drain");
  table.time_column("longest excess");
  for (const SafetyRow& row : comparison.safety) {
    table.rows.push_back(
        {row.project, fixed(row.quota_gpus, 0), grouped(static_cast<double>(row.within)),
         grouped(static_cast<double>(row.longer)), grouped(static_cast<double>(row.unsafe)),
         time_cell(row.drain_seconds), time_cell(row.longest_excess_seconds)});
  }
  table.settle_times();
  page.table(table.header, table.rows);
}

}  // namespace

std::string replay_page(const std::string& title, const KeyValues& settings,
                        const ReplayResult& result, const Summary& s,
                        const Comparison& comparison) {
  Page page(title, fmt::format("{} jobs on {} GPUs in {} of virtual time; every decision by the "
                               "production scheduling core.",
                               grouped(static_cast<double>(s.jobs)), grouped(s.capacity_gpus),
                               duration_words(s.makespan_seconds)));
  KeyValues figures{{fixed(s.allocated_percent, 1) + " %", "of GPU time allocated"},
                    {duration_words(s.wait.p50), "median wait"},
                    {duration_words(s.wait.p99), "99 % waited less"},
                    {duration_words(s.completion.mean), "mean completion time"},
                    {fixed(s.fragmentation_percent, 1) + " %", "of GPU time fragmented"}};
  if (result.preemptions > 0) {
    figures.emplace_back(grouped(static_cast<double>(result.preemptions)), "preemptions");
  }
  if (s.lost_gpu_hours > 0) figures.emplace_back(grouped(s.lost_gpu_hours), "GPU-hours lost");
  if (result.faults > 0) {
    figures.emplace_back(grouped(static_cast<double>(result.fault_stops)),
                         "jobs stopped by faults");
  }
  if (s.refused + s.unfinished > 0) {
    figures.emplace_back(grouped(static_cast<double>(s.refused + s.unfinished)),
                         "jobs that never ran");
  }
  page.figures(figures);
  const TimeAxis axis = axis_of(s);
  allocation_section(page, s, axis);
  waiting_section(page, s, axis);
  waits_section(page, "size", s.by_size);
  waits_section(page, "project", s.by_project);
  fairness_section(page, s);
  finish_time_section(page, s, comparison);
  safety_section(page, comparison);
  fragmentation_section(page, s, axis);
  page.section("Settings", "What was replayed, and how.");
  page.settings(settings);
  return page.html();
}

}  // namespace fairlead::sim
