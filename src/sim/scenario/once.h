// The settings that one thing has been given: a statement, a role of it, a device of a node.
//
// Invariant: each is stated once. Two values for one setting would leave it to the reader which of
// them counts, and to the writer to find out.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "sim/scenario/cursor.h"

namespace fairlead::sim {

class Once {
 public:
  // Error: kInvalidArgument at `word`, naming the word that stated `setting` before. Settings that
  // contradict each other ("healthy", "unhealthy") have one name.
  Result<void> note(const Cursor& cursor, const Word& word, const std::string& setting);

 private:
  std::map<std::string, Word> first_;
};

}  // namespace fairlead::sim
