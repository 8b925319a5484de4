// A table of comma-separated values whose every cell can name its place.
//
// Readers of traces take it apart cell by cell; each accessor either returns the value or an Error
// with file, line, column, the value found, what is allowed, and the cure. Accepts a byte-order
// mark, CRLF line ends, blank lines and RFC 4180 quotes on one line.
//
// Cost: one pass over the text; cells are views into it. Immutable after parse().
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/csv/checked.h"

namespace fairlead::sim {

class CsvFile {
 public:
  // "-" is standard input. Error: kIo if the file cannot be read, else as parse().
  static Checked<CsvFile> read(const std::string& path);

  // Errors: kInvalidArgument for an empty text, a header without rows, a row with another number of
  // cells than the header, an open quote, control characters, text that is not UTF-8, a column
  // name that is empty or stated twice; kOutOfRange for too many columns.
  static Checked<CsvFile> parse(std::string name, std::string text);

  // Position of a column by name. Error: kInvalidArgument, naming the columns that there are.
  Result<std::size_t> column(std::string_view name) const;
  std::optional<std::size_t> find_column(std::string_view name) const;

  const std::vector<std::string>& columns() const { return header_; }

  const std::string& name() const { return name_; }
  std::size_t rows() const { return lines_.size(); }
  int line(std::size_t row) const { return lines_[row]; }
  std::string_view cell(std::size_t row, std::size_t column) const {
    return cells_[row * header_.size() + column];
  }

  // The cell, which must not be empty.
  Result<std::string> text(std::size_t row, std::size_t column) const;

  // A whole number in [low, high]. A fraction of zeros ("12.0") is a whole number.
  Result<std::int64_t> integer(std::size_t row, std::size_t column, std::int64_t low,
                               std::int64_t high) const;

  // The cell × 10^places as an integer, rounded half up where it has more decimals; `low` and
  // `high` are in the cell's own unit.
  Result<std::int64_t> scaled(std::size_t row, std::size_t column, int places, std::int64_t low,
                              std::int64_t high) const;

  // A measured number in [low, high]; for quantities that never enter a decision exactly.
  Result<double> number(std::size_t row, std::size_t column, double low, double high) const;

  // An Error at a cell: "FILE:LINE: column NAME: MESSAGE; CURE".
  Error error(std::size_t row, std::size_t column, std::string message, std::string cure = {},
              ErrorCode code = ErrorCode::kInvalidArgument) const;

 private:
  Checked<void> parse_lines();
  Result<void> take_header(const std::vector<std::string_view>& cells, int line);

  std::string name_;
  std::unique_ptr<std::string> text_;                  // stable address: cells point into it
  std::unique_ptr<std::deque<std::string>> unquoted_;  // cells that had quotes
  std::vector<std::string> header_;
  std::vector<std::string_view> cells_;  // row-major
  std::vector<int> lines_;               // line number of each row
};

// A value as a cell: in quotes if it holds a comma or a quote.
std::string csv_cell(const std::string& value);

}  // namespace fairlead::sim
