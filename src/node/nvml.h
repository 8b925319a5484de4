// The GPUs that NVIDIA's management library (NVML) knows, loaded at run time.
//
// A machine without the library has no GPUs; that is not an error. The declarations are ours, and
// newer names of a function are preferred where the library has them; one that is missing costs the
// fact it tells, no more. The library is unloaded before this returns.
#pragma once

#include <string>
#include <vector>

#include "node/gpu.h"

namespace fairlead::node {

struct NvmlFindings {
  std::vector<Gpu> gpus;
  std::string note;  // why there are none, or what could not be asked; empty if all is well
};

NvmlFindings ask_nvml(const std::string& library = "libnvidia-ml.so.1");

}  // namespace fairlead::node
