// Which nodes of a pool are alike: nodes of one number fit every task class equally often, for the
// same reasons, and score the same, labels apart.
//
// A number stands for all that fits and scores read of a node but its labels: taints, type,
// hardware, whether it is ready and schedulable, and what is free. It is found by a hash and
// confirmed by comparing all of it, so a collision costs time and no answer depends on a hash.
// Cost: follow() O(changed nodes × devices) since the last one, after a reordering O(nodes).
// Memory: a NodeRoom for each distinct state, at most 2 × nodes of them. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "sched/state/pool_state.h"

namespace fairlead::sched {

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
  };

  // Up to date from here until the pool changes; numbers of earlier calls are void.
  // Requires: pool.ordered().
  void follow();
  const Node& at(std::uint32_t slot) const { return nodes_[pool_->id_at(slot).index()]; }
  std::size_t numbers() const { return states_.size(); }  // all numbers are below
  std::size_t kinds() const { return kinds_.size(); }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Kind {
    std::vector<Taint> taints;
    std::string node_type;
    NodeRoom empty;
    std::uint32_t next = kNone;  // of the same hash
  };
  struct State {
    std::uint32_t kind = 0;
    bool ready = false;
    bool schedulable = false;
    NodeRoom free;
    std::uint32_t next = kNone;
  };
  using Table = std::unordered_map<std::uint64_t, std::uint32_t>;  // hash → first of a chain

  void look_at(std::uint32_t slot);
  std::uint32_t kind_of(const NodeState& node);
  std::uint32_t number_of(const NodeState& node, std::uint32_t kind);

  const PoolState* pool_;
  std::uint64_t hash_mask_;
  std::vector<Node> nodes_;  // by NodeId
  std::vector<Kind> kinds_;
  std::vector<State> states_;
  Table kind_table_;
  Table state_table_;
  std::uint64_t cursor_ = 0;
  std::uint32_t order_version_ = UINT32_MAX;
};

}  // namespace fairlead::sched
