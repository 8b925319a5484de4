#include "crash_guard.h"

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "base/check.h"

namespace fairlead {
namespace {

// Static: nothing here may be destroyed or moved on the way out of the core.
sigjmp_buf g_way_out;
bool g_guarded = false;
char g_error[1024];

// An assertion of a library: its message is on stderr already.
void on_abort(int) {
  std::snprintf(g_error, sizeof g_error, "the core was aborted; the message is on stderr");
  siglongjmp(g_way_out, 1);
}

}  // namespace

// Stands in for the one of base/check.cc, which the linker then leaves out of this program.
void check_failed(const char* expression, const char* file, int line, const char* why) noexcept {
  std::snprintf(g_error, sizeof g_error, "internal error at %s:%d: %s does not hold: %s", file,
                line, expression, why);
  if (g_guarded) siglongjmp(g_way_out, 1);
  std::fprintf(stderr, "%s\n", g_error);
  std::abort();
}

namespace property {

std::optional<std::string> internal_error(const std::function<void()>& work) {
  if (sigsetjmp(g_way_out, 1) != 0) {
    g_guarded = false;
    std::signal(SIGABRT, SIG_DFL);
    return g_error;
  }
  g_guarded = true;
  std::signal(SIGABRT, on_abort);
  work();
  std::signal(SIGABRT, SIG_DFL);
  g_guarded = false;
  return std::nullopt;
}

}  // namespace property
}  // namespace fairlead
