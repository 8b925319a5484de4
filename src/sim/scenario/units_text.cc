#include "sim/scenario/units_text.h"

#include <fmt/format.h>

#include "base/decimal.h"
#include "sim/scenario/cursor.h"

namespace fairlead::sim {
namespace {

constexpr std::int64_t kMostDevices = 64;

// Takes "4x" off the front; 1 if there is none.
Result<std::int64_t> take_count(std::string_view& text) {
  const std::size_t x = text.find('x');
  if (x == std::string_view::npos || x == 0 ||
      text.substr(0, x).find_first_not_of("0123456789") != std::string_view::npos) {
    return 1;
  }
  FAIRLEAD_ASSIGN(const std::int64_t count, parse_count(text.substr(0, x), 1, kMostDevices));
  text.remove_prefix(x + 1);
  return count;
}

}  // namespace

Result<std::int64_t> parse_amount(std::string_view resource, std::string_view text) {
  if (resource == "gpu") return parse_decimal(text, 3);
  if (resource == "cpu") return parse_cpu(text);
  if (resource == "memory") return parse_memory(text);
  if (resource == "mib") return parse_mib(text);
  return parse_count(text, 0, std::int64_t{1} << 40);
}

std::string amount_text(std::string_view resource, std::int64_t amount) {
  if (resource == "gpu" || resource == "cpu") return decimal_text(amount, 3);
  if (resource == "memory") return memory_text(amount);
  return fmt::format("{}", amount);
}

Result<std::int64_t> parse_extra(const std::string& name, std::string_view text) {
  if (name == "gpu" || name == "cpu" || name == "memory") {
    return fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is no named resource", name),
                fmt::format("write {}=, or choose another name", name));
  }
  return parse_count(text, 0, std::int64_t{1} << 40);
}

Result<GpuRequest> parse_gpu(std::string_view text) {
  std::string_view rest = text;
  FAIRLEAD_ASSIGN(const std::int64_t count, take_count(rest));
  FAIRLEAD_ASSIGN(const std::int64_t milli, parse_decimal(rest, 3));
  GpuRequest request;
  if (milli == 0 && count == 1) return request;
  if (milli < 0) {
    return fail(ErrorCode::kOutOfRange, fmt::format("gpu={} is negative", text),
                "write gpu=2, gpu=0.5 or gpu=4x0.5");
  }
  if (milli % kMilli == 0 && milli > 0) {
    if (milli / kMilli * count > kMostDevices * 16) {
      return fail(ErrorCode::kOutOfRange, fmt::format("gpu={} is more than any node has", text));
    }
    request.kind = GpuRequestKind::kDevices;
    request.count = static_cast<std::int32_t>(milli / kMilli * count);
    return request;
  }
  if (milli > kMilli || milli == 0) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("gpu={} is neither whole nor below 1", text),
                "write whole devices (gpu=2), a share of one (gpu=0.5) or of several (gpu=2x0.75)");
  }
  request.kind = GpuRequestKind::kPortion;
  request.count = static_cast<std::int32_t>(count);
  request.portion = MilliGpu(milli);
  return request;
}

Result<GpuRequest> parse_gpu_memory(std::string_view text) {
  FAIRLEAD_ASSIGN(const std::int64_t count, take_count(text));
  FAIRLEAD_ASSIGN(const std::int64_t mib, parse_mib(text));
  if (mib <= 0) {
    return fail(ErrorCode::kOutOfRange, "gpu-memory must be above 0", "leave it out, or gpu=0");
  }
  GpuRequest request;
  request.kind = GpuRequestKind::kMemory;
  request.count = static_cast<std::int32_t>(count);
  request.memory = MiB(mib);
  return request;
}

Result<GpuRequest> parse_mig(std::string_view text) {
  FAIRLEAD_ASSIGN(const std::int64_t count, take_count(text));
  if (text.empty())
    return fail(ErrorCode::kInvalidArgument, "mig= names no profile", "mig=1g.10gb");
  GpuRequest request;
  request.kind = GpuRequestKind::kMig;
  request.count = static_cast<std::int32_t>(count);
  request.mig_profile = text;
  return request;
}

std::string gpu_text(const GpuRequest& request) {
  const std::string times = request.count == 1 ? "" : fmt::format("{}x", request.count);
  switch (request.kind) {
    case GpuRequestKind::kNone:
      return "";
    case GpuRequestKind::kDevices:
      return fmt::format("gpu={}", request.count);
    case GpuRequestKind::kPortion:
      return fmt::format("gpu={}{}", times, decimal_text(request.portion.value, 3));
    case GpuRequestKind::kMemory:
      return fmt::format("gpu-memory={}{}", times, request.memory.value);
    case GpuRequestKind::kMig:
      return fmt::format("mig={}{}", times, request.mig_profile);
  }
  return "";
}

}  // namespace fairlead::sim
