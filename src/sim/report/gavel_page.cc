#include "sim/report/gavel_page.h"

#include <algorithm>

#include <fmt/core.h>

#include "sim/report/svg.h"
#include "sim/report/text.h"
#include "sim/report/time_columns.h"

namespace fairlead::sim {
namespace {

constexpr std::size_t kColours = 4;

std::string colour(std::size_t type) {
  return type < kColours ? fmt::format("c{}", type + 1) : "muted";
}

void completion_section(Page& page, const GavelResult& r) {
  page.section("Completion times",
               "From arrival to end, of the jobs that are measured. The curve shows which part of "
               "them was done within how many hours; the axis is logarithmic.");
  page.legend({{"c1", "part of the jobs done within this time"}, {"rule", "mean"}});
  LineChart chart;
  chart.title = "Distribution of completion times";
  chart.description =
      fmt::format("Half within {}, 99 % within {}.", duration_words(r.p50_hours * 3600),
                  duration_words(r.p99_hours * 3600));
  chart.x_label = "hours (logarithmic)";
  chart.y_label = "% of jobs";
  chart.log_x = true;
  chart.x_min = std::max(0.01, std::min(1.0, r.hours.front()));
  chart.x_max = std::max(10.0, r.hours.back());
  chart.y_max = 100;
  chart.vertical_rule = r.avg_hours;
  Series series{"jobs done within this time", "c1", Mark::kLine, {}, false};
  const std::size_t n = r.hours.size();
  for (std::size_t i = 0; i < n; i += std::max<std::size_t>(1, n / 400)) {
    series.points.emplace_back(r.hours[i],
                               100.0 * static_cast<double>(i + 1) / static_cast<double>(n));
  }
  series.points.emplace_back(r.hours.back(), 100);
  chart.series = {std::move(series)};
  page.chart(line_chart(chart));
  TextTable table;
  table.column("jobs");
  for (const char* name : {"mean", "half", "90 %", "99 %", "longest"}) table.time_column(name);
  table.rows.push_back({grouped(static_cast<double>(n)), time_cell(r.avg_hours * 3600),
                        time_cell(r.p50_hours * 3600), time_cell(r.hours[n * 9 / 10] * 3600),
                        time_cell(r.p99_hours * 3600), time_cell(r.hours.back() * 3600)});
  table.settle_times();
  page.table(table.header, table.rows);
}

LineChart over_time(const char* title, std::string description, const char* y_label) {
  LineChart chart;
  chart.title = title;
  chart.description = std::move(description);
  chart.x_label = "days since the first round";
  chart.y_label = y_label;
  return chart;
}

Series in_days(const OverTime& use, std::size_t value, std::string label, std::string css,
               Mark mark) {
  Series series{std::move(label), std::move(css), mark, use.points(value), true};
  for (auto& point : series.points) point.first /= 24;
  return series;
}

void use_section(Page& page, const GavelResult& r) {
  page.section("GPUs at work, by type",
               "Part of each type's GPUs that had a job. A type stays idle where nobody gains by "
               "it, or where what is left of it is too little for those that wait.");
  KeyValues legend;
  std::vector<std::vector<std::string>> rows;
  LineChart chart = over_time("GPUs at work over time, by type", "One line per type.", "% at work");
  chart.y_max = 100;
  for (std::size_t t = 0; t < r.types.size(); ++t) {
    if (t < kColours) legend.emplace_back(colour(t), r.types[t].type);
    chart.series.push_back(in_days(r.use, t + 1, r.types[t].type, colour(t), Mark::kLine));
    rows.push_back({r.types[t].type, grouped(static_cast<double>(r.types[t].gpus)),
                    fixed(r.use.mean(t + 1), 1) + " %"});
  }
  if (r.types.size() > kColours) legend.emplace_back("muted", "the others");
  page.legend(legend);
  page.chart(line_chart(chart));
  page.table({"type", "GPUs", "at work"}, rows);
}

}  // namespace

std::string gavel_page(const std::string& policy, const KeyValues& settings, const GavelResult& r) {
  Page page("Jobs on GPUs of several types under policy " + policy,
            fmt::format("{} rounds of six minutes; every placement by the production scheduling "
                        "core.",
                        grouped(static_cast<double>(r.rounds))));
  page.figures({{duration_words(r.avg_hours * 3600), "mean completion time"},
                {duration_words(r.p50_hours * 3600), "half were done within"},
                {duration_words(r.p99_hours * 3600), "99 % were done within"},
                {fixed(r.mean_active, 1), "jobs in the system, mean"},
                {grouped(static_cast<double>(r.preemptions)), "preemptions"},
                {grouped(static_cast<double>(r.moves)), "changes of type"}});
  completion_section(page, r);
  use_section(page, r);
  page.section("Jobs in the system", "Jobs that arrived and are not done, at work or waiting.");
  page.legend({{"c2", "jobs"}});
  LineChart chart =
      over_time("Jobs in the system over time", "Mean " + fixed(r.mean_active, 1) + ".", "jobs");
  chart.series = {in_days(r.use, 0, "jobs", "c2", Mark::kArea)};
  page.chart(line_chart(chart));
  page.section("Settings", "What was replayed, and how.");
  page.settings(settings);
  return page.html();
}

}  // namespace fairlead::sim
