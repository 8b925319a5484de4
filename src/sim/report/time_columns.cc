#include "sim/report/time_columns.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include <fmt/core.h>

#include "sim/report/text.h"

namespace fairlead::sim {
namespace {

struct Unit {
  const char* name;
  double seconds;
  double up_to;  // of the longest time, in seconds
  int decimals;
};

// The bounds are those of duration_words().
constexpr std::array<Unit, 4> kUnits{
    {{"s", 1, 90, 1}, {"min", 60, 90 * 60, 1}, {"h", 3600, 48 * 3600, 2}, {"d", 86'400, 1e300, 2}}};

}  // namespace

std::string time_cell(double seconds) {
  return fmt::format("{}", seconds);
}

void TextTable::settle_times() {
  for (const std::size_t at : times) {
    std::vector<double> values;
    for (const auto& row : rows) {
      const double seconds = std::strtod(row[at].c_str(), nullptr);
      if (seconds > 0) values.push_back(seconds);
    }
    std::sort(values.begin(), values.end());
    const double middle = values.empty() ? 0 : values[values.size() / 2];
    const Unit& unit = *std::find_if(kUnits.begin(), kUnits.end(),
                                     [&](const Unit& u) { return middle < u.up_to; });
    header[at] += fmt::format(" [{}]", unit.name);
    for (auto& row : rows) {
      const double seconds = std::strtod(row[at].c_str(), nullptr);
      row[at] = fixed(seconds / unit.seconds, unit.decimals);
    }
  }
  times.clear();
}

}  // namespace fairlead::sim
