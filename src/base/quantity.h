// Strong integer types: Quantity<Tag> for amounts, Id<Tag> for dense indices.
//
// A Quantity is an int64 that only mixes with its own kind. Sums of amounts that come from one
// cluster stay far below 2^63 because every amount is bounded at parsing (kMaxAmount); products go
// through mul_div (base/wide.h). An Id is an index into a vector; kNone marks "no such thing".
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace fairlead {

// No single amount that a document may state exceeds this: sums of 2^22 of them fit an int64.
inline constexpr std::int64_t kMaxAmount = std::int64_t{1} << 40;

template <class Tag>
struct Quantity {
  std::int64_t value = 0;

  constexpr Quantity() = default;
  constexpr explicit Quantity(std::int64_t v) : value(v) {}

  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity(a.value + b.value);
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity(a.value - b.value);
  }
  friend constexpr Quantity operator*(Quantity a, std::int64_t n) { return Quantity(a.value * n); }
  constexpr Quantity& operator+=(Quantity b) {
    value += b.value;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity b) {
    value -= b.value;
    return *this;
  }
};

template <class Tag>
struct Id {
  static constexpr std::uint32_t kNoneValue = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t value = kNoneValue;

  constexpr Id() = default;
  constexpr explicit Id(std::size_t v) : value(static_cast<std::uint32_t>(v)) {}

  constexpr bool valid() const { return value != kNoneValue; }
  constexpr std::size_t index() const { return value; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

}  // namespace fairlead

template <class Tag>
struct std::hash<fairlead::Id<Tag>> {
  std::size_t operator()(fairlead::Id<Tag> id) const noexcept { return id.value; }
};
