// FAIRLEAD_CHECK: an invariant of our own code that stays on in release builds.
//
// Never used on input: what a user, a file or a peer can cause is an Error (see result.h).
// A failed check prints the expression and its place to stderr and aborts: state that breaks an
// invariant must not be acted on.
#pragma once

namespace fairlead {

[[noreturn]] void check_failed(const char* expression, const char* file, int line,
                               const char* why) noexcept;

}  // namespace fairlead

#define FAIRLEAD_CHECK(expression, why) \
  (static_cast<bool>(expression)        \
       ? static_cast<void>(0)           \
       : ::fairlead::check_failed(#expression, __FILE__, __LINE__, (why)))
