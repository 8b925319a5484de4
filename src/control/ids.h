// Ids that sort by when they were made: 10 characters of time and 16 of chance, in lower-case
// Crockford base 32 (the layout of ULID).
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/time.h"

namespace fairlead::control {

class IdSource {
 public:
  using Random = std::function<std::uint64_t()>;
  explicit IdSource(Random random) : random_(std::move(random)) {}

  // Greater than every id before it, also where time stands still or goes back.
  std::string next(Instant now);

 private:
  Random random_;
  std::uint64_t last_ms_ = 0;
  std::uint64_t high_ = 0;  // 16 bits of chance
  std::uint64_t low_ = 0;   // 64 bits of chance, counted up within a millisecond
};

// From the kernel.
std::uint64_t system_random();
// So many bytes from the kernel, as lower-case hexadecimal.
std::string random_hex(int bytes);

}  // namespace fairlead::control
