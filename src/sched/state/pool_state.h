// One node pool: its nodes in topology order, the tree of domains, and the journal of what changed.
//
// Nodes are ordered so that every domain of every level is one interval of slots; inside the
// narrowest domain the order is that in which nodes were added. Indices per task class
// (place/class_index.h) follow the journal, so nobody walks the pool to find what changed.
// Cost: take()/give() O(claims + levels); reorder() O(nodes log nodes), only after nodes were
// added, moved or relabelled.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/pool.h"
#include "sched/ids.h"
#include "sched/state/node_state.h"
#include "sched/state/resource_vector.h"
#include "sched/state/task_class.h"

namespace fairlead::sched {

struct SlotRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t size() const { return end - begin; }
  friend bool operator==(const SlotRange&, const SlotRange&) = default;
};

struct Domain {
  std::string name;  // the path's own last name
  SlotRange slots;
  std::int64_t free_milli = 0;  // GPU compute of usable nodes
  std::int64_t free_cpu = 0;
};

// A topology level as a number: 0 is the widest the cluster names; host_level() is one node each.
using Level = std::int32_t;
inline constexpr Level kWholePool = -1;

class PoolState {
 public:
  PoolState(PoolId pool_id, PoolSpec pool_spec, std::vector<NodeState>& nodes)
      : id(pool_id), spec(std::move(pool_spec)), nodes_(nodes) {}

  PoolId id;
  PoolSpec spec;
  ResourceVector capacity;  // of usable nodes and healthy devices, GPU in exchange units

  std::size_t slot_count() const { return slots_.size(); }
  NodeState& node_at(std::uint32_t slot) { return nodes_[slots_[slot].index()]; }
  const NodeState& node_at(std::uint32_t slot) const { return nodes_[slots_[slot].index()]; }
  const NodeState& node(NodeId node) const { return nodes_[node.index()]; }
  NodeId id_at(std::uint32_t slot) const { return slots_[slot]; }
  SlotRange all() const { return {0, static_cast<std::uint32_t>(slots_.size())}; }

  // Membership changed or a node moved in the tree; slots and indices are stale until reorder().
  void mark_unordered() { ordered_ = false; }
  bool ordered() const { return ordered_; }
  void reorder(const std::vector<NodeId>& members, std::size_t level_count);
  std::uint32_t order_version() const { return order_version_; }

  Level host_level() const { return static_cast<Level>(levels_.size()); }
  // Domains of a level that lie inside `within`, in slot order. Host level: one per slot.
  std::vector<Domain> domains(Level level, SlotRange within) const;
  // The domain of `level` that holds the slot; an empty range if the node belongs to none there.
  SlotRange domain_of(Level level, std::uint32_t slot) const;
  // Free GPU compute of usable nodes in the range. O(1) for a domain or the whole pool, else
  // O(range).
  std::int64_t free_milli(SlotRange range) const;
  std::string domain_name(Level level, std::uint32_t slot) const;

  void take(NodeId node, const TaskPlacement& placement, const TaskClass& task);
  void give(NodeId node, const TaskPlacement& placement, const TaskClass& task);
  // The node changed otherwise (health, labels, …): refreshes what is kept about it.
  void touched(NodeId node);
  // The same for a trial that is taken back: nothing counts as released.
  void retouch(NodeId node);
  // What is free of the node is shown as this, for the time of a decision (plan/timeline.h).
  void show(NodeId node, const NodeRoom& room);

  // Entries [journal_begin, journal_end) can be read; a reader that is older starts over.
  std::uint64_t journal_begin() const { return journal_base_; }
  std::uint64_t journal_end() const { return journal_base_ + journal_.size(); }
  std::uint32_t journal_at(std::uint64_t position) const {
    return journal_[static_cast<std::size_t>(position - journal_base_)];
  }

  // Nodes by what GPUs they have: 0 for none, else 1 + the class of their first device.
  std::size_t group_at(std::uint32_t slot) const { return group_of_slot_[slot]; }
  std::size_t group_count() const { return free_by_group_.size(); }
  std::int64_t free_in_group(std::size_t group) const { return free_by_group_[group]; }
  std::int64_t total_in_group(std::size_t group) const { return total_by_group_[group]; }

  // Rises when nodes came, left or changed otherwise than by what tasks hold.
  std::uint64_t shape_version() const { return shape_version_; }

  // Rises whenever something may have become free: a failed attempt stays failed until then.
  std::uint64_t release_version = 0;

 private:
  static std::size_t node_group(const NodeState& node) {
    return node.free.devices.empty() ? 0 : 1 + node.free.devices.front().device_class.index();
  }
  void note(NodeState& node);
  void count_group(const NodeState& node);

  std::vector<NodeState>& nodes_;
  std::vector<NodeId> slots_;
  std::vector<std::vector<Domain>> levels_;
  std::vector<std::vector<std::int32_t>> domain_index_;  // [level][slot], −1: none
  std::vector<std::uint32_t> group_of_slot_;
  std::vector<std::int64_t> free_by_group_;   // milli of usable nodes
  std::vector<std::int64_t> total_by_group_;  // milli of all nodes, empty
  std::vector<std::uint32_t> journal_;
  std::uint64_t journal_base_ = 0;
  std::uint32_t order_version_ = 0;
  std::uint64_t shape_version_ = 0;
  bool ordered_ = true;
};

}  // namespace fairlead::sched
