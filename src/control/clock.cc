#include "control/clock.h"

#include <chrono>
#include <ctime>
#include <fstream>

namespace fairlead::control {

SystemClock::SystemClock()
    : start_{std::chrono::duration_cast<std::chrono::milliseconds>(
                 std::chrono::system_clock::now().time_since_epoch())
                 .count()},
      start_since_boot_(since_boot()) {
  std::ifstream in("/proc/sys/kernel/random/boot_id");
  std::getline(in, boot_);
}

Instant SystemClock::now() const {
  return start_ + (since_boot() - start_since_boot_);
}

Duration SystemClock::since_boot() const {
  timespec t{};
  clock_gettime(CLOCK_BOOTTIME, &t);
  return {t.tv_sec * 1000 + t.tv_nsec / 1'000'000};
}

}  // namespace fairlead::control
