// Index of one task class over one pool: where it fits, how often, and where best.
//
// A tournament tree per group of nodes (same GPUs): each inner node knows the best-scored slot
// below it; and one tree of sums: how many tasks fit below. catch_up() replays the pool's journal,
// so the cost of a question is that of the nodes changed since the last one: O(changed × (fit +
// score + log n)). The first question, and the first after scores became void, cost O(nodes), of
// which only those that differ (AlikeNodes) are fitted and scored. best() is O(groups × log n),
// slots() O(log n). Memory: about 50 bytes per node and class.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sched/place/alike_nodes.h"
#include "sched/place/fit.h"
#include "sched/place/scorer.h"
#include "sched/state/pool_state.h"

namespace fairlead::sched {

class ClassIndex {
 public:
  static constexpr std::uint32_t kNoSlot = UINT32_MAX;

  // Without `alike` every node is evaluated for itself.
  ClassIndex(const TaskClass& task, const PoolState& pool, const Scorer& scorer,
             AlikeNodes* alike = nullptr);

  const TaskClass& task() const { return *task_; }
  void catch_up();

  // Best slot of the range, kNoSlot if none fits. Ties: lowest slot.
  std::uint32_t best(SlotRange range) const;
  // Tasks that fit in the range, one beside the other.
  std::int64_t slots(SlotRange range) const;
  std::int64_t total() const { return sum_.empty() ? 0 : sum_[1]; }
  std::int32_t slots_at(std::uint32_t slot) const { return leaves_[slot].slots; }
  std::int32_t score_at(std::uint32_t slot) const { return leaves_[slot].score; }

  // If every node were ready and empty.
  std::int32_t empty_slots_at(std::uint32_t slot) const { return leaves_[slot].empty_slots; }
  std::int64_t empty_total() const { return empty_total_; }
  // No node has, or ever had, more places than this.
  std::int32_t most_on_a_node() const { return most_on_a_node_; }

  // Nodes that each filter turned away (index 0: nodes that fit).
  const std::array<std::int64_t, kFilterCount>& rejected() const { return rejected_; }
  Filter rejected_by(std::uint32_t slot) const { return leaves_[slot].rejected_by; }

  std::int64_t evaluations() const { return evaluations_; }

 private:
  struct Leaf {
    std::int32_t score = kNoScore;
    std::int32_t slots = 0;
    std::int32_t empty_slots = 0;
    std::uint32_t seen_version = UINT32_MAX;
    std::uint32_t seen_shape = UINT32_MAX;
    std::uint32_t position = 0;  // in its group
    std::uint16_t group = 0;     // position in groups_
    Filter rejected_by = Filter::kFits;

    void forget() {
      const std::uint32_t at = position;
      const std::uint16_t of = group;
      *this = Leaf{};
      position = at;
      group = of;
    }
  };

  // Slots of one group in ascending order, and the tournament over them.
  struct Group {
    std::size_t group = 0;
    std::vector<std::uint32_t> members;
    std::vector<std::uint32_t> best;  // [1] is the root; leaves at [width + position]
    std::size_t width = 0;
  };

  void rebuild();
  void evaluate_all();
  void answer(Leaf& leaf, const Leaf& from, const AlikeNodes::Node& node);
  void order_groups();
  void fill_sums();
  void fill_tournaments();
  void rescore();
  std::uint32_t best_of(const Group& group, SlotRange range) const;
  bool evaluate(std::uint32_t slot);
  void update_path(std::uint32_t slot);
  std::uint32_t better(std::uint32_t a, std::uint32_t b) const;

  const TaskClass* task_;
  const PoolState* pool_;
  const Scorer* scorer_;
  AlikeNodes* alike_;
  std::vector<Leaf> leaves_;
  std::vector<Group> groups_;
  std::vector<std::int64_t> sum_;  // [1] is the root; leaves at [width_ + slot]
  std::size_t width_ = 0;
  std::uint64_t cursor_ = 0;
  std::uint32_t order_version_ = UINT32_MAX;
  std::uint32_t scorer_version_ = UINT32_MAX;
  std::size_t device_classes_ = 0;
  std::array<std::int64_t, kFilterCount> rejected_{};
  std::int64_t empty_total_ = 0;
  std::int32_t most_on_a_node_ = 0;
  std::int64_t evaluations_ = 0;
};

}  // namespace fairlead::sched
