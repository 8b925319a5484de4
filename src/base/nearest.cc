#include "base/nearest.h"

#include <algorithm>
#include <vector>

namespace fairlead {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Optimal string alignment distance (Damerau-Levenshtein without overlapping swaps).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0U : 1U)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
          lower(a[i - 2]) == lower(b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

bool begins_with(std::string_view text, std::string_view start) {
  return text.size() >= start.size() &&
         std::equal(start.begin(), start.end(), text.begin(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

}  // namespace

std::string nearest_name(std::string_view word, std::span<const std::string> candidates) {
  constexpr std::size_t kLongest = 128;  // longer ones are not slips of the fingers
  if (word.size() > kLongest) return {};
  if (word.size() >= 3) {
    for (const std::string& candidate : candidates) {
      if (begins_with(candidate, word)) return candidate;
    }
  }
  const std::string* best = nullptr;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongest) continue;
    const std::size_t d = distance(word, candidate);
    if (d >= best_distance) continue;
    best_distance = d;
    best = &candidate;
  }
  return best == nullptr ? std::string() : *best;
}

std::string listing(std::span<const std::string> names, std::size_t most) {
  std::string out;
  const bool all = names.size() <= most;
  const std::size_t shown = all ? names.size() : most;
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) out += all && i + 1 == shown ? " or " : ", ";
    out += names[i];
  }
  if (!all) out += ", … (" + std::to_string(names.size()) + " in all)";
  return out;
}

}  // namespace fairlead
