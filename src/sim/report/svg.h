// Charts as inline SVG: no script, no network; colours come from the page's CSS classes (html.cc).
// Each chart has a title and a description for screen readers, and marks carry tooltips.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace fairlead::sim {

enum class Mark : std::uint8_t { kLine, kArea, kDashed };

struct Series {
  std::string label;
  std::string colour;  // CSS class: "c1" … "c4", or "muted"
  Mark mark = Mark::kLine;
  std::vector<std::pair<double, double>> points;
  bool steps = false;  // each value holds until the next point
};

struct LineChart {
  std::string title;  // read out, not drawn: the page has a heading
  std::string description;
  std::string x_label;
  std::string y_label;
  std::vector<Series> series;
  double y_max = 0;  // 0: from the data
  double x_min = 0;
  double x_max = 0;           // 0: from the data
  bool log_x = false;         // x_min > 0 then
  double vertical_rule = -1;  // a marked x; below 0: none
};
std::string line_chart(const LineChart& chart);

// p50, p90 and p99 of durations in seconds, one row each, on a logarithmic axis.
struct RangeRow {
  std::string label;
  std::string note;  // at the right: "1,204 jobs"
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
};
std::string range_chart(const std::string& title, const std::string& description,
                        const std::vector<RangeRow>& rows);

// Pairs of horizontal bars, e.g. received beside entitled.
struct PairRow {
  std::string label;
  double first = 0;
  double second = 0;
};
std::string pair_chart(const std::string& title, const std::string& description,
                       const std::string& unit, const std::string& first_name,
                       const std::string& second_name, const std::vector<PairRow>& rows);

// Steps of 1, 2 or 5 × 10^k that cut [0, high] into at most `most` parts.
double nice_step(double high, int most);

}  // namespace fairlead::sim
