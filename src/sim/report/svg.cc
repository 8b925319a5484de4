#include "sim/report/svg.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

#include "sim/report/text.h"

namespace fairlead::sim {
namespace {

constexpr double kWidth = 560;
constexpr double kHeight = 230;
constexpr double kLeft = 56;
constexpr double kRight = 14;
constexpr double kTop = 14;
constexpr double kBottom = 42;
constexpr double kRowHeight = 28;
constexpr double kLabelWidth = 108;
constexpr double kNoteWidth = 84;
constexpr double kBarEnd = kWidth - 62;

std::string opening(const std::string& title, const std::string& description, double height) {
  return fmt::format(
      "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">"
      "<title>{}</title><desc>{}</desc>\n",
      kWidth, height, escape_html(title + ". " + description), escape_html(title),
      escape_html(description));
}

std::string text_at(double x, double y, const char* anchor, const char* css,
                    const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n",
                     x, y, anchor, css, escape_html(text));
}

std::string line_at(double x1, double y1, double x2, double y2, const char* css) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1, x2,
      y2, css);
}

std::string tick_text(double value, double step) {
  if (step >= 1) return grouped(value);
  return fixed(value, step >= 0.1 ? 1 : (step >= 0.01 ? 2 : 3));
}

struct Scale {
  double low = 0;
  double high = 1;
  double from = 0;
  double to = 1;
  bool log = false;
  double operator()(double v) const {
    const double a = log ? std::log10(low) : low;
    const double b = log ? std::log10(high) : high;
    const double x = log ? std::log10(std::max(v, low)) : v;
    return b > a ? from + (to - from) * std::clamp((x - a) / (b - a), 0.0, 1.0) : from;
  }
};

std::string path_of(const Series& series, const Scale& x, const Scale& y) {
  std::string d;
  double previous = 0;
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    const auto [px, py] = series.points[i];
    if (i > 0 && series.steps) d += fmt::format("L{:.1f} {:.1f}", x(px), y(previous));
    d += fmt::format("{}{:.1f} {:.1f}", i == 0 ? "M" : "L", x(px), y(py));
    previous = py;
  }
  return d;
}

std::string marks(const Series& series, const Scale& x, const Scale& y) {
  if (series.points.empty()) return {};
  const std::string path = path_of(series, x, y);
  std::string out;
  if (series.mark == Mark::kArea) {
    out += fmt::format("<path d=\"{}L{:.1f} {:.1f}L{:.1f} {:.1f}Z\" class=\"area {}\"/>\n", path,
                       x(series.points.back().first), y(0), x(series.points.front().first), y(0),
                       series.colour);
  }
  out += fmt::format("<path d=\"{}\" class=\"line {}{}\"><title>{}</title></path>\n", path,
                     series.colour, series.mark == Mark::kDashed ? " dashed" : "",
                     escape_html(series.label));
  return out;
}

std::string x_axis(const LineChart& chart, const Scale& x) {
  std::string out;
  const double base = kHeight - kBottom;
  const auto tick = [&](double v, const std::string& label) {
    out += line_at(x(v), base, x(v), base + 4, "axis");
    out += text_at(x(v), base + 17, "middle", "tick", label);
  };
  if (chart.log_x) {
    for (double v = std::pow(10, std::ceil(std::log10(x.low))); v <= x.high * 1.0001; v *= 10) {
      tick(v, v >= 1 ? grouped(v) : fmt::format("{:g}", v));
    }
  } else {
    const double step = nice_step(x.high - x.low, 7);
    for (double v = std::ceil(x.low / step) * step; v <= x.high + step / 1000; v += step) {
      tick(v, tick_text(v, step));
    }
  }
  out += line_at(kLeft, base, kWidth - kRight, base, "axis");
  out += text_at((kLeft + kWidth - kRight) / 2, kHeight - 6, "middle", "label", chart.x_label);
  return out;
}

std::string duration_tick(double seconds) {
  if (seconds < 60) return fmt::format("{:.0f} s", seconds);
  if (seconds < 3600) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 86'400) return fmt::format("{:.0f} h", seconds / 3600);
  return fmt::format("{:.0f} d", seconds / 86'400);
}

}  // namespace

double nice_step(double high, int most) {
  if (!(high > 0)) return 1;
  const double raw = high / most;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double m : {1.0, 2.0, 5.0}) {
    if (raw <= m * power * 1.0000001) return m * power;
  }
  return 10 * power;
}

std::string line_chart(const LineChart& chart) {
  double x_max = chart.x_max;
  double y_max = chart.y_max;
  for (const Series& series : chart.series) {
    for (const auto& [px, py] : series.points) {
      if (chart.x_max <= 0) x_max = std::max(x_max, px);
      if (chart.y_max <= 0) y_max = std::max(y_max, py);
    }
  }
  const double step = nice_step(y_max > 0 ? y_max : 1, 5);
  y_max = std::max(step, std::ceil(y_max / step - 1e-9) * step);
  const Scale x{chart.x_min, x_max, kLeft, kWidth - kRight, chart.log_x};
  const Scale y{0, y_max, kHeight - kBottom, kTop, false};
  std::string out = opening(chart.title, chart.description, kHeight);
  for (double v = 0; v <= y_max + step / 1000; v += step) {
    out += line_at(kLeft, y(v), kWidth - kRight, y(v), "grid");
    out += text_at(kLeft - 7, y(v) + 4, "end", "tick", tick_text(v, step));
  }
  out += fmt::format(
      "<text transform=\"translate(14 {:.1f}) rotate(-90)\" text-anchor=\"middle\" "
      "class=\"label\">{}</text>\n",
      (kTop + kHeight - kBottom) / 2, escape_html(chart.y_label));
  for (const Series& series : chart.series) out += marks(series, x, y);
  if (chart.vertical_rule >= 0) {
    out += line_at(x(chart.vertical_rule), kTop, x(chart.vertical_rule), kHeight - kBottom, "rule");
  }
  out += x_axis(chart, x);
  return out + "</svg>\n";
}

std::string range_chart(const std::string& title, const std::string& description,
                        const std::vector<RangeRow>& rows) {
  constexpr std::array<double, 10> kTicks{1,      10,     60,      600,       3600,
                                          21'600, 86'400, 864'000, 8'640'000, 86'400'000};
  double longest = 10;
  for (const RangeRow& row : rows) longest = std::max(longest, row.p99);
  const double high = *std::lower_bound(kTicks.begin(), kTicks.end() - 1, longest);
  const double height = kTop + kRowHeight * static_cast<double>(rows.size()) + kBottom - 12;
  const Scale x{1, high, kLabelWidth, kWidth - kNoteWidth, true};
  const double base = height - kBottom + 12;
  std::string out = opening(title, description, height);
  for (const double v : kTicks) {
    if (v > high) break;
    out += line_at(x(v), kTop - 6, x(v), base, "grid");
    out += text_at(x(v), base + 16, "middle", "tick", v <= 1 ? "≤ 1 s" : duration_tick(v));
  }
  double y = kTop + kRowHeight / 2 - 4;
  for (const RangeRow& row : rows) {
    out += fmt::format("<g><title>{}: half below {}, 90 % below {}, 99 % below {}</title>\n",
                       escape_html(row.label), duration_words(row.p50), duration_words(row.p90),
                       duration_words(row.p99));
    out += text_at(kLabelWidth - 12, y + 4, "end", "row", row.label);
    out += line_at(x(row.p50), y, x(row.p99), y, "range");
    out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5.5\" class=\"dot c1\"/>\n",
                       x(row.p50), y);
    out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.5\" class=\"dot c2\"/>\n",
                       x(row.p90), y);
    out += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"3\" height=\"14\" class=\"dot c3\"/>\n",
        x(row.p99) - 1.5, y - 7);
    out += text_at(kWidth - kNoteWidth + 14, y + 4, "start", "tick", row.note);
    out += "</g>\n";
    y += kRowHeight;
  }
  return out + "</svg>\n";
}

std::string pair_chart(const std::string& title, const std::string& description,
                       const std::string& unit, const std::string& first_name,
                       const std::string& second_name, const std::vector<PairRow>& rows) {
  constexpr double kPairHeight = 40;
  constexpr double kBar = 13;
  double most = 0;
  for (const PairRow& row : rows) most = std::max({most, row.first, row.second});
  const double step = nice_step(most > 0 ? most : 1, 5);
  const double high = std::max(step, std::ceil(most / step - 1e-9) * step);
  const double height = kTop + kPairHeight * static_cast<double>(rows.size()) + kBottom;
  const double base = height - kBottom;
  const Scale x{0, high, kLabelWidth, kBarEnd, false};
  std::string out = opening(title, description, height);
  for (double v = 0; v <= high + step / 1000; v += step) {
    out += line_at(x(v), kTop - 6, x(v), base, "grid");
    out += text_at(x(v), base + 16, "middle", "tick", tick_text(v, step));
  }
  out += text_at((kLabelWidth + kBarEnd) / 2, height - 6, "middle", "label", unit);
  double y = kTop;
  const auto bar = [&](double at, double value, const char* css, const std::string& name) {
    out += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" rx=\"2\" class=\"bar "
        "{}\">"
        "<title>{}: {}</title></rect>\n",
        kLabelWidth, at, std::max(0.5, x(value) - kLabelWidth), kBar, css, escape_html(name),
        tick_text(value, step));
    out += text_at(x(value) + 6, at + kBar - 2, "start", "tick", tick_text(value, step));
  };
  for (const PairRow& row : rows) {
    out += text_at(kLabelWidth - 12, y + kBar + 5, "end", "row", row.label);
    bar(y, row.first, "c1", row.label + ", " + first_name);
    bar(y + kBar + 2, row.second, "c2", row.label + ", " + second_name);
    y += kPairHeight;
  }
  return out + "</svg>\n";
}

}  // namespace fairlead::sim
