// What this machine can enforce on tasks, and why not where it cannot. For `doctor` and the log.
#pragma once

#include <string>
#include <vector>

#include "node/cgroups.h"

namespace fairlead::node {

struct Capability {
  std::string name;  // "cpu-limit", "freeze", …: stable
  bool available = false;
  std::string detail;  // how, or why not and what is done instead
};

std::vector<Capability> capabilities(const CgroupTree& tree);

}  // namespace fairlead::node
