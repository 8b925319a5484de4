#include "net/message.h"

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace fairlead::net {

std::string_view reason_of(int status) {
  switch (status) {
    case 100:
      return "Continue";
    case 101:
      return "Switching Protocols";
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Content";
    case 426:
      return "Upgrade Required";
    case 428:
      return "Precondition Required";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Unknown";
  }
}

namespace {

ErrorCode code_of(int status) {
  switch (status) {
    case 403:
      return ErrorCode::kForbidden;
    case 404:
      return ErrorCode::kNotFound;
    case 408:
      return ErrorCode::kTimeout;
    case 413:
    case 431:
      return ErrorCode::kTooLarge;
    case 500:
      return ErrorCode::kFailed;
    case 503:
      return ErrorCode::kUnavailable;
    default:
      return ErrorCode::kInvalidArgument;
  }
}

}  // namespace

Response problem(int status, std::string_view detail) {
  nlohmann::ordered_json document;
  document["type"] = "about:blank";
  document["title"] = reason_of(status);
  document["status"] = status;
  document["code"] = error_code_name(code_of(status));
  document["detail"] = detail;
  using Json = nlohmann::ordered_json;
  return {status,
          {{"Content-Type", "application/problem+json"}, {"Cache-Control", "no-store"}},
          document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"};
}

bool same_origin(const Request& request) {
  const auto origin = request.headers.find("Origin");
  if (!origin) return true;
  const auto host = request.headers.find("Host");
  const std::string_view scheme = request.tls ? "https://" : "http://";
  return host && origin->starts_with(scheme) &&
         same_ignoring_case(origin->substr(scheme.size()), *host);
}

std::string_view host_without_port(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  const std::size_t bracket = host.rfind(']');
  if (colon == std::string_view::npos) return host;
  if (bracket != std::string_view::npos && colon < bracket) return host;
  return host.substr(0, colon);
}

}  // namespace fairlead::net
