// What is read from a table: a value, or all that is wrong with the rows, by line, so that a file
// is mended in one go.
//
// Invariant: the list of errors is not empty and holds at most kMostErrors, and then one that
// counts the rest.
#pragma once

#include <cstddef>
#include <expected>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"

namespace fairlead::sim {

class CsvFile;

template <class T>
using Checked = std::expected<T, std::vector<Error>>;

// A value, or the one thing that is wrong.
template <class T>
Checked<T> checked(Result<T> result) {
  if (!result) return std::unexpected(std::vector<Error>{std::move(result).error()});
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return std::move(*result);
  }
}

class RowErrors {
 public:
  static constexpr std::size_t kMostErrors = 10;

  void add(Error error);
  bool empty() const { return errors_.empty(); }
  // "and N more like these in FILE" ends the list if there were more.
  std::vector<Error> take(const std::string& file);

 private:
  std::vector<Error> errors_;
  std::size_t more_ = 0;
};

// Calls `read` for each row.
Checked<void> read_rows(const CsvFile& file, const std::function<Result<void>(std::size_t)>& read);

}  // namespace fairlead::sim
