// Amounts as a person writes them, by the unit of their resource.
//
// "gpu" and "milli" (of a GPU): thousandths of a device; "gpu" is written in devices ("0.5", "8"),
// "milli" as it is. "cpu": milli-CPU, written in cores. "memory": bytes with a unit. Any other
// resource: a whole number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/gpu_request.h"

namespace fairlead::sim {

Result<std::int64_t> parse_amount(std::string_view resource, std::string_view text);
std::string amount_text(std::string_view resource, std::int64_t amount);

// Of a named resource; gpu, cpu and memory have settings of their own.
Result<std::int64_t> parse_extra(const std::string& name, std::string_view text);

// "8", "0.5" (half of one device), "4x0.5" (half of each of four devices of one node), "0".
Result<GpuRequest> parse_gpu(std::string_view text);
// "2000" or "2x2000": MiB of each of so many devices.
Result<GpuRequest> parse_gpu_memory(std::string_view text);
// "1g.10gb" or "2x1g.10gb".
Result<GpuRequest> parse_mig(std::string_view text);

// The settings that read back as the request, without limits: "gpu=4x0.5", "" for none.
std::string gpu_text(const GpuRequest& request);

}  // namespace fairlead::sim
