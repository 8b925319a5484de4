#include "cli/client/outside.h"

#include <chrono>
#include <sys/random.h>

#include "base/check.h"

namespace fairlead::cli {

Instant wall_clock() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return Instant{std::chrono::duration_cast<std::chrono::milliseconds>(now).count()};
}

std::string new_idempotency_key() {
  unsigned char bytes[16];
  FAIRLEAD_CHECK(::getrandom(bytes, sizeof bytes, 0) == sizeof bytes, "the system has randomness");
  constexpr const char* kHex = "0123456789abcdef";
  std::string out;
  for (const unsigned char byte : bytes) {
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
  return out;
}

}  // namespace fairlead::cli
