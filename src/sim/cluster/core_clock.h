// Processor time spent inside the scheduling core, for "decisions per second on one core". The one
// place of the simulator that reads a clock; nothing but that speed depends on it. Processor time,
// so that other programs on the machine do not count.
#pragma once

#include <cstdint>
#include <ctime>

namespace fairlead::sim {

class CoreClock {
 public:
  // Runs `call` and adds the time it took.
  template <class Call>
  decltype(auto) time(Call&& call) {
    const Stop stop{*this, now_ns()};
    return call();
  }

  double seconds() const { return static_cast<double>(spent_ns_) / 1e9; }

 private:
  struct Stop {
    CoreClock& clock;
    std::int64_t begin;
    ~Stop() { clock.spent_ns_ += now_ns() - begin; }
  };

  static std::int64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  }

  std::int64_t spent_ns_ = 0;
};

}  // namespace fairlead::sim
