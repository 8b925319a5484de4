// Which nodes of a pool are alike: nodes of one number fit every task class equally often, for the
// same reasons, and score the same, labels apart.
//
// A number stands for all that fits and scores read of a node but its labels: taints, type,
// hardware, whether it is ready and schedulable, and what is free. It is found by a hash and
// confirmed by comparing all of it, so a collision costs time and no answer depends on a hash.
// Cost: follow() O(changed nodes × devices) since the last one, after a reordering O(nodes).
// Memory: a NodeRoom for each state that a node is in. One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "sched/state/pool_state.h"

namespace fairlead::sched {

// Values by number, equal ones once. A number is free again when nobody uses it.
template <class T>
class Distinct {
 public:
  // The number of what `equals` says is the same; if there is none, of what `make` returns.
  template <class Equals, class Make>
  std::uint32_t use(std::uint64_t hash, Equals&& equals, Make&& make) {
    const auto [begin, end] = by_hash_.equal_range(hash);
    for (auto it = begin; it != end; ++it) {
      Entry& entry = entries_[it->second];
      if (!equals(entry.value)) continue;
      ++entry.uses;
      return it->second;
    }
    auto number = static_cast<std::uint32_t>(entries_.size());
    if (free_.empty()) {
      entries_.push_back({make(), hash, 1});
    } else {
      number = free_.back();
      free_.pop_back();
      entries_[number] = {make(), hash, 1};
    }
    by_hash_.emplace(hash, number);
    return number;
  }

  void release(std::uint32_t number) {
    Entry& entry = entries_[number];
    if (--entry.uses > 0) return;
    auto it = by_hash_.find(entry.hash);
    while (it->second != number) ++it;  // those of one hash are neighbours
    by_hash_.erase(it);
    free_.push_back(number);
  }

  std::size_t numbers() const { return entries_.size(); }  // all are below

 private:
  struct Entry {
    T value;
    std::uint64_t hash = 0;
    std::uint32_t uses = 0;
  };
  std::deque<Entry> entries_;
  std::vector<std::uint32_t> free_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash_;
};

class AlikeNodes {
 public:
  // With a mask of 0 all hashes collide (for tests).
  explicit AlikeNodes(const PoolState& pool, std::uint64_t hash_mask = UINT64_MAX)
      : pool_(&pool), hash_mask_(hash_mask) {}

  struct Node {
    std::uint32_t number = 0;
    std::uint32_t kind = 0;  // as number, what is free and conditions apart
    std::uint32_t version = UINT32_MAX;
    std::uint32_t shape_version = UINT32_MAX;
    std::int32_t free_milli = 0;
    bool usable = false;
  };

  // Up to date from here until the pool changes; numbers of earlier calls are void.
  // Requires: pool.ordered().
  void follow();
  const Node& at(std::uint32_t slot) const { return nodes_[pool_->id_at(slot).index()]; }
  std::size_t numbers() const { return states_.numbers(); }  // all numbers are below
  std::size_t kinds() const { return kinds_.numbers(); }

 private:
  struct Kind {
    std::vector<Taint> taints;
    std::string node_type;
    NodeRoom empty;
  };
  struct State {
    std::uint32_t kind = 0;
    bool ready = false;
    bool schedulable = false;
    NodeRoom free;
  };

  void look_at(std::uint32_t slot);
  std::uint32_t kind_of(const NodeState& node);
  std::uint32_t number_of(const NodeState& node, std::uint32_t kind);

  const PoolState* pool_;
  std::uint64_t hash_mask_;
  std::vector<Node> nodes_;  // by NodeId
  Distinct<Kind> kinds_;
  Distinct<State> states_;
  std::uint64_t cursor_ = 0;
  std::uint32_t order_version_ = UINT32_MAX;
};

}  // namespace fairlead::sched
