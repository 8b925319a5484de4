// Which handler a request is for: a table of methods and path patterns, "/api/v1/queues/{name}".
//
// Invariant: no two rows serve the same request. Words win over parameters at each segment, from
// the left, so that "/jobs/new" and "/jobs/{id}" may stand side by side. Cost: route() tries each
// row of that number of segments. Constant after build(), so threads share.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "net/message.h"

namespace fairlead::net {

struct Route {
  std::string method;   // "GET"; a GET row also serves HEAD
  std::string pattern;  // "/a/{x}/b"; "{rest...}" as the last segment takes one or more
};

struct Match {
  std::size_t index = 0;                // of the row
  std::vector<std::string> parameters;  // what stood for {…}, from the left; a rest joined by "/"
};

class Router {
 public:
  // Error: kInvalidArgument for a malformed pattern, kConflict for two rows that serve the same.
  static Result<Router> build(const std::vector<Route>& routes);

  // The row, or what to answer: 404, or 405 with Allow.
  std::variant<Match, Response> route(std::string_view method, const Target& target) const;

 private:
  struct Row {
    std::string method;
    std::vector<std::string> words;  // empty: a parameter
    bool rest = false;               // the last parameter takes all that is left
    std::size_t index = 0;
  };
  static bool matches(const Row& row, const std::vector<std::string>& segments);
  static Result<Row> parse(const Route& route, std::size_t index);

  std::vector<Row> rows_;  // best first
};

}  // namespace fairlead::net
