// What is wrong with a document, all of it: errors and warnings, each at its place.
//
// A reader reports what it finds and goes on, so that a person mends a file in one go. Kept are the
// first 100 of each; what is beyond is counted in a last entry. Not thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/document.h"

namespace fairlead {

class Findings {
 public:
  explicit Findings(std::string file) : file_(std::move(file)) {}

  // `message` is one sentence that names the value and what is allowed; `cure` what to do.
  void error(const Value& at, ErrorCode code, std::string message, std::string cure = {});
  // The same from an error without a place, such as parse_decimal() returns.
  void error(const Value& at, Error error);
  void warning(const Value& at, std::string message, std::string cure = {});

  bool ok() const { return error_count_ == 0; }
  std::size_t error_count() const { return error_count_; }

  // By line; leaves nothing behind.
  std::vector<Error> take_errors();
  std::vector<Error> take_warnings();

 private:
  Error place(const Value& at, Error error) const;

  std::string file_;
  std::vector<Error> errors_;
  std::vector<Error> warnings_;
  std::size_t error_count_ = 0;
  std::size_t warning_count_ = 0;
};

// Several errors as one, for interfaces that carry one: the first, with how many more there are.
Error first_of(const std::vector<Error>& errors);

}  // namespace fairlead
