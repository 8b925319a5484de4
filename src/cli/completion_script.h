// Scripts that teach a shell the program's commands, options and their values.
#pragma once

#include <span>
#include <string>

#include "cli/outline.h"

namespace fairlead::cli {

// Each holds everything; the shell does not run the program to complete.
std::string bash_completion(std::span<const CommandOutline> commands);
std::string zsh_completion(std::span<const CommandOutline> commands);
std::string fish_completion(std::span<const CommandOutline> commands);

}  // namespace fairlead::cli
