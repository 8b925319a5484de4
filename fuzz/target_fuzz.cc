// Any bytes: the reader of request targets neither crashes nor lets a path climb, and what it
// decoded encodes into a target that reads as the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "net/target.h"

namespace {

using fairlead::net::parse_target;
using fairlead::net::percent_encode;
using fairlead::net::Target;

[[noreturn]] void broken(const char* what) {
  std::cerr << what << "\n";
  std::abort();
}

std::string encoded(const Target& target) {
  std::string text;
  for (const std::string& segment : target.segments) text += "/" + percent_encode(segment);
  text += text.empty() ? "/?" : "?";
  for (const auto& [name, value] : target.query) {
    text += percent_encode(name) + "=" + percent_encode(value) + "&";
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto target = parse_target({reinterpret_cast<const char*>(data), size});
  if (!target) return 0;
  for (const std::string& segment : target->segments) {
    if (segment.empty() || segment == "." || segment == "..") broken("a path climbs");
  }
  const auto again = parse_target(encoded(*target));
  if (!again || again->segments != target->segments || again->query != target->query) {
    broken("a target encodes into something else");
  }
  return 0;
}
