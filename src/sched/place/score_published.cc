#include "sched/place/score_published.h"

#include "base/wide.h"

namespace fairlead::sched {
namespace {

// The papers normalise by the largest node of their cluster: 128 cores and 8 GPUs.
constexpr std::int64_t kCpuScale = 128'000;
constexpr std::int64_t kGpuScale = 8'000;

std::int64_t gpu_request(const TaskClass& task) {
  return task.milli * task.gpu_count;
}

class RandomScorer final : public Scorer {
 public:
  std::int32_t score(const TaskClass&, const NodeState&) const override { return 0; }
  bool random() const override { return true; }
};

class FirstFitScorer final : public Scorer {
 public:
  std::int32_t score(const TaskClass&, const NodeState&) const override { return 0; }
};

// int(100 · (1 − ½(cpu_left/128000 + gpu_left/8000))). The papers then stretch the scores of the
// feasible nodes to 0…100, which changes neither the order nor the ties.
class BestFitScorer final : public Scorer {
 public:
  std::int32_t score(const TaskClass& task, const NodeState& node) const override {
    const std::int64_t cpu_left = node.free.cpu - task.cpu;
    const std::int64_t gpu_left = node.free_milli - gpu_request(task);
    const Int128 scale = Int128{2} * kCpuScale * kGpuScale;
    const Int128 left = Int128{cpu_left} * kGpuScale + Int128{gpu_left} * kCpuScale;
    return static_cast<std::int32_t>((100 * scale - 100 * left) / scale);
  }
};

// int(100 · (1 − ½(cpu_free·cpu_req/128000² + gpu_free·gpu_req/8000²))).
class DotProductScorer final : public Scorer {
 public:
  std::int32_t score(const TaskClass& task, const NodeState& node) const override {
    const Int128 cpu = Int128{node.free.cpu} * task.cpu * kGpuScale * kGpuScale;
    const Int128 gpu = Int128{node.free_milli} * gpu_request(task) * kCpuScale * kCpuScale;
    const Int128 scale = Int128{2} * kCpuScale * kCpuScale * kGpuScale * kGpuScale;
    return static_cast<std::int32_t>((100 * scale - 100 * (cpu + gpu)) / scale);
  }
};

}  // namespace

std::unique_ptr<Scorer> make_random_scorer() {
  return std::make_unique<RandomScorer>();
}
std::unique_ptr<Scorer> make_first_fit_scorer() {
  return std::make_unique<FirstFitScorer>();
}
std::unique_ptr<Scorer> make_best_fit_scorer() {
  return std::make_unique<BestFitScorer>();
}
std::unique_ptr<Scorer> make_dot_product_scorer() {
  return std::make_unique<DotProductScorer>();
}

}  // namespace fairlead::sched
