// The time, from outside. Instants for people and the scheduler do not go back while the server
// runs and do not jump when someone sets the clock; what was measured since the machine started
// decides how long something ran.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"

namespace fairlead::control {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant now() const = 0;
  // Since the machine started, sleep included.
  virtual Duration since_boot() const = 0;
  // Tells one start of the machine from another.
  virtual std::string boot() const = 0;
};

// The clock of this machine: the wall clock when it was made, and from then on what has passed.
class SystemClock final : public Clock {
 public:
  SystemClock();
  Instant now() const override;
  Duration since_boot() const override;
  std::string boot() const override { return boot_; }

 private:
  Instant start_;
  Duration start_since_boot_;
  std::string boot_;
};

}  // namespace fairlead::control
