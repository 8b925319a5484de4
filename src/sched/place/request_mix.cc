#include "sched/place/request_mix.h"

#include <algorithm>
#include <utility>

namespace fairlead::sched {
namespace {

constexpr std::int64_t kOne = 16;  // weight of one request
constexpr std::int64_t kHalveAbove = kOne * 16 * 1024;

}  // namespace

RequestMix::~RequestMix() {
  for (Kept& kept : by_class_) drop(kept);
}

RequestMix::Kept& RequestMix::kept(const TaskClass& task) {
  const std::size_t i = task.id.index();
  if (i >= by_class_.size()) by_class_.resize(i + 1);
  Kept& kept = by_class_[i];
  if (!kept.item.task) {
    task.table->remember(task.id);
    kept = {{&task, 0}, next_++};
    ++count_;
  }
  return kept;
}

void RequestMix::drop(Kept& kept) {
  if (!kept.item.task) return;
  const TaskClass& task = *kept.item.task;
  total_ -= kept.item.weight;
  --count_;
  kept = Kept{};
  task.table->forget(task.id);
}

void RequestMix::drop_lightest() {
  Kept* lightest = nullptr;
  for (Kept& kept : by_class_) {
    if (!kept.item.task) continue;
    if (!lightest || std::pair(kept.item.weight, kept.since) <
                         std::pair(lightest->item.weight, lightest->since)) {
      lightest = &kept;
    }
  }
  if (lightest) drop(*lightest);
}

void RequestMix::observe(const TaskClass& task) {
  if (stated_) return;
  const std::size_t i = task.id.index();
  const bool known = i < by_class_.size() && by_class_[i].item.task;
  if (!known && count_ >= kMost) drop_lightest();
  kept(task).item.weight += kOne;
  total_ += kOne;
  if (total_ > kHalveAbove) {
    for (Kept& kept : by_class_) {
      total_ -= kept.item.weight / 2;
      kept.item.weight -= kept.item.weight / 2;
      if (kept.item.weight == 1) drop(kept);
    }
  }
  if (++seen_ >= next_rebuild_) {
    next_rebuild_ = seen_ + std::clamp<std::int64_t>(seen_ / 2, 32, 4096);
    due_ = true;
  }
}

void RequestMix::state(const std::vector<std::pair<const TaskClass*, std::int64_t>>& mix) {
  // What is in both stays remembered.
  for (const auto& [task, count] : mix) task->table->remember(task->id);
  for (Kept& kept : by_class_) drop(kept);
  by_class_.clear();
  for (const auto& [task, count] : mix) {
    kept(*task).item.weight += count;
    total_ += count;
  }
  for (const auto& [task, count] : mix) task->table->forget(task->id);
  stated_ = true;
  due_ = true;
}

bool RequestMix::rebuild_due() {
  return std::exchange(due_, false);
}

std::vector<RequestMix::Item> RequestMix::items() const {
  std::vector<Item> out;
  for (const Kept& kept : by_class_) {
    if (kept.item.weight > 0) out.push_back(kept.item);
  }
  return out;
}

std::vector<TaskClassId> RequestMix::classes() const {
  std::vector<TaskClassId> out;
  for (const Kept& kept : by_class_) {
    if (kept.item.task) out.push_back(kept.item.task->id);
  }
  return out;
}

}  // namespace fairlead::sched
