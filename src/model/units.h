// The units of semantics.md §1 as types that do not mix.
#pragma once

#include "base/quantity.h"

namespace fairlead {

using MilliGpu = Quantity<struct MilliGpuTag>;  // 1000 = the compute of one device
using MilliCpu = Quantity<struct MilliCpuTag>;  // 1000 = one core
using MiB = Quantity<struct MiBTag>;            // device memory
using Bytes = Quantity<struct BytesTag>;        // host memory

inline constexpr std::int64_t kMilli = 1000;
inline constexpr MilliGpu kWholeGpu{kMilli};

}  // namespace fairlead
