#include "base/result.h"

#include "base/check.h"

namespace fairlead {

std::string_view error_code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid-argument";
    case ErrorCode::kOutOfRange:
      return "out-of-range";
    case ErrorCode::kNotFound:
      return "not-found";
    case ErrorCode::kAlreadyExists:
      return "already-exists";
    case ErrorCode::kImpossible:
      return "impossible";
    case ErrorCode::kConflict:
      return "conflict";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kFailed:
      return "failed";
    case ErrorCode::kUnauthenticated:
      return "unauthenticated";
    case ErrorCode::kForbidden:
      return "forbidden";
    case ErrorCode::kStale:
      return "stale";
    case ErrorCode::kUnguarded:
      return "unguarded";
    case ErrorCode::kUnavailable:
      return "unavailable";
    case ErrorCode::kTooLarge:
      return "too-large";
    case ErrorCode::kTimeout:
      return "timeout";
  }
  check_failed("code", __FILE__, __LINE__, "the set of error codes is closed");
}

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kOutOfRange:
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kTooLarge:
    case ErrorCode::kUnguarded:
      return 2;
    case ErrorCode::kNotFound:
      return 3;
    case ErrorCode::kUnauthenticated:
    case ErrorCode::kForbidden:
      return 4;
    case ErrorCode::kConflict:
    case ErrorCode::kStale:
      return 5;
    case ErrorCode::kImpossible:
      return 6;
    case ErrorCode::kIo:
    case ErrorCode::kFailed:
    case ErrorCode::kUnavailable:
      return 1;
    case ErrorCode::kTimeout:
      return 124;
  }
  check_failed("code", __FILE__, __LINE__, "the set of error codes is closed");
}

int http_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kOutOfRange:
      return 400;
    case ErrorCode::kUnauthenticated:
      return 401;
    case ErrorCode::kForbidden:
      return 403;
    case ErrorCode::kNotFound:
      return 404;
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kConflict:
      return 409;
    case ErrorCode::kStale:
      return 412;
    case ErrorCode::kTooLarge:
      return 413;
    case ErrorCode::kImpossible:
      return 422;
    case ErrorCode::kUnguarded:
      return 428;
    case ErrorCode::kIo:
    case ErrorCode::kFailed:
      return 500;
    case ErrorCode::kUnavailable:
      return 503;
    case ErrorCode::kTimeout:
      return 504;
  }
  check_failed("code", __FILE__, __LINE__, "the set of error codes is closed");
}

std::string Error::text() const {
  std::string out;
  for (const std::string* part : {&where, &field}) {
    if (part->empty()) continue;
    out += *part;
    out += ": ";
  }
  out += message;
  if (!cure.empty()) {
    out += "; ";
    out += cure;
  }
  return out;
}

}  // namespace fairlead
