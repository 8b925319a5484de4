#include "sim/csv/checked.h"

#include <utility>

#include <fmt/core.h>

#include "sim/csv/csv_file.h"

namespace fairlead::sim {

void RowErrors::add(Error error) {
  if (errors_.size() < kMostErrors) {
    errors_.push_back(std::move(error));
  } else {
    ++more_;
  }
}

std::vector<Error> RowErrors::take(const std::string& file) {
  if (more_ > 0) {
    errors_.push_back(Error{errors_.front().code, fmt::format("and {} more", more_), file, {}, {}});
  }
  return std::move(errors_);
}

Checked<void> read_rows(const CsvFile& file, const std::function<Result<void>(std::size_t)>& read) {
  RowErrors errors;
  for (std::size_t row = 0; row < file.rows(); ++row) {
    if (auto done = read(row); !done) errors.add(std::move(done).error());
  }
  if (errors.empty()) return {};
  return std::unexpected(errors.take(file.name()));
}

}  // namespace fairlead::sim
