#include "sim/cluster/over_time.h"

#include <algorithm>

namespace fairlead::sim {

void OverTime::add(double from, double to, const std::vector<double>& now) {
  while (to > width_ * static_cast<double>(kMostPoints)) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (i % 2 == 0) {
        parts_[i / 2] = parts_[i];
      } else {
        for (std::size_t v = 0; v < values_; ++v) parts_[i / 2][v] += parts_[i][v];
      }
    }
    parts_.resize((parts_.size() + 1) / 2);
    width_ *= 2;
  }
  while (from < to) {
    const auto part = static_cast<std::size_t>(from / width_);
    double until = std::min(to, width_ * static_cast<double>(part + 1));
    if (until <= from) until = to;  // a part too short to be told from nothing
    while (parts_.size() <= part) parts_.emplace_back(values_);
    for (std::size_t v = 0; v < values_; ++v) parts_[part][v] += now[v] * (until - from);
    from = until;
  }
  end_ = std::max(end_, to);
}

std::vector<std::pair<double, double>> OverTime::points(std::size_t value) const {
  std::vector<std::pair<double, double>> points;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const double from = width_ * static_cast<double>(i);
    const double length = std::min(width_, end_ - from);
    if (length > 0) points.emplace_back(from, parts_[i][value] / length);
  }
  return points;
}

double OverTime::mean(std::size_t value) const {
  double sum = 0;
  for (const auto& part : parts_) sum += part[value];
  return end_ > 0 ? sum / end_ : 0;
}

}  // namespace fairlead::sim
