// Exact products and ratios of int64 amounts, without overflow and without floating point.
//
// Cost: a few instructions while the product fits 128 bits.
#pragma once

#include <compare>
#include <cstdint>

namespace fairlead {

// The widest integer of the compiler; __extension__ keeps -Wpedantic quiet.
__extension__ typedef __int128 Int128;

// floor(a * b / c). Requires: a, b >= 0, c > 0, and a result below 2^63.
constexpr std::int64_t mul_div_floor(std::int64_t a, std::int64_t b, std::int64_t c) {
  return static_cast<std::int64_t>(Int128{a} * b / c);
}

// ceil(a * b / c). Requires: a, b >= 0, c > 0, and a result below 2^63.
constexpr std::int64_t mul_div_ceil(std::int64_t a, std::int64_t b, std::int64_t c) {
  return static_cast<std::int64_t>((Int128{a} * b + c - 1) / c);
}

// A non-negative ratio num/den compared exactly by cross-multiplication. den = 0 with num > 0 is
// "infinite" (something held of nothing granted) and compares above every finite ratio; 0/0 is 0.
struct Ratio {
  std::int64_t num = 0;
  std::int64_t den = 1;

  friend constexpr std::strong_ordering operator<=>(const Ratio& a, const Ratio& b) {
    const bool a_infinite = a.den == 0 && a.num > 0;
    const bool b_infinite = b.den == 0 && b.num > 0;
    if (a_infinite || b_infinite) {
      if (a_infinite && b_infinite) return a.num <=> b.num;
      return a_infinite ? std::strong_ordering::greater : std::strong_ordering::less;
    }
    const std::int64_t a_den = a.den == 0 ? 1 : a.den;
    const std::int64_t b_den = b.den == 0 ? 1 : b.den;
    const Int128 left = Int128{a.num} * b_den;
    const Int128 right = Int128{b.num} * a_den;
    return left < right
               ? std::strong_ordering::less
               : (left > right ? std::strong_ordering::greater : std::strong_ordering::equal);
  }
  friend constexpr bool operator==(const Ratio& a, const Ratio& b) { return (a <=> b) == 0; }
};

}  // namespace fairlead
