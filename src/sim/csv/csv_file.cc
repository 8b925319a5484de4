#include "sim/csv/csv_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/core.h>

#include "base/printable.h"
#include "model/document.h"
#include "sim/csv/text_file.h"

namespace fairlead::sim {
namespace {

constexpr std::size_t kShownLength = 40;
constexpr std::size_t kMaxColumns = 1000;

// What a message shows of a value: bounded, and on one line.
std::string shown(std::string_view value) {
  std::size_t end = std::min(value.size(), kShownLength);
  while (end > 0 && end < value.size() && (value[end] & 0xC0) == 0x80) --end;
  std::string out = printable(std::string(value.substr(0, end)));
  if (value.size() > end) out += "…";
  return out;
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) {
    if (!out.empty()) out += ", ";
    out += shown(name);
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Tabs are blanks; all else must be printable.
bool is_text(std::string_view line) {
  while (!line.empty()) {
    const std::size_t tab = std::min(line.find('\t'), line.size());
    if (!is_printable(line.substr(0, tab))) return false;
    line.remove_prefix(std::min(tab + 1, line.size()));
  }
  return true;
}

// Splits one line. False: a quote stays open, or text follows a closing quote.
bool split_line(std::string_view line, std::deque<std::string>& unquoted,
                std::vector<std::string_view>& out) {
  out.clear();
  std::size_t at = 0;
  while (true) {
    if (at < line.size() && line[at] == '"') {
      std::string cell;
      ++at;
      while (true) {
        const std::size_t quote = line.find('"', at);
        if (quote == std::string_view::npos) return false;
        cell.append(line.substr(at, quote - at));
        at = quote + 1;
        if (at >= line.size() || line[at] != '"') break;
        cell += '"';
        ++at;
      }
      if (at < line.size() && line[at] != ',') return false;
      unquoted.push_back(std::move(cell));
      out.push_back(unquoted.back());
    } else {
      const std::size_t comma = std::min(line.find(',', at), line.size());
      out.push_back(trimmed(line.substr(at, comma - at)));
      at = comma;
    }
    if (at >= line.size()) return true;
    ++at;  // the comma
    if (at == line.size()) {
      out.push_back({});
      return true;
    }
  }
}

struct Parts {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
};

// "[+-]digits[.digits]", nothing else.
std::optional<Parts> decimal_parts(std::string_view text) {
  Parts parts;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    parts.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  const std::size_t dot = text.find('.');
  parts.whole = text.substr(0, dot);
  if (dot != std::string_view::npos) parts.fraction = text.substr(dot + 1);
  const auto digits = [](std::string_view s) {
    return std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  if (parts.whole.empty() && parts.fraction.empty()) return std::nullopt;
  if (!digits(parts.whole) || !digits(parts.fraction)) return std::nullopt;
  return parts;
}

}  // namespace

Checked<CsvFile> CsvFile::read(const std::string& path) {
  FAIRLEAD_ASSIGN(std::string text, checked(read_text_file(path)));
  return parse(document_name(path), std::move(text));
}

Checked<CsvFile> CsvFile::parse(std::string name, std::string text) {
  CsvFile file;
  file.name_ = std::move(name);
  file.text_ = std::make_unique<std::string>(std::move(text));
  file.unquoted_ = std::make_unique<std::deque<std::string>>();
  FAIRLEAD_TRY(file.parse_lines());
  return file;
}

// The names of the columns, from the first line.
Result<void> CsvFile::take_header(const std::vector<std::string_view>& cells, int line) {
  const auto refuse = [&](std::string message, std::string cure, ErrorCode code) {
    return fail(
        Error{code, std::move(message), fmt::format("{}:{}", name_, line), {}, std::move(cure)});
  };
  if (cells.size() > kMaxColumns) {
    return refuse(fmt::format("has {} columns, allowed are {}", cells.size(), kMaxColumns),
                  "remove those that are not needed", ErrorCode::kOutOfRange);
  }
  for (const std::string_view cell : cells) {
    if (cell.empty()) {
      return refuse(fmt::format("column {} has no name", header_.size() + 1),
                    "the first line names the columns", ErrorCode::kInvalidArgument);
    }
    if (find_column(cell)) {
      return refuse(fmt::format("column '{}' is there twice", shown(cell)), "remove one of them",
                    ErrorCode::kInvalidArgument);
    }
    header_.emplace_back(cell);
  }
  return {};
}

Checked<void> CsvFile::parse_lines() {
  std::string_view rest = *text_;
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
  RowErrors errors;
  std::vector<std::string_view> cells;
  int number = 0;
  const auto refuse = [&](std::string message, std::string cure) {
    errors.add(Error{ErrorCode::kInvalidArgument,
                     std::move(message),
                     fmt::format("{}:{}", name_, number),
                     {},
                     std::move(cure)});
  };
  while (!rest.empty()) {
    ++number;
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (trimmed(line).empty()) continue;
    if (!is_text(line)) {
      refuse(fmt::format("not UTF-8 text: '{}'", shown(line)),
             "save it as UTF-8, without control characters, with line ends LF or CRLF");
    } else if (!split_line(line, *unquoted_, cells)) {
      refuse(fmt::format("a quote is not closed in '{}'", shown(line)),
             "close it on the same line; write a quote inside as two quotes");
    } else if (header_.empty()) {
      FAIRLEAD_TRY(checked(take_header(cells, number)));
    } else if (cells.size() != header_.size()) {
      refuse(fmt::format("has {} cells; the header has {} columns ({})", cells.size(),
                         header_.size(), joined(header_)),
             "give each column one cell, an empty one where nothing is known");
    } else {
      cells_.insert(cells_.end(), cells.begin(), cells.end());
      lines_.push_back(number);
    }
    // Without a header nothing else can be said of the rest.
    if (header_.empty()) break;
  }
  if (!errors.empty()) return std::unexpected(errors.take(name_));
  if (header_.empty()) {
    refuse("the file is empty", "the first line names the columns, each further line is one row");
  } else if (lines_.empty()) {
    refuse("there is a header but no row", "add at least one line below the header");
  }
  if (errors.empty()) return {};
  std::vector<Error> whole = errors.take(name_);
  whole.front().where = name_;
  return std::unexpected(std::move(whole));
}

std::optional<std::size_t> CsvFile::find_column(std::string_view name) const {
  const auto it = std::find(header_.begin(), header_.end(), name);
  if (it == header_.end()) return std::nullopt;
  return static_cast<std::size_t>(it - header_.begin());
}

Result<std::size_t> CsvFile::column(std::string_view name) const {
  if (const auto at = find_column(name)) return *at;
  return fail(
      Error{ErrorCode::kInvalidArgument,
            fmt::format("column '{}' is missing; the header has: {}", name, joined(header_)),
            name_ + ":1",
            {},
            fmt::format("add the column '{}' to every line", name)});
}

Error CsvFile::error(std::size_t row, std::size_t column, std::string message, std::string cure,
                     ErrorCode code) const {
  return Error{code, std::move(message), fmt::format("{}:{}", name_, lines_[row]),
               "column " + header_[column], std::move(cure)};
}

Result<std::string> CsvFile::text(std::size_t row, std::size_t column) const {
  const std::string_view value = cell(row, column);
  if (value.empty()) return fail(error(row, column, "is empty", "state a value"));
  return std::string(value);
}

Result<std::int64_t> CsvFile::scaled(std::size_t row, std::size_t column, int places,
                                     std::int64_t low, std::int64_t high) const {
  const std::string_view value = cell(row, column);
  const std::string allowed = fmt::format("allowed is a {} from {} to {}",
                                          places == 0 ? "whole number" : "number", low, high);
  if (value.empty()) return fail(error(row, column, "is empty", allowed));
  const auto parts = decimal_parts(value);
  if (!parts) {
    return fail(error(row, column, fmt::format("'{}' is not a number", shown(value)), allowed));
  }
  const auto out_of_range = [&] {
    return fail(error(row, column, fmt::format("'{}' is out of range", shown(value)), allowed,
                      ErrorCode::kOutOfRange));
  };
  std::int64_t result = 0;
  if (!parts->whole.empty()) {
    const char* end = parts->whole.data() + parts->whole.size();
    if (std::from_chars(parts->whole.data(), end, result).ec != std::errc{}) return out_of_range();
  }
  for (int i = 0; i < places; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const int digit = at < parts->fraction.size() ? parts->fraction[at] - '0' : 0;
    if (__builtin_mul_overflow(result, 10, &result) ||
        __builtin_add_overflow(result, digit, &result)) {
      return out_of_range();
    }
  }
  const auto kept = static_cast<std::size_t>(places);
  if (parts->fraction.size() > kept) {
    if (places == 0 && parts->fraction.find_first_not_of('0') != std::string_view::npos) {
      return fail(
          error(row, column, fmt::format("'{}' is not a whole number", shown(value)), allowed));
    }
    if (parts->fraction[kept] >= '5' && __builtin_add_overflow(result, 1, &result)) {
      return out_of_range();
    }
  }
  std::int64_t scale = 1;
  for (int i = 0; i < places; ++i) scale *= 10;
  if (parts->negative) result = -result;
  std::int64_t low_scaled = 0;
  std::int64_t high_scaled = 0;
  if (__builtin_mul_overflow(low, scale, &low_scaled)) low_scaled = INT64_MIN;
  if (__builtin_mul_overflow(high, scale, &high_scaled)) high_scaled = INT64_MAX;
  if (result < low_scaled || result > high_scaled) return out_of_range();
  return result;
}

Result<std::int64_t> CsvFile::integer(std::size_t row, std::size_t column, std::int64_t low,
                                      std::int64_t high) const {
  return scaled(row, column, 0, low, high);
}

Result<double> CsvFile::number(std::size_t row, std::size_t column, double low, double high) const {
  const std::string_view value = cell(row, column);
  const std::string allowed = fmt::format("allowed is a number from {} to {}", low, high);
  double result = 0;
  const char* end = value.data() + value.size();
  const auto parsed = std::from_chars(value.data(), end, result);
  if (value.empty()) return fail(error(row, column, "is empty", allowed));
  if (parsed.ec == std::errc::invalid_argument || parsed.ptr != end) {
    return fail(error(row, column, fmt::format("'{}' is not a number", shown(value)), allowed));
  }
  if (parsed.ec != std::errc{} || !std::isfinite(result) || result < low || result > high) {
    return fail(error(row, column, fmt::format("'{}' is out of range", shown(value)), allowed,
                      ErrorCode::kOutOfRange));
  }
  return result;
}

std::string csv_cell(const std::string& value) {
  if (value.find_first_of(",\"") == std::string::npos) return value;
  std::string out = "\"";
  for (const char c : value) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

}  // namespace fairlead::sim
