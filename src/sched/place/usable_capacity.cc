#include "sched/place/usable_capacity.h"

#include <algorithm>

#include "base/wide.h"

namespace fairlead::sched {
namespace {

constexpr std::size_t kMostLevels = 64;

// Sorted, distinct, and at most kMostLevels of them (every second one is dropped as often as
// needed; a request then counts at the next higher level, which is on the safe side).
void thin_out(std::vector<std::int64_t>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  while (values.size() > kMostLevels) {
    std::vector<std::int64_t> kept;
    for (std::size_t i = values.size() % 2 == 0 ? 1 : 0; i < values.size(); i += 2)
      kept.push_back(values[i]);
    values = std::move(kept);
  }
}

}  // namespace

std::pair<std::int64_t, std::int32_t> gpu_size(const TaskClass& task) {
  if (!task.needs_gpu()) return {0, 0};
  if (task.milli > 0) return {task.milli, task.gpu_count};
  for (const OnDevice& on : task.on_device) {
    if (!on.allowed) continue;
    return {std::clamp<std::int64_t>(on.charge_milli / std::max(task.gpu_count, 1), 1, kMilli),
            task.gpu_count};
  }
  return {0, 0};
}

void UsableCapacity::build(const std::vector<RequestMix::Item>& mix) {
  cpu_limits_.clear();
  std::vector<std::int64_t> milli_limits;
  std::int64_t all = 0;
  Int128 cpu_sum = 0;
  Int128 demand_sum = 0;
  for (const auto& [task, weight] : mix) {
    all += weight;
    const auto [milli, count] = gpu_size(*task);
    if (count == 0) continue;
    cpu_limits_.push_back(task->cpu);
    milli_limits.push_back(milli);
    cpu_sum += Int128{weight} * task->cpu;
    demand_sum += Int128{weight} * milli * count;
  }
  thin_out(cpu_limits_);
  thin_out(milli_limits);
  levels_ = milli_limits.size() + 1;
  for (std::int64_t g = 0; g <= kMilli; ++g) {
    level_of_[static_cast<std::size_t>(g)] = static_cast<std::uint8_t>(
        std::upper_bound(milli_limits.begin(), milli_limits.end(), g) - milli_limits.begin());
  }
  const std::size_t cpu_levels = cpu_limits_.size() + 1;
  one_.assign(cpu_levels * levels_, 0);
  many_.assign(cpu_levels * (FreeGpus::kMost + 1), 0);
  for (const auto& [task, weight] : mix) {
    const auto [milli, count] = gpu_size(*task);
    if (count == 0) continue;
    const auto rounded_up = [](const std::vector<std::int64_t>& limits, std::int64_t v) {
      const auto it = std::lower_bound(limits.begin(), limits.end(), v);
      return static_cast<std::size_t>(it - limits.begin()) + 1;
    };
    for (std::size_t c = rounded_up(cpu_limits_, task->cpu); c < cpu_levels; ++c) {
      if (count == 1) {
        for (std::size_t m = rounded_up(milli_limits, milli); m < levels_; ++m) {
          one_[c * levels_ + m] += weight;
        }
      } else {
        for (auto f = static_cast<std::size_t>(count); f <= FreeGpus::kMost; ++f) {
          many_[c * (FreeGpus::kMost + 1) + f] += weight;
        }
      }
    }
  }
  for (auto* table : {&one_, &many_}) {
    for (std::int64_t& share : *table)
      share = mul_div_floor(share, 1 << kShareBits, std::max<std::int64_t>(all, 1));
  }
  gpu_per_cpu_ = cpu_sum > 0 ? static_cast<std::int64_t>((demand_sum << 16) / cpu_sum) : 0;
}

std::size_t UsableCapacity::cpu_level(std::int64_t cpu) const {
  return static_cast<std::size_t>(std::upper_bound(cpu_limits_.begin(), cpu_limits_.end(), cpu) -
                                  cpu_limits_.begin());
}

// One-device classes add up over the devices; a class of k > 1 devices can use all idle ones once
// there are k of them.
std::int64_t UsableCapacity::usable(const FreeGpus& gpus, std::int64_t cpu) const {
  const std::size_t c = cpu_level(cpu);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < gpus.count; ++i) sum += gpus.milli[i] * one(c, gpus.milli[i]);
  return sum + gpus.idle * kMilli * many(c, gpus.idle);
}

std::int64_t UsableCapacity::change(const FreeGpus& gpus, std::int64_t cpu, std::int32_t from,
                                    std::int32_t to) const {
  const std::size_t c = cpu_level(cpu);
  std::int64_t v = to * one(c, to) - from * one(c, from);
  if (from == kMilli) {
    v += kMilli * ((gpus.idle - 1) * many(c, gpus.idle - 1) - gpus.idle * many(c, gpus.idle));
  }
  return v;
}

std::int64_t UsableCapacity::stranded(std::int64_t cpu, std::int64_t free_milli) const {
  if (gpu_per_cpu_ == 0) return 0;
  return std::max<std::int64_t>(
      0, free_milli - static_cast<std::int64_t>((Int128{cpu} * gpu_per_cpu_) >> 16));
}

}  // namespace fairlead::sched
