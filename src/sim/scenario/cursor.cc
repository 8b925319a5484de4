#include "sim/scenario/cursor.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/decimal.h"
#include "base/nearest.h"

namespace fairlead::sim {
namespace {

constexpr std::int64_t kMostNames = 10'000;

bool digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Where the number at the end of a name begins.
std::size_t number_at(std::string_view name) {
  std::size_t at = name.size();
  while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9') --at;
  return at;
}

}  // namespace

bool Cursor::at_keyword(std::string_view keyword) const {
  return !done() && !peek().quoted && peek().text == keyword;
}

bool Cursor::accept(std::string_view keyword) {
  if (!at_keyword(keyword)) return false;
  ++next_;
  return true;
}

bool Cursor::at_setting() const {
  if (done() || peek().quoted) return false;
  const std::size_t equals = peek().text.find('=');
  return equals != std::string::npos && equals > 0;
}

bool Cursor::at_number() const {
  return !done() && !peek().quoted && digits(peek().text);
}

Setting Cursor::take_setting() {
  const Word& word = take();
  const std::size_t equals = word.text.find('=');
  return {word, word.text.substr(0, equals), word.text.substr(equals + 1)};
}

Result<Word> Cursor::expect_word(std::string_view what) {
  if (done()) return fail_here(fmt::format("{} is missing", what));
  return take();
}

Result<void> Cursor::expect_keyword(std::string_view keyword, std::string_view after) {
  if (accept(keyword)) return {};
  if (done()) return fail_here(fmt::format("'{}' is missing after {}", keyword, after));
  return fail(peek(),
              fmt::format("'{}' stands where '{}' must: after {}", peek().text, keyword, after));
}

Result<std::int64_t> Cursor::expect_number(std::string_view what) {
  FAIRLEAD_ASSIGN(const Word word, expect_word(what));
  if (!digits(word.text)) {
    return fail(word, fmt::format("'{}' is not a number; {} must be here", word.text, what));
  }
  return placed(word, parse_count(word.text, 0, std::int64_t{1} << 40));
}

Result<void> Cursor::expect_end(std::string_view allowed) {
  if (done()) return {};
  return fail(peek(), fmt::format("'{}' means nothing here", peek().text),
              fmt::format("allowed here: {}", allowed));
}

std::string Cursor::place(const Word& word) const {
  return fmt::format("{}:{}:{}", file_, word.line, word.column);
}

std::unexpected<Error> Cursor::fail(const Word& word, std::string message, std::string cure) const {
  return std::unexpected(
      Error{ErrorCode::kInvalidArgument, std::move(message), place(word), {}, std::move(cure)});
}

std::unexpected<Error> Cursor::fail_here(std::string message, std::string cure) const {
  Word end = words_.back();
  end.column += static_cast<std::int32_t>(end.text.size()) + (end.quoted ? 2 : 0);
  return fail(end, std::move(message), std::move(cure));
}

std::unexpected<Error> Cursor::unknown(const Word& word, std::string_view what,
                                       std::span<const std::string> known, std::string cure) const {
  const std::string nearest = nearest_name(word.text, known);
  if (!nearest.empty()) {
    cure = fmt::format("did you mean '{}'?{}{}", nearest, cure.empty() ? "" : " ", cure);
  }
  std::string message = fmt::format("'{}' is not {}", word.text, what);
  if (!known.empty()) message += fmt::format("; there is {}", listing(known));
  return fail(word, std::move(message), std::move(cure));
}

std::unexpected<Error> Cursor::unknown_setting(const Setting& setting, std::string_view of,
                                               std::span<const std::string> known) const {
  const std::string nearest = nearest_name(setting.key, known);
  return fail(setting.word, fmt::format("{} has no setting '{}'", of, setting.key),
              fmt::format("{}allowed: {}",
                          nearest.empty() ? "" : fmt::format("did you mean {}=? ", nearest),
                          listing(known, 40)));
}

Result<std::int64_t> parse_count(std::string_view text, std::int64_t low, std::int64_t high) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || end != text.data() + text.size() || code == std::errc::invalid_argument) {
    return fairlead::fail(ErrorCode::kInvalidArgument,
                          fmt::format("'{}' is not a whole number", text),
                          fmt::format("write a number from {} to {}", low, high));
  }
  if (code == std::errc::result_out_of_range || value < low || value > high) {
    return fairlead::fail(ErrorCode::kOutOfRange,
                          fmt::format("{} lies outside {} to {}", text, low, high));
  }
  return value;
}

Result<std::int64_t> parse_memory(std::string_view text) {
  if (digits(text) && text.find_first_not_of('0') != std::string_view::npos) {
    return fairlead::fail(
        ErrorCode::kInvalidArgument, fmt::format("'{}' has no unit", text),
        fmt::format("write {}Gi, {}Mi, {}G or, for bytes, {}B", text, text, text, text));
  }
  return parse_bytes(text);
}

std::string memory_text(std::int64_t bytes) {
  std::string text = bytes_text(bytes);
  if (bytes != 0 && text.find_first_not_of("-0123456789") == std::string::npos) text += 'B';
  return text;
}

std::vector<std::string> split_list(std::string_view text, char by) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(by);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Result<std::vector<std::string>> expand_names(std::string_view text) {
  std::vector<std::string> names;
  for (const std::string& part : split_list(text)) {
    if (part.empty()) {
      return fairlead::fail(ErrorCode::kInvalidArgument,
                            fmt::format("'{}' has an empty name", text), "write a,b or a1..a4");
    }
    const std::size_t dots = part.find("..");
    if (dots == std::string::npos) {
      names.push_back(part);
      continue;
    }
    const std::string_view first = std::string_view(part).substr(0, dots);
    const std::string_view last = std::string_view(part).substr(dots + 2);
    const std::size_t from_at = number_at(first);
    const std::size_t to_at = number_at(last);
    const std::string_view prefix = first.substr(0, from_at);
    if (from_at == first.size() || to_at == last.size() ||
        (to_at > 0 && last.substr(0, to_at) != prefix)) {
      return fairlead::fail(ErrorCode::kInvalidArgument,
                            fmt::format("'{}' is not a range of names", part), "write n1..n8");
    }
    FAIRLEAD_ASSIGN(const std::int64_t from, parse_count(first.substr(from_at), 0, 1'000'000'000));
    FAIRLEAD_ASSIGN(const std::int64_t to, parse_count(last.substr(to_at), 0, 1'000'000'000));
    if (to < from || to - from >= kMostNames ||
        to - from + static_cast<std::int64_t>(names.size()) >= kMostNames) {
      return fairlead::fail(
          ErrorCode::kOutOfRange,
          fmt::format("'{}' must run upwards and name at most {}", part, kMostNames));
    }
    for (std::int64_t i = from; i <= to; ++i) names.push_back(fmt::format("{}{}", prefix, i));
  }
  return names;
}

bool matches(std::string_view pattern, std::string_view name) {
  // Greedy with one point to go back to: the last star.
  std::size_t p = 0, n = 0, star = std::string_view::npos, star_n = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_n = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++star_n;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace fairlead::sim
