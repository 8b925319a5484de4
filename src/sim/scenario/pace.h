// When to look at everything again: after each step while everything is little, and less often as
// it grows, so that looking costs no more than the steps do.
//
// Invariant: between two looks lie at most things / kEach steps. Cost of looking, spread over the
// steps: kEach things each.
#pragma once

#include <cstdint>

namespace fairlead::sim {

class Pace {
 public:
  static constexpr std::int64_t kLittle = 500;
  static constexpr std::int64_t kEach = 50;

  // A step was made, and there are so many things: is it time?
  bool due(std::int64_t things) {
    ++steps_;
    if (things > kLittle && steps_ < things / kEach) return false;
    steps_ = 0;
    return true;
  }

 private:
  std::int64_t steps_ = 0;
};

}  // namespace fairlead::sim
