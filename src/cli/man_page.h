// Manual pages in plain troff (man(7)), from what the program itself says of its commands.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/outline.h"

namespace fairlead::cli {

struct ManPage {
  std::string file;  // "fairlead-submit.1"
  std::string text;
};

// One for the program, and one for each of its commands with all below it. `commands` as
// outline_of() gives them.
std::vector<ManPage> man_pages(std::span<const CommandOutline> commands,
                               const std::string& version);

}  // namespace fairlead::cli
