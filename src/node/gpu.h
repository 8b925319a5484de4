// A GPU of this machine: what the driver says of it, and the device files that open it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/device.h"

namespace fairlead::node {

struct Gpu {
  std::string uuid;  // "GPU-…"
  std::string name;  // "NVIDIA H100 80GB HBM3"
  MiB memory;
  std::string pci;          // "0000:0f:00.0"; empty if unknown
  std::int32_t minor = -1;  // N of /dev/nvidiaN; -1 if unknown or simulated
  std::int32_t nvlink_island = -1;
  bool mig_enabled = false;
};

// The known class of that GPU, else one of its own that is named after it.
DeviceClass device_class_of(const Gpu& gpu);

}  // namespace fairlead::node
