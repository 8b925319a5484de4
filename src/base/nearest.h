// The known name nearest to one that is not known, for "did you mean".
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace fairlead {

// The first candidate that begins with `word` ("H100" for "H100-80GB"), else the one with the
// smallest edit distance to it (insert, delete, replace, swap of neighbours; letter case costs
// nothing), the first among equals; empty if none is near enough to be a slip. Cost: O(|word| ×
// total length of candidates).
std::string nearest_name(std::string_view word, std::span<const std::string> candidates);

// "a, b or c"; with more than `most` names the rest is counted: "a, b, … (12 in all)".
std::string listing(std::span<const std::string> names, std::size_t most = 12);

}  // namespace fairlead
