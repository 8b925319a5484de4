// Usable capacity: how much of a node's free GPU the next request of the mix can be expected to
// use.
//
// Tables over (CPU level, milli level), built from a request mix; a lookup per device gives the
// expectation. CPU-only requests can use no GPU, so they lower every expectation alike.
// Fixed point: popularity 1 is 2^16. Cost: build() O(mix × levels), usable() O(devices).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sched/place/request_mix.h"

namespace fairlead::sched {

// Free compute of a node's devices, as the tables need it.
struct FreeGpus {
  static constexpr std::size_t kMost = 16;  // devices beyond are not looked at
  std::array<std::int32_t, kMost> milli{};
  std::size_t count = 0;
  std::int32_t idle = 0;  // wholly free ones
};

// A request as (milli per device, devices): memory and MIG requests count by what they are charged
// on the first device class that allows them; (0, 0) for a CPU-only task.
std::pair<std::int64_t, std::int32_t> gpu_size(const TaskClass& task);

class UsableCapacity {
 public:
  static constexpr int kShareBits = 16;

  void build(const std::vector<RequestMix::Item>& mix);
  bool empty() const { return one_.empty(); }

  // Expected usable milli × 2^16 with this much CPU free.
  std::int64_t usable(const FreeGpus& gpus, std::int64_t cpu) const;
  // Change of usable() if device value `from` becomes `to` (a one-device fraction or whole device).
  std::int64_t change(const FreeGpus& gpus, std::int64_t cpu, std::int32_t from,
                      std::int32_t to) const;
  // Free GPU milli beyond what the free CPU serves at the mix's mean CPU per GPU.
  std::int64_t stranded(std::int64_t cpu, std::int64_t free_milli) const;

 private:
  std::size_t cpu_level(std::int64_t cpu) const;
  std::int64_t one(std::size_t level, std::int32_t milli) const {
    return one_[level * levels_ + level_of_[static_cast<std::size_t>(milli)]];
  }
  std::int64_t many(std::size_t level, std::int32_t idle) const {
    return many_[level * (FreeGpus::kMost + 1) + static_cast<std::size_t>(idle)];
  }

  std::vector<std::int64_t> cpu_limits_;  // distinct CPU requests of GPU classes, ascending
  std::array<std::uint8_t, 1001> level_of_{};
  std::size_t levels_ = 1;
  std::vector<std::int64_t>
      one_;  // [cpu level][milli level]: popularity of 1-device classes that fit
  std::vector<std::int64_t>
      many_;                      // [cpu level][idle]: popularity of multi-device classes that fit
  std::int64_t gpu_per_cpu_ = 0;  // milli-GPU per milli-CPU of the mean GPU request, × 2^16
};

}  // namespace fairlead::sched
