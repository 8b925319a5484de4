#include "sim/whatif/page.h"

#include <fmt/core.h>

#include "sim/report/svg.h"
#include "sim/report/text.h"

namespace fairlead::sim {
namespace {

// Hours of short logs, days of long ones.
Series series_of(const WhatIfComparison& c, const std::vector<UseBucket>& buckets,
                 double UseBucket::* field, double per_unit, std::string label, std::string colour,
                 Mark mark) {
  Series series;
  series.label = std::move(label);
  series.colour = std::move(colour);
  series.mark = mark;
  series.steps = true;
  const double step =
      c.length_seconds / static_cast<double>(std::max<std::size_t>(1, buckets.size())) / per_unit;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    series.points.emplace_back(static_cast<double>(i) * step, buckets[i].*field);
  }
  if (!series.points.empty()) {
    series.points.emplace_back(c.length_seconds / per_unit, series.points.back().second);
  }
  return series;
}

void use_section(Page& page, const WhatIfComparison& c) {
  const bool days = c.length_seconds > 5 * 86'400;
  const double per_unit = days ? 86'400 : 3'600;
  page.section("GPUs in use", "Devices held by running workloads, without and with the change.");
  page.legend({{"c1", "with the change"}, {"c2", "as it was"}, {"muted", "healthy GPUs then"}});
  LineChart chart;
  chart.title = "GPUs in use over time";
  chart.description = fmt::format("{} % of the GPU time was used as it was, {} % with the change.",
                                  fixed(c.used_percent_before, 1), fixed(c.used_percent_after, 1));
  chart.x_label = std::string(days ? "days" : "hours") +
                  (c.ahead ? " from now" : " since the start of the log");
  chart.y_label = "GPUs";
  chart.series = {
      series_of(c, c.use_after, &UseBucket::used_gpus, per_unit, "with the change", "c1",
                Mark::kArea),
      series_of(c, c.use_before, &UseBucket::used_gpus, per_unit, "as it was", "c2", Mark::kLine),
      series_of(c, c.use_after, &UseBucket::capacity_gpus, per_unit, "healthy GPUs", "muted",
                Mark::kDashed)};
  page.chart(line_chart(chart));
}

std::string arrow(const std::string& before, const std::string& after) {
  return before == after ? before : before + " → " + after;
}

std::string arrow(std::int64_t before, std::int64_t after) {
  return arrow(grouped(static_cast<double>(before)), grouped(static_cast<double>(after)));
}

std::vector<std::string> cells_of(const GroupRow& row) {
  return {row.queue.empty() ? "all" : row.queue,
          grouped(static_cast<double>(row.workloads)),
          grouped(static_cast<double>(row.earlier)),
          grouped(static_cast<double>(row.later)),
          grouped(static_cast<double>(row.newly)),
          grouped(static_cast<double>(row.never)),
          arrow(duration_words(row.before.mean_wait_seconds),
                duration_words(row.after.mean_wait_seconds)),
          arrow(duration_words(row.before.p95_wait_seconds),
                duration_words(row.after.p95_wait_seconds)),
          arrow(row.before.preemptions, row.after.preemptions),
          arrow(fixed(row.before.gpu_hours, 1), fixed(row.after.gpu_hours, 1))};
}

void queues_section(Page& page, const WhatIfComparison& c) {
  page.section("For whom",
               "Workloads by when they first started, and how long they waited for it; "
               "those that had not started by the end count in neither wait.");
  std::vector<PairRow> bars;
  for (const GroupRow& row : c.queues) {
    bars.push_back(
        {row.queue, row.before.mean_wait_seconds / 60, row.after.mean_wait_seconds / 60});
  }
  page.legend({{"c1", "as it was"}, {"c2", "with the change"}});
  page.chart(pair_chart("Mean wait by queue", "Two bars per queue.", "minutes", "as it was",
                        "with the change", bars));
  std::vector<std::vector<std::string>> rows;
  for (const GroupRow& row : c.queues) rows.push_back(cells_of(row));
  rows.push_back(cells_of(c.all));
  page.table({"queue", "workloads", "earlier", "later", "newly", "no more", "mean wait",
              "95 % wait", "preemptions", "GPU-hours"},
             rows);
}

std::string wait_cell(double seconds, bool started) {
  return started ? duration_words(seconds) : "not within " + duration_words(seconds);
}

void moved_section(Page& page, const char* heading, const char* text,
                   const std::vector<Moved>& list) {
  if (list.empty()) return;
  page.section(heading, text);
  std::vector<std::vector<std::string>> rows;
  for (const Moved& m : list) {
    rows.push_back({m.workload, m.queue, wait_cell(m.wait_before_seconds, m.started_before),
                    wait_cell(m.wait_after_seconds, m.started_after)});
  }
  page.table({"workload", "queue", "wait as it was", "with the change"}, rows);
}

}  // namespace

std::string whatif_page(const std::string& title, const KeyValues& settings,
                        const WhatIfComparison& c) {
  Page page(
      title,
      fmt::format("{} workloads in {}, played by the production scheduling core without and with "
                  "the change.",
                  grouped(static_cast<double>(c.all.workloads)),
                  c.ahead ? "the next " + duration_words(c.length_seconds)
                          : duration_words(c.length_seconds) + " of recorded time"));
  page.figures({{arrow(duration_words(c.all.before.mean_wait_seconds),
                       duration_words(c.all.after.mean_wait_seconds)),
                 "mean wait"},
                {arrow(fixed(c.used_percent_before, 1), fixed(c.used_percent_after, 1)) + " %",
                 "of GPU time used"},
                {arrow(c.all.before.preemptions, c.all.after.preemptions), "preemptions"}});
  if (!c.added.empty()) {
    page.section("The workloads added", "When they would start.");
    std::vector<std::vector<std::string>> rows;
    for (const AddedWorkload& added : c.added) {
      rows.push_back(
          {added.workload, added.queue,
           (added.started ? "after " : "not within ") + duration_words(added.wait_seconds)});
    }
    page.table({"workload", "queue", "starts"}, rows);
  }
  queues_section(page, c);
  use_section(page, c);
  moved_section(page, "Who gains most", "Workloads that start earlier with the change.", c.gained);
  moved_section(page, "Who loses most", "Workloads that start later with the change.", c.lost);
  page.section("Settings", c.ahead ? "What was asked." : "What was asked, of which log.");
  page.settings(settings);
  return page.html();
}

}  // namespace fairlead::sim
