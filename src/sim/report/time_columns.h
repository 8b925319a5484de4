// Tables of times: each column in one unit, the one that its middle time (of those above 0) is read
// best in, named in its header ("P90 [h]"). So the numbers of a column compare at a glance.
#pragma once

#include <string>
#include <vector>

namespace fairlead::sim {

struct TextTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::size_t> times;  // columns whose cells are seconds, as time_cell() writes them

  void column(std::string name) { header.push_back(std::move(name)); }
  void time_column(std::string name) {
    times.push_back(header.size());
    header.push_back(std::move(name));
  }
  // Gives the columns of times their units. Once, when all rows are there.
  void settle_times();
};

std::string time_cell(double seconds);

}  // namespace fairlead::sim
