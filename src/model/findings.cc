#include "model/findings.h"

#include <algorithm>

#include "base/printable.h"

namespace fairlead {
namespace {

constexpr std::size_t kKept = 100;

// The line is what follows the last colon of `where`.
long line_of(const Error& error) {
  const std::size_t colon = error.where.rfind(':');
  if (colon == std::string::npos) return 0;
  long line = 0;
  for (std::size_t i = colon + 1; i < error.where.size(); ++i) {
    if (error.where[i] < '0' || error.where[i] > '9') return 0;  // a colon of the file's name
    line = line * 10 + (error.where[i] - '0');
  }
  return line;
}

std::vector<Error> by_line(std::vector<Error>& kept, std::size_t& count, const std::string& file) {
  std::vector<std::pair<long, std::size_t>> order;  // line, then as found
  for (std::size_t i = 0; i < kept.size(); ++i) order.emplace_back(line_of(kept[i]), i);
  std::sort(order.begin(), order.end());
  std::vector<Error> out;
  for (const auto& [line, i] : order) out.push_back(std::move(kept[i]));
  if (count > out.size()) {
    Error more;
    more.where = file;
    more.message = "there are " + std::to_string(count - out.size()) + " more findings";
    more.cure = "mend those listed and run it again";
    out.push_back(std::move(more));
  }
  kept.clear();
  count = 0;
  return out;
}

}  // namespace

Error Findings::place(const Value& at, Error error) const {
  error.where = at.line() == 0 ? file_ : file_ + ":" + std::to_string(at.line());
  error.field = at.path();
  error.message = printable(std::move(error.message));
  return error;
}

void Findings::error(const Value& at, ErrorCode code, std::string message, std::string cure) {
  error(at, Error{code, std::move(message), {}, {}, std::move(cure)});
}

void Findings::error(const Value& at, Error error) {
  if (++error_count_ <= kKept) errors_.push_back(place(at, std::move(error)));
}

void Findings::warning(const Value& at, std::string message, std::string cure) {
  if (++warning_count_ > kKept) return;
  warnings_.push_back(
      place(at, Error{ErrorCode::kInvalidArgument, std::move(message), {}, {}, std::move(cure)}));
}

std::vector<Error> Findings::take_errors() {
  return by_line(errors_, error_count_, file_);
}

std::vector<Error> Findings::take_warnings() {
  return by_line(warnings_, warning_count_, file_);
}

Error first_of(const std::vector<Error>& errors) {
  if (errors.empty()) return {};
  Error first = errors.front();
  if (errors.size() > 1) {
    first.message += " (and " + std::to_string(errors.size() - 1) + " more errors)";
  }
  return first;
}

}  // namespace fairlead
