// What a request line points at: the path in decoded segments and the query in decoded pairs.
//
// Invariant: segments and query are UTF-8 without controls; no segment is empty, "." or "..", so a
// path has one way of being written and cannot climb. A slash at the end says nothing.
// Cost: linear in the text.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace fairlead::net {

struct Target {
  std::string path = "/";  // as it came, without the query: what a log or a problem quotes
  std::vector<std::string> segments;
  std::vector<std::pair<std::string, std::string>> query;  // in the order they came

  // The first value of that name, or nullptr.
  const std::string* value(std::string_view name) const;
};

// Reads "/a/b%20c?x=1&y=a+b", or the same behind "http://host" (RFC 9112, section 3.2.2).
// Error: kInvalidArgument, naming what is wrong.
Result<Target> parse_target(std::string_view text);

// Every byte but letters, digits and "-._~" as "%2F": one segment or query value of a target.
std::string percent_encode(std::string_view text);

}  // namespace fairlead::net
