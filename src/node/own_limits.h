// What affinity and control groups leave to this server of the machine's CPUs and memory.
//
// A limit may stand on any group from our own up to the root; the smallest counts.
#pragma once

#include <optional>
#include <string>

#include "model/units.h"

namespace fairlead::node {

struct OwnLimits {
  std::optional<MilliCpu> cpu;
  std::optional<Bytes> memory;
};

// `root` as /sys/fs/cgroup, `self` as /proc/self/cgroup.
OwnLimits own_limits(const std::string& root, const std::string& self);

}  // namespace fairlead::node
