// What became of an attempt, from its folder: the rules of "never twice" on the server's side.
//
// Whoever gets the lock decides, and writes what it decided before it is said.
#pragma once

#include <optional>
#include <string>

#include "engine/local/attempt_folder.h"
#include "engine/local/records.h"
#include "node/cgroups.h"

namespace fairlead::engine {

struct SettlePlace {
  std::string state;
  const node::CgroupTree* groups = nullptr;  // nullptr: none are used
};

// What is final already, or becomes so now because nobody watches the attempt: lost if it began
// (what is left of it is killed first, which may take seconds), never began if not. nullopt while a
// supervisor holds it. An attempt without a folder gets one, so that it can never begin.
Result<std::optional<Outcome>> settle(const SettlePlace& place, const AttemptId& attempt);

}  // namespace fairlead::engine
