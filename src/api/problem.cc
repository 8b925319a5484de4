#include "api/problem.h"

#include <charconv>
#include <optional>

#include "model/tree.h"

namespace fairlead::api {
namespace {

// Of "request.json:7".
std::optional<std::int64_t> line_of(const Error& error) {
  const std::size_t colon = error.where.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  std::int64_t line = 0;
  const char* end = error.where.data() + error.where.size();
  const auto [at, status] = std::from_chars(error.where.data() + colon + 1, end, line);
  return status == std::errc() && at == end ? std::optional(line) : std::nullopt;
}

std::string title_of(ErrorCode code) {
  std::string title(error_code_name(code));
  for (char& c : title) c = c == '-' ? ' ' : c;
  title[0] = static_cast<char>(title[0] - 'a' + 'A');
  return title;
}

}  // namespace

net::Response problem(std::span<const Error> errors, const std::string& request) {
  const Error& first = errors.front();
  const int status = http_status(first.code);
  Tree out = Tree::map();
  out.add("type", Tree::string("urn:fairlead:problem:" + std::string(error_code_name(first.code))));
  out.add("title", Tree::string(title_of(first.code)));
  out.add("status", Tree::number(std::int64_t{status}));
  out.add("code", Tree::string(std::string(error_code_name(first.code))));
  std::string detail = first.field.empty() ? "" : first.field + ": ";
  detail += first.message;
  if (errors.size() > 1) detail += " (and " + std::to_string(errors.size() - 1) + " more)";
  out.add("detail", Tree::string(detail));
  if (!first.cure.empty()) out.add("cure", Tree::string(first.cure));
  out.add("requestId", Tree::string(request));
  if (first.code == ErrorCode::kUnavailable) out.add("retryAfterMs", Tree::number(1000));
  Tree& list = out.add("errors", Tree::list());
  for (const Error& error : errors) {
    Tree map = Tree::map();
    if (!error.field.empty()) map.add("field", Tree::string(error.field));
    if (const auto line = line_of(error)) map.add("line", Tree::number(*line));
    map.add("detail", Tree::string(error.message));
    if (!error.cure.empty()) map.add("cure", Tree::string(error.cure));
    list.push(std::move(map));
  }
  net::Response response;
  response.status = status;
  response.headers.add("Content-Type", "application/problem+json");
  if (first.code == ErrorCode::kUnavailable) response.headers.add("Retry-After", "1");
  if (first.code == ErrorCode::kUnauthenticated) {
    response.headers.add("WWW-Authenticate", "Bearer realm=\"fairlead\"");
  }
  response.body = to_json_line(out);
  return response;
}

net::Response problem(const Error& error, const std::string& request) {
  return problem(std::span(&error, 1), request);
}

}  // namespace fairlead::api
