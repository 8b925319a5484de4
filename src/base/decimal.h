// Exact decimals: what a person writes ("0.3", "1.5", "250m", "48Gi") as an integer of a fixed
// unit.
//
// No floating point: a value that the unit cannot hold exactly is an error, not a rounding.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead {

// No single amount of bytes that a document may state exceeds this (8 PiB).
inline constexpr std::int64_t kMaxBytes = std::int64_t{1} << 53;

// `text` × 10^places as an integer: parse_decimal("0.3", 3) is 300. An optional sign, digits, an
// optional fraction; no exponent. Error: kInvalidArgument (not a decimal, or more than `places`
// decimals that are not zero), kOutOfRange (beyond ±2^40 × 10^places or beyond int64).
Result<std::int64_t> parse_decimal(std::string_view text, int places);

// The shortest decimal that parse_decimal reads back: decimal_text(1500, 3) is "1.5".
std::string decimal_text(std::int64_t value, int places);

// CPUs as milli-CPU: "2" is 2000, "0.5" and "500m" are 500.
Result<std::int64_t> parse_cpu(std::string_view text);

// The shortest form that parse_cpu reads back: "2", "0.5".
std::string cpu_text(std::int64_t milli_cpu);

// Bytes: a number with an optional suffix Ki Mi Gi Ti Pi (powers of 1024), k M G T P (powers of
// 1000), with or without a trailing "B"; a bare number is bytes. Must come out whole.
Result<std::int64_t> parse_bytes(std::string_view text);

// The shortest exact form: "48Gi", "1500M", "17".
std::string bytes_text(std::int64_t bytes);

// GPU memory as MiB: like parse_bytes, a bare number is MiB; must be a whole number of MiB.
Result<std::int64_t> parse_mib(std::string_view text);

// With its unit, as parse_mib reads it back: "48Gi", "4864Mi".
std::string mib_text(std::int64_t mib);

}  // namespace fairlead
