#include "sched/place/score_default.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/wide.h"
#include "sched/place/device_choice.h"
#include "sched/place/request_mix.h"
#include "sched/place/usable_capacity.h"

namespace fairlead::sched {
namespace {

constexpr int kStepBits = 7;              // losses within 128 milli count as equal
constexpr std::int64_t kPriceFactor = 4;  // full scarcity of a model costs 4 × the request
// A score is −steps × 2^14 − what decides within a step, 0 … 2^14 − 1, less being better.
constexpr std::int64_t kStepScore = 1 << 14;
// A CPU-only task goes to a node with GPUs only if nothing else has room.
constexpr std::int64_t kOnGpuNode = std::int64_t{1} << 29;

FreeGpus free_gpus(const NodeState& node) {
  FreeGpus out;
  out.count = std::min(node.free.devices.size(), FreeGpus::kMost);
  for (std::size_t i = 0; i < out.count; ++i) {
    const DeviceState& d = node.free.devices[i];
    out.milli[i] = d.healthy ? std::max(d.free_milli, 0) : 0;
    out.idle += out.milli[i] == kMilli ? 1 : 0;
  }
  return out;
}

class DefaultScorer final : public Scorer {
 public:
  explicit DefaultScorer(const PoolSpec& pool)
      : gpu_strategy_(pool.gpu_strategy), cpu_strategy_(pool.cpu_strategy) {}

  std::int32_t score(const TaskClass& task, const NodeState& node) const override {
    std::int64_t total = 0;
    if (by_mix()) {
      const Outcome out = outcome(task, node);
      total = -out.steps * kStepScore - within_step(task, node, out.left);
    } else {
      total = -rest(task, node);
    }
    if (!task.needs_gpu() && !node.empty.devices.empty()) total -= kOnGpuNode;
    total -= soft_taints(node) * kStepScore * 64;
    return static_cast<std::int32_t>(std::max<std::int64_t>(total, kLowestScore));
  }

  std::int32_t device(const TaskClass& task, const NodeState& node) const override {
    if (!by_mix()) return -1;
    return outcome(task, node).device;
  }

  DeviceChoice device_choice() const override {
    return gpu_strategy_ == Strategy::kSpread ? DeviceChoice::kWorstFit : DeviceChoice::kBestFit;
  }

  // 0 while at most half of a model's free capacity is spoken for by requests that cannot go
  // everywhere, rising to kPriceFactor × the request when all of it is.
  std::int64_t price(const TaskClass& task, std::size_t group,
                     const PoolState& pool) const override {
    if (!by_mix() || !task.needs_gpu()) return 0;
    if (group >= pinned_.size() || pinned_[group] == 0) return 0;
    const std::int64_t free = pool.free_in_group(group);
    if (free <= 0) return 0;
    std::int64_t free_all = 0;
    for (std::size_t g = 0; g < pool.group_count(); ++g) free_all += pool.free_in_group(g);
    const std::int64_t need = mul_div_floor(pinned_[group], free_all, kPinnedOne);
    const std::int64_t scarce = std::clamp<std::int64_t>(2 * need - free, 0, free);
    const auto [milli, count] = gpu_size(task);
    return (mul_div_floor(milli * count * kPriceFactor, scarce, free) >> kStepBits) * kStepScore;
  }

  void observe(const TaskClass& task) override { mix_.observe(task); }
  const RequestMix* mix() const override { return &mix_; }
  void state_mix(const std::vector<std::pair<const TaskClass*, std::int64_t>>& mix) override {
    mix_.state(mix);
  }
  void refresh(const PoolState& pool) override {
    const bool due = mix_.rebuild_due();
    if (due) {
      usable_.build(mix_.items());
      mix_known_ = true;
      ++version_;
    }
    if (due || order_version_ != pool.order_version()) {
      order_version_ = pool.order_version();
      if (mix_known_) pin(pool);
    }
  }

 private:
  static constexpr std::int64_t kPinnedOne = 1 << 16;

  bool by_mix() const { return mix_known_ && gpu_strategy_ == Strategy::kBinpack; }

  struct Outcome {
    std::int64_t steps = 0;
    std::int64_t left = 0;  // milli, of what the task is packed into: see the header
    std::int32_t device = -1;
  };

  // What placing the task costs the mix, in steps, and the device of a fraction that costs least.
  Outcome outcome(const TaskClass& task, const NodeState& node) const {
    FreeGpus gpus = free_gpus(node);
    const std::int64_t cpu_before = node.free.cpu;
    const std::int64_t cpu_after = cpu_before - task.cpu;
    const std::int64_t before = usable_.usable(gpus, cpu_before);
    std::int64_t after = usable_.usable(gpus, cpu_after);
    const auto [milli, count] = gpu_size(task);
    Outcome out;
    if (count == 1 && !task.request.gpu.whole()) {
      std::int64_t best = INT64_MIN;
      std::int32_t best_left = 0;
      std::int32_t last = -1;
      for (std::size_t i = 0; i < gpus.count; ++i) {
        const std::int32_t from = gpus.milli[i];
        const auto to = static_cast<std::int32_t>(from - milli);
        if (to < 0 || from == last || !device_has_room(task, node.free.devices[i])) continue;
        last = from;
        const std::int64_t v = usable_.change(gpus, cpu_after, from, to);
        if (v > best || (v == best && to < best_left)) {
          best = v;
          best_left = to;
          out.device = static_cast<std::int32_t>(i);
        }
      }
      if (out.device >= 0) {
        after += best;
        out.left = best_left;
      }
    } else if (count > 0) {
      // Several devices: which ones, topology decides; here the fullest that fit.
      std::int32_t missing = count;
      for (std::size_t i = 0; i < gpus.count && missing > 0; ++i) {
        if (!device_has_room(task, node.free.devices[i]) || gpus.milli[i] < milli) continue;
        if (gpus.milli[i] == kMilli) --gpus.idle;
        gpus.milli[i] -= static_cast<std::int32_t>(milli);
        --missing;
      }
      after = usable_.usable(gpus, cpu_after);
      if (count > 1) out.left = node.free_milli - milli * count;
    }
    const std::int64_t demand = milli * count;
    const std::int64_t loss = ((before - after) >> UsableCapacity::kShareBits) - demand +
                              usable_.stranded(cpu_after, node.free_milli - demand) -
                              usable_.stranded(cpu_before, node.free_milli);
    out.steps = -((-loss) >> kStepBits);
    if (task.gpu_kind == GpuRequestKind::kMig) out.device = -1;
    return out;
  }

  std::int64_t within_step(const TaskClass& task, const NodeState& node, std::int64_t left) const {
    if (task.needs_gpu()) return std::clamp<std::int64_t>(left, 0, kStepScore - 1);
    const bool first = cpu_strategy_ == Strategy::kBinpack && !node.empty.devices.empty();
    return first ? 0 : rest(task, node);
  }

  // What the strategy alone says, 0 … 2^14 − 1: GPU left on the node for tasks with GPUs (a 16-GPU
  // node has 16,000 milli), and share of CPU left for others.
  std::int64_t rest(const TaskClass& task, const NodeState& node) const {
    std::int64_t left = 0;
    Strategy strategy = gpu_strategy_;
    if (task.needs_gpu()) {
      const auto [milli, count] = gpu_size(task);
      left = std::clamp<std::int64_t>(node.free_milli - milli * count, 0, kStepScore - 1);
    } else {
      strategy = cpu_strategy_;
      const std::int64_t total = std::max<std::int64_t>(node.empty.cpu, 1);
      left = std::clamp<std::int64_t>(
          mul_div_floor(std::max<std::int64_t>(node.free.cpu - task.cpu, 0), kStepScore - 1, total),
          0, kStepScore - 1);
    }
    return strategy == Strategy::kBinpack ? left : kStepScore - 1 - left;
  }

  static std::int64_t soft_taints(const NodeState& node) {
    return std::count_if(node.spec.taints.begin(), node.spec.taints.end(),
                         [](const Taint& t) { return t.effect == TaintEffect::kPreferNoSchedule; });
  }

  // One node of each distinct size: whether a request fits a kind of node at all.
  const std::vector<const NodeState*>& node_kinds(const PoolState& pool) {
    if (kinds_version_ == pool.shape_version()) return kinds_;
    kinds_version_ = pool.shape_version();
    std::map<std::tuple<std::size_t, std::int64_t, std::int64_t, std::size_t>, const NodeState*>
        kinds;
    for (std::uint32_t s = 0; s < pool.slot_count(); ++s) {
      const NodeState& n = pool.node_at(s);
      kinds.try_emplace({pool.group_at(s), n.empty.cpu, n.empty.memory, n.empty.devices.size()},
                        &n);
    }
    kinds_.clear();
    for (const auto& [key, node] : kinds) kinds_.push_back(node);
    return kinds_;
  }

  // Per group, the share (of 2^16) of all GPU demand that must run on it: demand that cannot go
  // everywhere, split over the groups it may use by their capacity. Tasks of several devices need
  // whole nodes of the group, so they count up to four times, but not beyond half of its capacity.
  void pin(const PoolState& pool) {
    const std::size_t groups = pool.group_count();
    pinned_.assign(groups, 0);
    std::vector<std::int64_t> several(groups, 0);
    Int128 all = 0;
    const auto items = mix_.items();
    for (const auto& [task, weight] : items) {
      const auto [milli, count] = gpu_size(*task);
      all += Int128{weight} * milli * count;
    }
    if (all == 0) return;
    const auto& kinds = node_kinds(pool);
    std::int64_t total = 0;
    for (std::size_t g = 1; g < groups; ++g) total += pool.total_in_group(g);
    for (const auto& [task, weight] : items) {
      const auto [milli, count] = gpu_size(*task);
      if (count == 0) continue;
      std::vector<bool> on(groups, false);
      for (const NodeState* kind : kinds) {
        const std::size_t g = pool.group_at(kind->slot);
        on[g] = on[g] || room_fit(*task, kind->empty).slots > 0;
      }
      std::int64_t capacity = 0;
      for (std::size_t g = 1; g < groups; ++g) capacity += on[g] ? pool.total_in_group(g) : 0;
      if (capacity == total || capacity == 0) continue;
      const auto share =
          static_cast<std::int64_t>(Int128{weight} * milli * count * kPinnedOne / all);
      for (std::size_t g = 1; g < groups; ++g) {
        if (!on[g]) continue;
        const std::int64_t part = mul_div_floor(share, pool.total_in_group(g), capacity);
        pinned_[g] += part;
        if (count > 1) several[g] += part;
      }
    }
    for (std::size_t g = 1; g < groups && total > 0; ++g) {
      const std::int64_t half = mul_div_floor(kPinnedOne / 2, pool.total_in_group(g), total);
      pinned_[g] = std::max(pinned_[g], std::min(pinned_[g] + 3 * several[g], half));
    }
  }

  Strategy gpu_strategy_;
  Strategy cpu_strategy_;
  RequestMix mix_;
  UsableCapacity usable_;
  bool mix_known_ = false;
  std::uint32_t order_version_ = UINT32_MAX;
  std::uint64_t kinds_version_ = UINT64_MAX;
  std::vector<const NodeState*> kinds_;
  std::vector<std::int64_t> pinned_;  // by group
};

}  // namespace

std::unique_ptr<Scorer> make_default_scorer(const PoolSpec& pool) {
  return std::make_unique<DefaultScorer>(pool);
}

}  // namespace fairlead::sched
