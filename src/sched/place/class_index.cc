#include "sched/place/class_index.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/check.h"

namespace fairlead::sched {

ClassIndex::ClassIndex(const TaskClass& task, const PoolState& pool, const Scorer& scorer,
                       AlikeNodes* alike)
    : task_(&task), pool_(&pool), scorer_(&scorer), alike_(alike) {}

std::uint32_t ClassIndex::better(std::uint32_t a, std::uint32_t b) const {
  if (a == kNoSlot) return b;
  if (b == kNoSlot) return a;
  return leaves_[b].score > leaves_[a].score ? b : a;
}

void ClassIndex::rebuild() {
  const std::size_t n = pool_->slot_count();
  if (order_version_ != pool_->order_version()) {
    width_ = std::bit_ceil(n == 0 ? std::size_t{1} : n);
    sum_.assign(2 * width_, 0);
    leaves_.assign(n, Leaf{});
    order_groups();
  }
  evaluate_all();
  fill_sums();
  fill_tournaments();
  order_version_ = pool_->order_version();
  scorer_version_ = scorer_->version();
  device_classes_ = task_->on_device.size();
  cursor_ = pool_->journal_end();
}

void ClassIndex::order_groups() {
  groups_.clear();
  std::vector<std::size_t> position_of(pool_->group_count(), SIZE_MAX);
  for (std::uint32_t s = 0; s < leaves_.size(); ++s) {
    std::size_t& position = position_of[pool_->group_at(s)];
    if (position == SIZE_MAX) {
      position = groups_.size();
      groups_.emplace_back();
      groups_.back().group = pool_->group_at(s);
    }
    leaves_[s].group = static_cast<std::uint16_t>(position);
    leaves_[s].position = static_cast<std::uint32_t>(groups_[position].members.size());
    groups_[position].members.push_back(s);
  }
  for (Group& g : groups_) {
    g.width = std::bit_ceil(g.members.size());
    g.best.assign(2 * g.width, kNoSlot);
  }
}

void ClassIndex::fill_sums() {
  for (std::size_t s = 0; s < leaves_.size(); ++s) sum_[width_ + s] = leaves_[s].slots;
  for (std::size_t i = width_ - 1; i >= 1; --i) sum_[i] = sum_[2 * i] + sum_[2 * i + 1];
}

void ClassIndex::fill_tournaments() {
  for (Group& g : groups_) {
    for (std::size_t i = 0; i < g.members.size(); ++i)
      g.best[g.width + i] = leaves_[g.members[i]].slots > 0 ? g.members[i] : kNoSlot;
    for (std::size_t i = g.width - 1; i >= 1; --i)
      g.best[i] = better(g.best[2 * i], g.best[2 * i + 1]);
  }
}

// The first of those that are alike is evaluated, the others take its answers.
void ClassIndex::evaluate_all() {
  const auto n = static_cast<std::uint32_t>(leaves_.size());
  rejected_ = {};
  rejected_[0] = n;
  empty_total_ = 0;
  if (alike_) alike_->follow();
  std::vector<std::uint32_t> first(alike_ ? alike_->numbers() : 0, kNoSlot);
  std::vector<std::uint32_t> first_of_kind(alike_ ? alike_->kinds() : 0, kNoSlot);
  const bool by_labels = reads_labels(*task_);
  const std::int64_t milli = task_->milli * task_->gpu_count;
  for (std::uint32_t s = 0; s < n; ++s) {
    Leaf& leaf = leaves_[s];
    leaf.forget();
    if (!alike_ || (by_labels && static_filter(*task_, pool_->node_at(s)) != Filter::kFits)) {
      evaluate(s);
      continue;
    }
    const AlikeNodes::Node& node = alike_->at(s);
    std::uint32_t& like = first[node.number];
    std::uint32_t& kind = first_of_kind[node.kind];
    const std::int32_t empty_slots = kind == kNoSlot ? 0 : leaves_[kind].empty_slots;
    if (kind == kNoSlot) kind = s;
    if (like != kNoSlot) {
      answer(leaf, leaves_[like], node);
    } else if (node.usable && node.free_milli < milli && empty_slots > 0) {
      // As evaluate() would say, without a look at the node.
      Leaf full;
      full.empty_slots = empty_slots;
      full.rejected_by = Filter::kGpu;
      answer(leaf, full, node);
    } else {
      like = s;
      if (empty_slots > 0) {
        leaf.seen_shape = node.shape_version;
        leaf.empty_slots = empty_slots;
        empty_total_ += empty_slots;
      }
      evaluate(s);
    }
  }
}

// Gives a leaf that was forgotten the answers of another one.
void ClassIndex::answer(Leaf& leaf, const Leaf& from, const AlikeNodes::Node& node) {
  leaf.score = from.score;
  leaf.slots = from.slots;
  leaf.empty_slots = from.empty_slots;
  leaf.rejected_by = from.rejected_by;
  leaf.seen_version = node.version;
  leaf.seen_shape = node.shape_version;
  --rejected_[0];
  ++rejected_[static_cast<std::size_t>(leaf.rejected_by)];
  empty_total_ += leaf.empty_slots;
}

bool ClassIndex::evaluate(std::uint32_t slot) {
  Leaf& leaf = leaves_[slot];
  const NodeState& node = pool_->node_at(slot);
  if (leaf.seen_version == node.version) return false;
  leaf.seen_version = node.version;
  // A node that could never hold the task keeps its reason while only what is free changes.
  if (leaf.seen_shape == node.shape_version && leaf.empty_slots == 0) return false;
  ++evaluations_;
  if (leaf.seen_shape != node.shape_version) {
    leaf.seen_shape = node.shape_version;
    const std::int32_t now = empty_fit(*task_, node).slots;
    empty_total_ += now - leaf.empty_slots;
    leaf.empty_slots = now;
  }
  Fit now;
  if (!node.usable()) {
    now = fit(*task_, node);
  } else if (leaf.empty_slots > 0) {
    // Labels, taints and hardware let it pass already. What the devices have free in sum says no
    // soonest on a busy cluster.
    now = node.free_milli < task_->milli * task_->gpu_count ? Fit{0, Filter::kGpu}
                                                            : room_fit(*task_, node.free);
  } else {
    now = empty_fit(*task_, node);
  }
  --rejected_[static_cast<std::size_t>(leaf.rejected_by)];
  leaf.rejected_by = now.rejected_by;
  ++rejected_[static_cast<std::size_t>(leaf.rejected_by)];
  const std::int32_t score = now.slots > 0 ? scorer_->score(*task_, node) : kNoScore;
  const bool changed = now.slots != leaf.slots || score != leaf.score;
  leaf.slots = now.slots;
  leaf.score = score;
  most_on_a_node_ = std::max({most_on_a_node_, leaf.slots, leaf.empty_slots});
  return changed;
}

void ClassIndex::update_path(std::uint32_t slot) {
  const Leaf& leaf = leaves_[slot];
  std::size_t i = width_ + slot;
  const std::int64_t change = leaf.slots - sum_[i];
  if (change != 0) {
    for (; i >= 1; i /= 2) sum_[i] += change;
  }
  Group& g = groups_[leaf.group];
  i = g.width + leaf.position;
  g.best[i] = leaf.slots > 0 ? slot : kNoSlot;
  for (i /= 2; i >= 1; i /= 2) {
    const std::uint32_t now = better(g.best[2 * i], g.best[2 * i + 1]);
    // Another slot won here before and still does: nothing changes above.
    if (now == g.best[i] && now != slot) return;
    g.best[i] = now;
  }
}

void ClassIndex::catch_up() {
  FAIRLEAD_CHECK(pool_->ordered(), "an index is asked only of an ordered pool");
  if (order_version_ != pool_->order_version() || device_classes_ != task_->on_device.size() ||
      cursor_ < pool_->journal_begin()) {
    rebuild();
    return;
  }
  for (const std::uint64_t end = pool_->journal_end(); cursor_ < end; ++cursor_) {
    const std::uint32_t slot = pool_->journal_at(cursor_);
    if (evaluate(slot)) update_path(slot);
  }
  if (scorer_version_ != scorer_->version()) rescore();
}

// Scores are void; what fits is not.
void ClassIndex::rescore() {
  if (alike_) alike_->follow();
  std::vector<std::uint32_t> first(alike_ ? alike_->numbers() : 0, kNoSlot);
  bool changed = false;
  for (std::uint32_t s = 0; s < leaves_.size(); ++s) {
    if (leaves_[s].slots == 0) continue;
    std::int32_t score = kNoScore;
    std::uint32_t like = s;
    if (alike_) {
      std::uint32_t& of_number = first[alike_->at(s).number];
      if (of_number == kNoSlot) of_number = s;
      like = of_number;
    }
    if (like == s) {
      ++evaluations_;
      score = scorer_->score(*task_, pool_->node_at(s));
    } else {
      score = leaves_[like].score;
    }
    changed = changed || score != leaves_[s].score;
    leaves_[s].score = score;
  }
  if (changed) fill_tournaments();
  scorer_version_ = scorer_->version();
}

std::uint32_t ClassIndex::best_of(const Group& g, SlotRange range) const {
  if (range.begin == 0 && range.end == leaves_.size()) return g.best[1];
  const auto position = [&](std::uint32_t slot) {
    return static_cast<std::size_t>(std::lower_bound(g.members.begin(), g.members.end(), slot) -
                                    g.members.begin());
  };
  std::uint32_t left = kNoSlot;
  std::uint32_t right = kNoSlot;
  std::size_t lo = g.width + position(range.begin);
  std::size_t hi = g.width + position(range.end);
  for (; lo < hi; lo /= 2, hi /= 2) {
    if (lo & 1) left = better(left, g.best[lo++]);
    if (hi & 1) right = better(g.best[--hi], right);
  }
  return better(left, right);
}

std::uint32_t ClassIndex::best(SlotRange range) const {
  std::uint32_t winner = kNoSlot;
  std::int64_t winner_score = 0;
  for (const Group& g : groups_) {
    const std::uint32_t slot = best_of(g, range);
    if (slot == kNoSlot) continue;
    const std::int64_t score = leaves_[slot].score - scorer_->price(*task_, g.group, *pool_);
    if (winner == kNoSlot || score > winner_score || (score == winner_score && slot < winner)) {
      winner = slot;
      winner_score = score;
    }
  }
  return winner;
}

std::int64_t ClassIndex::slots(SlotRange range) const {
  std::int64_t sum = 0;
  std::size_t lo = width_ + range.begin;
  std::size_t hi = width_ + range.end;
  for (; lo < hi; lo /= 2, hi /= 2) {
    if (lo & 1) sum += sum_[lo++];
    if (hi & 1) sum += sum_[--hi];
  }
  return sum;
}

}  // namespace fairlead::sched
