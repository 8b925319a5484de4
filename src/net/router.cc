#include "net/router.h"

#include <algorithm>
#include <set>

namespace fairlead::net {
namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::string_view part = text.substr(0, text.find('/'));
    parts.emplace_back(part);
    text.remove_prefix(part.size());
  }
  return parts;
}

std::string allowed(const std::set<std::string>& methods) {
  std::string text;
  for (const std::string& method : methods) text += (text.empty() ? "" : ", ") + method;
  return text;
}

}  // namespace

Result<Router::Row> Router::parse(const Route& route, std::size_t index) {
  const auto malformed = [&](const std::string& why) {
    return fail(ErrorCode::kInvalidArgument, "the pattern \"" + route.pattern + "\" " + why,
                "write it like /a/{name} or /a/{rest...}");
  };
  Row row{.method = route.method, .words = {}, .rest = false, .index = index};
  if (route.method.empty()) return malformed("has no method");
  if (route.method == "HEAD") return malformed("is for HEAD, which the row for GET serves");
  if (!route.pattern.starts_with('/')) return malformed("does not begin with a slash");
  if (route.pattern == "/") return row;
  for (const std::string& part : split(route.pattern)) {
    if (row.rest) return malformed("has something behind {...}");
    if (part.empty()) return malformed("has an empty segment");
    const bool parameter = part.starts_with('{') && part.ends_with('}');
    if (!parameter && part.find_first_of("{}") != std::string::npos) {
      return malformed("has a brace that is no parameter of its own");
    }
    if (parameter && part.size() == 2) return malformed("has a parameter without a name");
    row.rest = part.ends_with("...}");
    row.words.push_back(parameter ? "" : part);
  }
  return row;
}

Result<Router> Router::build(const std::vector<Route>& routes) {
  Router router;
  for (std::size_t i = 0; i < routes.size(); ++i) {
    FAIRLEAD_ASSIGN(Row row, parse(routes[i], i));
    for (const Row& other : router.rows_) {
      if (other.method == row.method && other.words == row.words && other.rest == row.rest) {
        return fail(ErrorCode::kConflict,
                    "\"" + row.method + " " + routes[i].pattern + "\" and \"" + other.method + " " +
                        routes[other.index].pattern + "\" serve the same requests",
                    "leave one out");
      }
    }
    router.rows_.push_back(std::move(row));
  }
  std::ranges::sort(router.rows_, [](const Row& a, const Row& b) {
    if (a.rest != b.rest) return b.rest;
    // A word before a parameter, at the first segment where the two differ in this.
    const std::size_t common = std::min(a.words.size(), b.words.size());
    for (std::size_t i = 0; i < common; ++i) {
      if (a.words[i].empty() != b.words[i].empty()) return b.words[i].empty();
    }
    if (a.words.size() != b.words.size()) return a.words.size() > b.words.size();
    return a.index < b.index;
  });
  return router;
}

bool Router::matches(const Row& row, const std::vector<std::string>& segments) {
  const bool fits =
      row.rest ? segments.size() >= row.words.size() : segments.size() == row.words.size();
  if (!fits) return false;
  for (std::size_t i = 0; i < row.words.size(); ++i) {
    if (!row.words[i].empty() && row.words[i] != segments[i]) return false;
  }
  return true;
}

std::variant<Match, Response> Router::route(std::string_view method, const Target& target) const {
  std::set<std::string> methods;
  for (const Row& row : rows_) {
    if (!matches(row, target.segments)) continue;
    if (row.method != method && !(row.method == "GET" && method == "HEAD")) {
      methods.insert(row.method);
      if (row.method == "GET") methods.insert("HEAD");
      continue;
    }
    Match match{.index = row.index, .parameters = {}};
    for (std::size_t i = 0; i < row.words.size(); ++i) {
      if (row.words[i].empty()) match.parameters.push_back(target.segments[i]);
    }
    if (row.rest) {
      for (std::size_t i = row.words.size(); i < target.segments.size(); ++i) {
        match.parameters.back() += "/" + target.segments[i];
      }
    }
    return match;
  }
  if (methods.empty()) return problem(404, "there is nothing at " + target.path);
  Response response = problem(405, std::string(method) + " is not possible at " + target.path +
                                       "; " + allowed(methods) + " is");
  response.headers.add("Allow", allowed(methods));
  return response;
}

}  // namespace fairlead::net
