// What one task asks of GPUs: semantics 2.1 to 2.5.
//
// A request is of one kind; `count` devices of one node. A limit (2.4) lies at or above the
// request and is granted only from what nobody else holds, so it never enters a fit.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "model/units.h"

namespace fairlead {

enum class GpuRequestKind : std::uint8_t {
  kNone,     // a CPU-only task
  kDevices,  // 2.1: `count` whole devices
  kPortion,  // 2.2: `portion` of the memory and of the compute of each of `count` devices
  kMemory,   // 2.3: `memory` MiB on each of `count` devices
  kMig,      // 2.5: `count` instances of `mig_profile`
};

struct GpuRequest {
  GpuRequestKind kind = GpuRequestKind::kNone;
  std::int32_t count = 0;
  MilliGpu portion;                       // kPortion: 0 < portion < 1000
  MiB memory;                             // kMemory: > 0
  std::string mig_profile;                // kMig: "1g.10gb"
  std::optional<MilliGpu> compute_limit;  // 2.4, per device; portion and memory requests only
  std::optional<MiB> memory_limit;        // 2.4, per device; portion and memory requests only

  friend auto operator<=>(const GpuRequest&, const GpuRequest&) = default;

  bool none() const { return kind == GpuRequestKind::kNone; }
  bool whole() const { return kind == GpuRequestKind::kDevices; }
};

}  // namespace fairlead
