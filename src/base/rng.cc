#include "base/rng.h"

#include <bit>
#include <cmath>
#include <numbers>

#include "base/check.h"

namespace fairlead {
namespace {

__extension__ typedef unsigned __int128 UInt128;

std::uint64_t splitmix64(std::uint64_t& x) {
  x += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = x;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace

Rng::Rng(std::uint64_t seed) : state_{} {
  for (auto& word : state_) word = splitmix64(seed);
}

std::uint64_t Rng::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Rng::below(std::uint64_t bound) {
  FAIRLEAD_CHECK(bound > 0, "below() needs a positive bound");
  UInt128 product = UInt128{next()} * bound;
  auto low = static_cast<std::uint64_t>(product);
  if (low < bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    while (low < threshold) {
      product = UInt128{next()} * bound;
      low = static_cast<std::uint64_t>(product);
    }
  }
  return static_cast<std::uint64_t>(product >> 64);
}

std::int64_t Rng::between(std::int64_t low, std::int64_t high) {
  FAIRLEAD_CHECK(low <= high, "between() needs low <= high");
  const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  const std::uint64_t offset = span == 0 ? next() : below(span);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
}

double Rng::unit() {
  return static_cast<double>(next() >> 11) * 0x1.0p-53;
}

double Rng::exponential(double mean) {
  return -mean * std::log1p(-unit());
}

double Rng::normal() {
  const double radius = std::sqrt(-2.0 * std::log1p(-unit()));
  return radius * std::cos(2.0 * std::numbers::pi * unit());
}

Rng Rng::fork(std::uint64_t stream) const {
  std::uint64_t mixed = state_[0] ^ std::rotl(state_[3], 23) ^ (stream * 0x9e3779b97f4a7c15ULL);
  return Rng(splitmix64(mixed));
}

}  // namespace fairlead
