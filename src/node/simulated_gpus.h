// "8xH100-80GB" or "4xA100-40GB,2xT4": GPUs that are not there, to try Fairlead out without any.
//
// The same text gives the same UUIDs on any machine.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "node/gpu.h"

namespace fairlead::node {

// Error: kInvalidArgument or kNotFound with the nearest known class; kOutOfRange above 1024 GPUs.
Result<std::vector<Gpu>> simulated_gpus(std::string_view text);

}  // namespace fairlead::node
