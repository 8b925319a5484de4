// Values that hold for a while each, thinned to a few hundred means over equal parts of the time:
// what a chart can show of a run of any length.
//
// Invariant: at most kMostPoints points, each the time-weighted mean of its part. Where the time
// goes on, parts are joined in pairs. Cost: O(values) per add, spread over the calls.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace fairlead::sim {

class OverTime {
 public:
  static constexpr std::size_t kMostPoints = 360;

  // Time begins at 0; the first parts are `width` long. Requires: width > 0.
  OverTime(std::size_t values, double width) : values_(values), width_(width) {}

  // `now` held from `from` to `to`. Requires: from is where the last call ended.
  void add(double from, double to, const std::vector<double>& now);

  // (begin of the part, mean of one of the values in it).
  std::vector<std::pair<double, double>> points(std::size_t value) const;
  // Over all of the time.
  double mean(std::size_t value) const;

 private:
  std::size_t values_;
  double width_;
  double end_ = 0;
  std::vector<std::vector<double>> parts_;  // integrals
};

}  // namespace fairlead::sim
