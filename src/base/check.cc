#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace fairlead {

void check_failed(const char* expression, const char* file, int line, const char* why) noexcept {
  std::fprintf(stderr, "fairlead: internal error at %s:%d: %s does not hold: %s\n", file, line,
               expression, why);
  std::abort();
}

}  // namespace fairlead
