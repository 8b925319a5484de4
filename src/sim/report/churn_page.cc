#include "sim/report/churn_page.h"

#include "sim/report/svg.h"
#include "sim/report/text.h"

namespace fairlead::sim {
namespace {

// One of the values of ChurnRun::state over time, each seed, and their mean.
void curves(Page& page, const std::vector<ChurnRun>& runs, std::size_t value, double mean,
            const std::string& what) {
  page.legend(
      {{"c1", "mean of the seeds"}, {"muted", "each seed"}, {"rule", "measured from here"}});
  LineChart chart;
  chart.title = what + " GPU capacity over time";
  chart.description = "Mean while measured: " + fixed(mean, 2) + " %.";
  chart.x_label = "mean lifetimes of a pod";
  chart.y_label = "% of the GPUs";
  chart.vertical_rule = kChurnWarmUp;
  chart.x_max = kChurnEnd;
  Series all{"mean", "c1", Mark::kLine, {}, true};
  for (const ChurnRun& run : runs) {
    Series one{"seed " + std::to_string(run.seed), "muted", Mark::kLine, run.state.points(value),
               true};
    all.points.resize(std::max(all.points.size(), one.points.size()));
    for (std::size_t i = 0; i < one.points.size(); ++i) {
      all.points[i].first = one.points[i].first;
      all.points[i].second += one.points[i].second / static_cast<double>(runs.size());
    }
    if (runs.size() > 1) chart.series.push_back(std::move(one));
  }
  chart.series.push_back(std::move(all));
  page.chart(line_chart(chart));
}

}  // namespace

std::string churn_page(const std::string& policy, const KeyValues& settings,
                       const std::vector<ChurnRun>& runs) {
  const ChurnRun mean = mean_of(runs);
  Page page("A cluster with departures under policy " + policy,
            "Pods arrive and leave at a steady load; one that does not fit at once is lost. Every "
            "placement by the production scheduling core.");
  page.figures({{fixed(mean.lost_percent, 2) + " %", "of the GPU volume lost on arrival"},
                {fixed(mean.unallocated_percent, 2) + " %", "unallocated on average"},
                {fixed(mean.fragmentation_percent, 2) + " %", "fragmented on average"},
                {std::to_string(runs.size()), runs.size() == 1 ? "seed" : "seeds"}});
  page.section("Unallocated GPUs",
               "GPU capacity that nobody holds, from an empty cluster on. What is measured begins "
               "at the mark, when the load is steady.");
  curves(page, runs, 0, mean.unallocated_percent, "Unallocated");
  page.section("Fragmentation",
               "Free GPU capacity that the list's mix of requests cannot use where it is.");
  curves(page, runs, 1, mean.fragmentation_percent, "Fragmented");
  page.section("Lost on arrival",
               "GPU volume that did not fit when it came, beside the capacity that was free on "
               "average: what is lost for want of room, and what for want of the right room.");
  page.legend({{"c1", "lost, % of what arrived"}, {"c2", "unallocated, % of the GPUs"}});
  std::vector<PairRow> bars;
  std::vector<std::vector<std::string>> rows;
  for (const ChurnRun& run : runs) {
    bars.push_back({"seed " + std::to_string(run.seed), run.lost_percent, run.unallocated_percent});
    rows.push_back({std::to_string(run.seed), fixed(run.lost_percent, 2),
                    fixed(run.unallocated_percent, 2), fixed(run.fragmentation_percent, 2),
                    grouped(static_cast<double>(run.pods)),
                    grouped(static_cast<double>(run.lost_pods))});
  }
  constexpr std::size_t kMostBars = 20;
  if (bars.size() > kMostBars) bars.resize(kMostBars);
  page.chart(pair_chart("GPU volume lost and GPU capacity unallocated by seed",
                        "Two bars per seed.", "%", "lost", "unallocated", bars));
  page.table({"seed", "lost volume %", "unallocated %", "fragmented %", "pods", "lost"}, rows);
  page.section("Settings", "What was replayed, and how.");
  page.settings(settings);
  return page.html();
}

}  // namespace fairlead::sim
