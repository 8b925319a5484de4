#include "base/decimal.h"

#include <array>
#include <limits>

#include "base/quantity.h"
#include "base/wide.h"

namespace fairlead {
namespace {

struct Suffix {
  std::string_view name;
  std::int64_t factor;
};

constexpr std::int64_t kKi = 1024;
// Longer suffixes first: "Ki" must not be read as "K".
constexpr std::array<Suffix, 11> kSuffixes{{{"Ki", kKi},
                                            {"Mi", kKi* kKi},
                                            {"Gi", kKi* kKi* kKi},
                                            {"Ti", kKi* kKi* kKi* kKi},
                                            {"Pi", kKi* kKi* kKi* kKi* kKi},
                                            {"k", 1'000},
                                            {"K", 1'000},
                                            {"M", 1'000'000},
                                            {"G", 1'000'000'000},
                                            {"T", 1'000'000'000'000},
                                            {"P", 1'000'000'000'000'000}}};

std::string quoted(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// A decimal as whole digits and fraction digits; neither is bounded yet.
struct Digits {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;  // trailing zeros removed
};

bool split_digits(std::string_view text, Digits& out) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    out.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  std::size_t i = 0;
  while (i < text.size() && is_digit(text[i])) ++i;
  out.whole = text.substr(0, i);
  if (i < text.size() && text[i] == '.') {
    const std::size_t begin = ++i;
    while (i < text.size() && is_digit(text[i])) ++i;
    out.fraction = text.substr(begin, i - begin);
    if (out.fraction.empty()) return false;
  }
  if (i != text.size() || out.whole.empty()) return false;
  while (!out.fraction.empty() && out.fraction.back() == '0') out.fraction.remove_suffix(1);
  return true;
}

// text × factor as an integer of magnitude <= bound, exactly.
Result<std::int64_t> scaled(std::string_view text, Int128 factor, Int128 bound,
                            std::string_view whole_text, const char* form, const char* unit) {
  Digits digits;
  if (!split_digits(text, digits)) {
    return fail(ErrorCode::kInvalidArgument, quoted(whole_text) + " is not " + form);
  }
  Int128 value = 0;
  for (const char c : digits.whole) {
    value = value * 10 + (c - '0');
    if (value > bound) {
      return fail(ErrorCode::kOutOfRange, quoted(whole_text) + " is too large");
    }
  }
  value *= factor;
  // Each further digit is worth a tenth of the one before; it must still be worth a whole unit.
  Int128 worth = factor;
  Int128 carried = 0;  // what is owed below one unit, as carried / scale
  Int128 scale = 1;
  if (digits.fraction.size() > 18) {
    return fail(ErrorCode::kInvalidArgument,
                quoted(whole_text) + " has too many decimals for " + unit);
  }
  for (const char c : digits.fraction) {
    scale *= 10;
    carried = carried * 10 + (c - '0');
  }
  // factor < 2^51 and carried < 10^18 < 2^60: the product fits 128 bits.
  const Int128 product = worth * carried;
  if (product % scale != 0) {
    return fail(ErrorCode::kInvalidArgument,
                quoted(whole_text) + " is not a whole number of " + unit);
  }
  value += product / scale;
  if (value > bound) return fail(ErrorCode::kOutOfRange, quoted(whole_text) + " is too large");
  return static_cast<std::int64_t>(digits.negative ? -value : value);
}

// The suffix of a byte amount; factor 1 if there is none. `bare` is the factor of a bare number.
Result<std::int64_t> parse_suffixed(std::string_view text, std::int64_t bare, std::int64_t bound) {
  std::string_view number = text;
  if (number.size() > 1 && number.back() == 'B') number.remove_suffix(1);
  const bool had_b = number.size() != text.size();
  Int128 factor = had_b ? 1 : bare;
  for (const Suffix& suffix : kSuffixes) {
    if (!number.ends_with(suffix.name)) continue;
    number.remove_suffix(suffix.name.size());
    factor = suffix.factor;
    break;
  }
  return scaled(number, factor, bound, text, "an amount of memory such as 512Mi, 48Gi or 1.5T",
                "bytes");
}

}  // namespace

Result<std::int64_t> parse_decimal(std::string_view text, int places) {
  Int128 factor = 1;
  for (int i = 0; i < places; ++i) factor *= 10;
  Int128 bound = Int128{kMaxAmount} * factor;
  if (bound > std::numeric_limits<std::int64_t>::max()) {
    bound = std::numeric_limits<std::int64_t>::max();
  }
  Digits digits;
  if (split_digits(text, digits) && digits.fraction.size() > static_cast<std::size_t>(places)) {
    return fail(ErrorCode::kInvalidArgument,
                places == 0
                    ? quoted(text) + " is not a whole number"
                    : quoted(text) + " has more than " + std::to_string(places) + " decimals");
  }
  return scaled(text, factor, bound, text,
                places == 0 ? "a whole number" : "a decimal number such as 2 or 0.5", "units");
}

std::string decimal_text(std::int64_t value, int places) {
  const bool negative = value < 0;
  std::uint64_t magnitude = static_cast<std::uint64_t>(value);
  if (negative) magnitude = 0 - magnitude;
  std::string digits = std::to_string(magnitude);
  if (places > 0) {
    const auto width = static_cast<std::size_t>(places);
    if (digits.size() <= width) digits.insert(0, width + 1 - digits.size(), '0');
    digits.insert(digits.size() - width, 1, '.');
    while (digits.back() == '0') digits.pop_back();
    if (digits.back() == '.') digits.pop_back();
  }
  return negative ? "-" + digits : digits;
}

Result<std::int64_t> parse_cpu(std::string_view text) {
  if (text.ends_with("m")) {
    return scaled(text.substr(0, text.size() - 1), 1, kMaxAmount, text,
                  "a number of CPUs such as 2, 0.5 or 500m", "thousandths of a CPU");
  }
  return scaled(text, 1000, kMaxAmount, text, "a number of CPUs such as 2, 0.5 or 500m",
                "thousandths of a CPU");
}

std::string cpu_text(std::int64_t milli_cpu) {
  return decimal_text(milli_cpu, 3);
}

Result<std::int64_t> parse_bytes(std::string_view text) {
  return parse_suffixed(text, 1, kMaxBytes);
}

std::string bytes_text(std::int64_t bytes) {
  std::string best = std::to_string(bytes);
  if (bytes == 0) return best;
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.name == "K" || bytes % suffix.factor != 0) continue;
    const std::string text = std::to_string(bytes / suffix.factor) + std::string(suffix.name);
    if (text.size() < best.size()) best = text;
  }
  return best;
}

Result<std::int64_t> parse_mib(std::string_view text) {
  constexpr std::int64_t kMi = kKi * kKi;
  FAIRLEAD_ASSIGN(const std::int64_t bytes, parse_suffixed(text, kMi, kMaxBytes));
  if (bytes % kMi != 0) {
    return fail(ErrorCode::kInvalidArgument, quoted(text) + " is not a whole number of MiB",
                "write it in Mi or Gi");
  }
  return bytes / kMi;
}

std::string mib_text(std::int64_t mib) {
  return mib % kKi == 0 && mib != 0 ? std::to_string(mib / kKi) + "Gi" : std::to_string(mib) + "Mi";
}

}  // namespace fairlead
