// FGD, section 4 of the paper. Node n: free CPU c, free milli g_1…g_k, idle R = Σ g. Task class m
// of the mix: CPU a, GPU milli r, count k, popularity p. Fragment F_n(m) = R if r = 0, or the
// node's GPUs are not allowed, or c < a, or fewer than k devices have r free; else the sum of the g
// below r. The score of putting a task on n is int(100 · sigmoid(Δ/1000)) of Δ = F_n(M) − F_n'(M).
//
// Popularities are fixed-point (2^−30) and the sigmoid is a table of its 100 steps, so the decision
// is in integers. Cost of a score: O(mix classes × devices), once for the node as it is and once
// per device tried.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/wide.h"
#include "sched/place/device_choice.h"
#include "sched/place/request_mix.h"
#include "sched/place/score_published.h"

namespace fairlead::sched {
namespace {

constexpr std::int64_t kOne = std::int64_t{1} << 30;

struct MixClass {
  std::int64_t cpu = 0;
  std::int64_t milli = 0;
  std::int32_t count = 0;
  std::vector<bool> allowed;  // by ClassId
  std::int64_t weight = 0;    // of kOne
};

struct Gpus {
  std::int64_t cpu = 0;
  std::array<std::int64_t, 32> free{};
  std::size_t count = 0;
  std::size_t device_class = 0;
  bool any = false;
};

// thresholds[k] is the least Δ, in milli × 2^30, whose score is at least k + 1.
const std::array<Int128, 99>& sigmoid_steps() {
  static const std::array<Int128, 99> kSteps = [] {
    std::array<Int128, 99> out{};
    for (int k = 1; k < 100; ++k) {
      const double x = 1000.0 * std::log(static_cast<double>(k) / (100.0 - k));
      out[static_cast<std::size_t>(k - 1)] =
          static_cast<Int128>(std::ceil(x * static_cast<double>(kOne)));
    }
    return out;
  }();
  return kSteps;
}

class FgdScorer final : public Scorer {
 public:
  std::int32_t score(const TaskClass& task, const NodeState& node) const override {
    return best(task, node).first;
  }

  std::int32_t device(const TaskClass& task, const NodeState& node) const override {
    return best(task, node).second;
  }

  void observe(const TaskClass& task) override { mix_.observe(task); }
  const RequestMix* mix() const override { return &mix_; }
  void state_mix(const std::vector<std::pair<const TaskClass*, std::int64_t>>& mix) override {
    mix_.state(mix);
  }
  void refresh(const PoolState&) override {
    if (mix_.rebuild_due()) build();
  }

 private:
  // The mix counts by (cpu, gpu milli, count, models), memory ignored; classes by popularity until
  // 95 % of the requests are covered.
  void build() {
    using Key = std::tuple<std::int64_t, std::int64_t, std::int32_t, std::vector<bool>>;
    std::map<Key, std::int64_t> counts;
    std::int64_t total = 0;
    for (const RequestMix::Item& item : mix_.items()) {
      std::vector<bool> allowed;
      for (const OnDevice& on : item.task->on_device) allowed.push_back(on.allowed);
      counts[{item.task->cpu, item.task->milli, item.task->gpu_count, std::move(allowed)}] +=
          item.weight;
      total += item.weight;
    }
    std::vector<std::pair<std::int64_t, const Key*>> sorted;
    for (const auto& [key, count] : counts) sorted.emplace_back(count, &key);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::int64_t covered = 0;
    std::size_t used = 0;
    while (used < sorted.size() && covered * 100 < total * 95) covered += sorted[used++].first;
    classes_.clear();
    for (std::size_t i = 0; i < used; ++i) {
      const auto& [cpu, milli, count, allowed] = *sorted[i].second;
      classes_.push_back(
          {cpu, milli, count, allowed, mul_div_floor(kOne, sorted[i].first, covered)});
    }
    ++version_;
  }

  std::int64_t fragment(const Gpus& node) const {
    std::int64_t idle = 0;
    for (std::size_t j = 0; j < node.count; ++j) idle += node.free[j];
    std::int64_t sum = 0;
    for (const MixClass& m : classes_) {
      if (m.milli == 0 || node.cpu < m.cpu || node.device_class >= m.allowed.size() ||
          !m.allowed[node.device_class]) {
        sum += m.weight * idle;
        continue;
      }
      std::int32_t fitting = 0;
      std::int64_t below = 0;
      for (std::size_t j = 0; j < node.count; ++j) {
        if (node.free[j] >= m.milli) {
          ++fitting;
        } else {
          below += node.free[j];
        }
      }
      sum += m.weight * (fitting < m.count ? idle : below);
    }
    return sum;
  }

  static std::int32_t score_of(std::int64_t before, std::int64_t after) {
    const Int128 gain = Int128{before} - after;
    const auto& steps = sigmoid_steps();
    return static_cast<std::int32_t>(std::upper_bound(steps.begin(), steps.end(), gain) -
                                     steps.begin());
  }

  // The score, and for a fraction of one device the device that gives it.
  std::pair<std::int32_t, std::int32_t> best(const TaskClass& task, const NodeState& node) const {
    Gpus now;
    now.cpu = node.free.cpu;
    now.count = std::min<std::size_t>(node.free.devices.size(), now.free.size());
    for (std::size_t j = 0; j < now.count; ++j) {
      const DeviceState& d = node.free.devices[j];
      now.free[j] = d.healthy ? d.free_milli : 0;
      now.device_class = d.device_class.index();
    }
    const std::int64_t before = fragment(now);
    Gpus after = now;
    after.cpu -= task.cpu;
    if (task.gpu_count == 1 && !task.request.gpu.whole()) {
      std::pair<std::int32_t, std::int32_t> winner{kLowestScore, -1};
      for (std::size_t j = 0; j < now.count; ++j) {
        if (!device_has_room(task, node.free.devices[j])) continue;
        after.free[j] = now.free[j] - task.milli;
        const std::int32_t s = score_of(before, fragment(after));
        after.free[j] = now.free[j];
        if (s > winner.first) winner = {s, static_cast<std::int32_t>(j)};
      }
      return winner;
    }
    std::int32_t missing = task.gpu_count;
    for (std::size_t j = 0; j < now.count && missing > 0; ++j) {
      if (!device_has_room(task, node.free.devices[j])) continue;
      after.free[j] -= task.milli;
      --missing;
    }
    return {score_of(before, fragment(after)), -1};
  }

  RequestMix mix_;
  std::vector<MixClass> classes_;
};

}  // namespace

std::unique_ptr<Scorer> make_fgd_scorer() {
  return std::make_unique<FgdScorer>();
}

}  // namespace fairlead::sched
