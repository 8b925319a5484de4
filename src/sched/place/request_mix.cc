#include "sched/place/request_mix.h"

#include <algorithm>
#include <utility>

namespace fairlead::sched {
namespace {

constexpr std::int64_t kOne = 16;  // weight of one request
constexpr std::int64_t kHalveAbove = kOne * 16 * 1024;

}  // namespace

void RequestMix::observe(const TaskClass& task) {
  if (stated_) return;
  const std::size_t i = task.id.index();
  if (i >= by_class_.size()) by_class_.resize(i + 1);
  by_class_[i].task = &task;
  by_class_[i].weight += kOne;
  total_ += kOne;
  if (total_ > kHalveAbove) {
    total_ = 0;
    for (Item& item : by_class_) {
      item.weight -= item.weight / 2;
      if (item.weight == 1) item.weight = 0;
      total_ += item.weight;
    }
  }
  if (++seen_ >= next_rebuild_) {
    next_rebuild_ = seen_ + std::clamp<std::int64_t>(seen_ / 2, 32, 4096);
    due_ = true;
  }
}

void RequestMix::state(const std::vector<std::pair<const TaskClass*, std::int64_t>>& mix) {
  by_class_.clear();
  total_ = 0;
  for (const auto& [task, count] : mix) {
    const std::size_t i = task->id.index();
    if (i >= by_class_.size()) by_class_.resize(i + 1);
    by_class_[i].task = task;
    by_class_[i].weight += count;
    total_ += count;
  }
  stated_ = true;
  due_ = true;
}

bool RequestMix::rebuild_due() {
  return std::exchange(due_, false);
}

std::vector<RequestMix::Item> RequestMix::items() const {
  std::vector<Item> out;
  for (const Item& item : by_class_) {
    if (item.weight > 0) out.push_back(item);
  }
  return out;
}

}  // namespace fairlead::sched
