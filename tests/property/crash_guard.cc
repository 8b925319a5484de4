#include "crash_guard.h"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>

#include "base/check.h"

namespace fairlead {
namespace {

// Static: nothing here may be destroyed or moved on the way out of the core.
std::jmp_buf g_way_out;
bool g_guarded = false;
char g_error[1024];

}  // namespace

// Stands in for the one of base/check.cc, which the linker then leaves out of this program.
void check_failed(const char* expression, const char* file, int line, const char* why) noexcept {
  std::snprintf(g_error, sizeof g_error, "internal error at %s:%d: %s does not hold: %s", file, line,
                expression, why);
  if (g_guarded) std::longjmp(g_way_out, 1);
  std::fprintf(stderr, "%s\n", g_error);
  std::abort();
}

namespace property {

std::optional<std::string> internal_error(const std::function<void()>& work) {
  if (setjmp(g_way_out) != 0) {
    g_guarded = false;
    return g_error;
  }
  g_guarded = true;
  work();
  g_guarded = false;
  return std::nullopt;
}

}  // namespace property
}  // namespace fairlead
