#include "sim/scenario/once.h"

#include <fmt/format.h>

namespace fairlead::sim {

Result<void> Once::note(const Cursor& cursor, const Word& word, const std::string& setting) {
  const auto [first, fresh] = first_.try_emplace(setting, word);
  if (fresh) return {};
  return cursor.fail(word,
                     fmt::format("'{}' states again what '{}' at {} has stated", word.text,
                                 first->second.text, cursor.place(first->second)),
                     "keep one of them");
}

}  // namespace fairlead::sim
