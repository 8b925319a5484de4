// Time spent inside the scheduling core, for "decisions per second". The one place of the simulator
// that reads a clock; nothing but that speed depends on it.
#pragma once

#include <chrono>
#include <cstdint>

namespace fairlead::sim {

class CoreClock {
 public:
  // Runs `call` and adds the time it took.
  template <class Call>
  decltype(auto) time(Call&& call) {
    const Stop stop{*this, std::chrono::steady_clock::now()};
    return call();
  }

  double seconds() const { return std::chrono::duration<double>(spent_).count(); }

 private:
  struct Stop {
    CoreClock& clock;
    std::chrono::steady_clock::time_point begin;
    ~Stop() { clock.spent_ += std::chrono::steady_clock::now() - begin; }
  };
  std::chrono::steady_clock::duration spent_{0};
};

}  // namespace fairlead::sim
