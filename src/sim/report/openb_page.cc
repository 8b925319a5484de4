#include "sim/report/openb_page.h"

#include <algorithm>

#include "sim/report/svg.h"
#include "sim/report/text.h"

namespace fairlead::sim {
namespace {

constexpr std::size_t kFull = 100;

void curves(Page& page, const std::vector<OpenbRun>& runs, const OpenbRun& mean,
            ByArrived OpenbRun::* field, const std::string& title, const std::string& y_label,
            std::size_t from_percent) {
  page.legend({{"c1", "mean of the seeds"}, {"muted", "each seed"}, {"rule", "100 % arrived"}});
  LineChart chart;
  chart.title = title;
  chart.description = "Mean at 100 % arrived: " + fixed((mean.*field)[kFull], 2) + " %.";
  chart.x_label = "arrived GPU volume, % of the cluster";
  chart.y_label = y_label;
  chart.vertical_rule = kFull;
  chart.x_min = static_cast<double>(from_percent);
  chart.x_max = static_cast<double>(kArrivedPercents - 1);
  const auto add = [&](const OpenbRun& run, const std::string& label, const std::string& colour) {
    Series series;
    series.label = label;
    series.colour = colour;
    for (std::size_t i = from_percent; i < kArrivedPercents; ++i) {
      if ((run.*field)[i] >= 0) series.points.emplace_back(static_cast<double>(i), (run.*field)[i]);
    }
    chart.series.push_back(std::move(series));
  };
  for (const OpenbRun& run : runs) add(run, "seed " + std::to_string(run.seed), "muted");
  add(mean, "mean", "c1");
  page.chart(line_chart(chart));
}

}  // namespace

std::string openb_page(const std::string& policy, const KeyValues& settings,
                       const std::vector<OpenbRun>& runs) {
  const OpenbRun mean = mean_of(runs);
  Page page("Filling a cluster with policy " + policy,
            "Pods arrive one at a time and never leave; one that does not fit at once is lost. "
            "Every placement by the production scheduling core.");
  page.figures({{fixed(mean.unallocated_percent[kFull], 2) + " %", "unallocated at 100 % arrived"},
                {fixed(mean.fragmentation_percent[kFull], 2) + " %", "fragmented at 100 % arrived"},
                {std::to_string(runs.size()), runs.size() == 1 ? "seed" : "seeds"}});
  page.section("Unallocated GPUs",
               "GPU capacity that nobody holds, from where the cluster begins to fill.");
  curves(page, runs, mean, &OpenbRun::unallocated_percent,
         "Unallocated GPU capacity by arrived load", "% unallocated", 80);
  page.section("Fragmentation",
               "Free GPU capacity that the list's mix of requests cannot use where it is.");
  curves(page, runs, mean, &OpenbRun::fragmentation_percent,
         "Fragmented GPU capacity by arrived load", "% fragmented", 0);
  page.section("Seeds", "Unallocated and fragmented GPU capacity at 100 % arrived.");
  std::vector<std::vector<std::string>> rows;
  for (const OpenbRun& run : runs) {
    rows.push_back({std::to_string(run.seed), fixed(run.unallocated_percent[kFull], 2),
                    fixed(run.fragmentation_percent[kFull], 2),
                    grouped(static_cast<double>(run.pods)),
                    grouped(static_cast<double>(run.placed))});
  }
  page.table({"seed", "unallocated %", "fragmented %", "pods", "placed"}, rows);
  page.section("Settings", "What was replayed, and how.");
  page.settings(settings);
  return page.html();
}

}  // namespace fairlead::sim
