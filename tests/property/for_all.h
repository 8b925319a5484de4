// Plays random recipes and prints what breaks a property as a scenario file.
#pragma once

#include <cstdint>
#include <string>

#include "play.h"

namespace fairlead::property {

using Body = std::string (*)(Play&);

// Writes the counterexample; the last one written, the smallest, stays.
std::string written(const History& history, const std::string& name, const std::string& complaint);

// Plays recipes under `checks` and then `body`, `cases` times unless RC_PARAMS says otherwise; with
// or without rule 7.
void for_all(std::uint32_t checks, int cases, Body body, bool taking_back = false);

}  // namespace fairlead::property
