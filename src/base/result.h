// Result<T>: a value, or an Error that says what went wrong and how to cure it.
//
// The set of codes is closed: each maps to one exit code of the command line (exit_code()) and,
// in the API, to one HTTP problem type. An Error carries the place (file, line, field) and the
// cure, so that the message printed to a person never needs a second source.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead {

enum class ErrorCode : std::uint8_t {
  kInvalidArgument,  // malformed or contradictory input
  kOutOfRange,       // a number that overflows or lies outside what is allowed
  kNotFound,         // names something that does not exist
  kAlreadyExists,    // a second thing of one name
  kImpossible,       // well-formed, but no node could ever satisfy it
  kConflict,         // not legal in the present state (e.g. removing a queue in use)
  kIo,               // a file or a pipe
  kFailed,           // the thing was carried out and its answer is "no" (a failed expectation)
  kUnauthenticated,  // nobody knows who asks: no token, or one that is no longer good
  kForbidden,        // it is known who asks, and that they may not
  kStale,            // it has changed since it was read
  kUnguarded,        // a change that does not say which state it is meant for
  kUnavailable,      // nobody answers, or not now; the same again may do later
  kTooLarge,         // more bytes than are taken
  kTimeout,          // a time that was set is over
};

// "invalid-argument", "not-found", …: stable, lower-case, used in JSON output.
std::string_view error_code_name(ErrorCode code);

// 0 is success; see docs/cli.md for the table.
int exit_code(ErrorCode code);

// The status of an answer over HTTP; see docs/api.md for the table.
int http_status(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInvalidArgument;
  std::string message;  // one sentence, names the value and what is allowed
  std::string where;    // "FILE:LINE" or "FILE"; empty if there is no document
  std::string field;    // path of the field: "workloads[2].roles[0].min"; may be empty
  std::string cure;     // what to do, or the command that fixes it; may be empty

  // "FILE:LINE: FIELD: MESSAGE; CURE", leaving out what is empty.
  std::string text() const;
};

template <class T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(ErrorCode code, std::string message, std::string cure = {}) {
  return std::unexpected(Error{code, std::move(message), {}, {}, std::move(cure)});
}

inline std::unexpected<Error> fail(Error error) {
  return std::unexpected(std::move(error));
}

}  // namespace fairlead

// Returns the error of `expression` (a Result<void>) from the enclosing function.
#define FAIRLEAD_TRY(expression)                                                   \
  do {                                                                             \
    auto fairlead_try_result = (expression);                                       \
    if (!fairlead_try_result) return std::unexpected(fairlead_try_result.error()); \
  } while (false)

#define FAIRLEAD_CONCAT_INNER(a, b) a##b
#define FAIRLEAD_CONCAT(a, b) FAIRLEAD_CONCAT_INNER(a, b)
#define FAIRLEAD_ASSIGN_INNER(temp, target, expression)       \
  auto temp = (expression);                                   \
  if (!temp) return std::unexpected(std::move(temp).error()); \
  target = std::move(*temp)
// FAIRLEAD_ASSIGN(auto x, f()): x is the value of f(), or its error is returned.
#define FAIRLEAD_ASSIGN(target, expression) \
  FAIRLEAD_ASSIGN_INNER(FAIRLEAD_CONCAT(fairlead_assign_, __LINE__), target, expression)
