// Seeded random numbers: the same seed gives the same sequence on any machine.
//
// xoshiro256** (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2018),
// seeded by splitmix64. std::mt19937 would do as a generator, but the standard's distributions
// differ between libraries, so the few we need are here. Not for secrets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace fairlead {

class Rng {
 public:
  explicit Rng(std::uint64_t seed);

  std::uint64_t next();

  // Uniform in [0, bound), without bias (Lemire's method). Requires: bound > 0.
  std::uint64_t below(std::uint64_t bound);

  // Uniform in [low, high]. Requires: low <= high.
  std::int64_t between(std::int64_t low, std::int64_t high);

  // Uniform in [0, 1). For generators of synthetic load only, never in a decision.
  double unit();

  // Exponential with the given mean; standard normal (Box-Muller).
  double exponential(double mean);
  double normal();

  // A generator for a named part, independent of how much this one is used afterwards.
  Rng fork(std::uint64_t stream) const;

  // Fisher-Yates, from the last element down.
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) {
      using std::swap;
      swap(items[i - 1], items[static_cast<std::size_t>(below(i))]);
    }
  }

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace fairlead
