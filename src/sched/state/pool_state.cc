#include "sched/state/pool_state.h"

#include <algorithm>

#include "base/check.h"

namespace fairlead::sched {
namespace {

// Nodes that belong to no domain at a level come last in it; a path that ends early belongs to none
// from there on.
bool path_less(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  static const std::string none;
  for (std::size_t l = 0; l < a.size() || l < b.size(); ++l) {
    const std::string& x = l < a.size() ? a[l] : none;
    const std::string& y = l < b.size() ? b[l] : none;
    if (x == y) continue;
    if (x.empty() != y.empty()) return y.empty();
    return x < y;
  }
  return false;
}

std::string level_name(const NodeState& node, std::size_t level) {
  return level < node.spec.topology.size() ? node.spec.topology[level] : std::string{};
}

std::int64_t usable_milli(const NodeState& node) {
  return node.usable() ? node.free_milli : 0;
}
std::int64_t usable_cpu(const NodeState& node) {
  return node.usable() ? node.free.cpu : 0;
}

}  // namespace

void PoolState::reorder(const std::vector<NodeId>& members, std::size_t level_count) {
  slots_ = members;
  std::stable_sort(slots_.begin(), slots_.end(), [&](NodeId a, NodeId b) {
    return path_less(nodes_[a.index()].spec.topology, nodes_[b.index()].spec.topology);
  });
  levels_.assign(level_count, {});
  domain_index_.assign(level_count, std::vector<std::int32_t>(slots_.size(), -1));
  group_of_slot_.assign(slots_.size(), 0);
  free_by_group_.assign(1, 0);
  total_by_group_.assign(1, 0);
  for (std::uint32_t s = 0; s < slots_.size(); ++s) {
    NodeState& node = node_at(s);
    node.slot = s;
    node.free_milli = node.free.free_gpu_milli();
    node.counted_milli = usable_milli(node);
    node.counted_cpu = usable_cpu(node);
    group_of_slot_[s] = static_cast<std::uint32_t>(node_group(node));
    count_group(node);
    bool same_parent = s > 0;
    for (std::size_t l = 0; l < level_count; ++l) {
      const std::string name = level_name(node, l);
      const bool same = same_parent && level_name(node_at(s - 1), l) == name;
      same_parent = same;
      if (name.empty()) continue;
      if (!same) levels_[l].push_back({name, {s, s}, 0, 0});
      Domain& domain = levels_[l].back();
      domain.slots.end = s + 1;
      domain.free_milli += usable_milli(node);
      domain.free_cpu += usable_cpu(node);
      domain_index_[l][s] = static_cast<std::int32_t>(levels_[l].size()) - 1;
    }
  }
  journal_base_ = journal_end();
  journal_.clear();
  ++order_version_;
  ++shape_version_;
  ++release_version;
  ordered_ = true;
}

std::vector<Domain> PoolState::domains(Level level, SlotRange within) const {
  std::vector<Domain> out;
  if (level == kWholePool) {
    out.push_back({spec.name, within, 0, 0});
    return out;
  }
  if (level >= host_level()) {
    out.reserve(within.size());
    for (std::uint32_t s = within.begin; s < within.end; ++s) {
      const NodeState& node = node_at(s);
      out.push_back({node.spec.name, {s, s + 1}, usable_milli(node), usable_cpu(node)});
    }
    return out;
  }
  for (const Domain& d : levels_[static_cast<std::size_t>(level)]) {
    if (d.slots.begin >= within.begin && d.slots.end <= within.end) out.push_back(d);
  }
  return out;
}

SlotRange PoolState::domain_of(Level level, std::uint32_t slot) const {
  if (level == kWholePool) return all();
  if (level >= host_level()) return {slot, slot + 1};
  const auto l = static_cast<std::size_t>(level);
  const std::int32_t d = domain_index_[l][slot];
  if (d < 0) return {};
  return levels_[l][static_cast<std::size_t>(d)].slots;
}

std::int64_t PoolState::free_milli(SlotRange range) const {
  std::int64_t sum = 0;
  if (range == all()) {
    for (const std::int64_t free : free_by_group_) sum += free;
    return sum;
  }
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const std::int32_t d = domain_index_[l][range.begin];
    if (d >= 0 && levels_[l][static_cast<std::size_t>(d)].slots == range) {
      return levels_[l][static_cast<std::size_t>(d)].free_milli;
    }
  }
  for (std::uint32_t s = range.begin; s < range.end; ++s) sum += usable_milli(node_at(s));
  return sum;
}

std::string PoolState::domain_name(Level level, std::uint32_t slot) const {
  if (level == kWholePool) return spec.name;
  if (level >= host_level()) return node_at(slot).spec.name;
  return level_name(node_at(slot), static_cast<std::size_t>(level));
}

void PoolState::take(NodeId node_id, const TaskPlacement& placement, const TaskClass& task) {
  NodeState& node = nodes_[node_id.index()];
  node.free.take(placement, task.host_claim(), task.extended);
  note(node);
}

void PoolState::give(NodeId node_id, const TaskPlacement& placement, const TaskClass& task) {
  NodeState& node = nodes_[node_id.index()];
  node.free.give(placement, task.host_claim(), task.extended);
  note(node);
}

void PoolState::touched(NodeId node_id) {
  note(nodes_[node_id.index()]);
  ++shape_version_;
  ++release_version;
}

void PoolState::count_group(const NodeState& node) {
  const std::size_t group = node_group(node);
  if (group >= free_by_group_.size()) {
    free_by_group_.resize(group + 1, 0);
    total_by_group_.resize(group + 1, 0);
  }
  free_by_group_[group] += usable_milli(node);
  total_by_group_[group] += node.empty.free_gpu_milli();
}

void PoolState::retouch(NodeId node_id) {
  note(nodes_[node_id.index()]);
}

void PoolState::show(NodeId node_id, const NodeRoom& room) {
  NodeState& node = nodes_[node_id.index()];
  node.free = room;
  note(node);
}

void PoolState::note(NodeState& node) {
  ++node.version;
  if (!ordered_) return;
  FAIRLEAD_CHECK(node.slot < slots_.size(), "an ordered node has a slot");
  node.free_milli = node.free.free_gpu_milli();
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const std::int32_t d = domain_index_[l][node.slot];
    if (d < 0) continue;
    Domain& domain = levels_[l][static_cast<std::size_t>(d)];
    domain.free_milli += usable_milli(node) - node.counted_milli;
    domain.free_cpu += usable_cpu(node) - node.counted_cpu;
  }
  free_by_group_[group_of_slot_[node.slot]] += usable_milli(node) - node.counted_milli;
  node.counted_milli = usable_milli(node);
  node.counted_cpu = usable_cpu(node);
  journal_.push_back(node.slot);
  if (journal_.size() > 8 * slots_.size() + 1024) {
    const std::size_t drop = journal_.size() / 2;
    journal_.erase(journal_.begin(), journal_.begin() + static_cast<std::ptrdiff_t>(drop));
    journal_base_ += drop;
  }
}

}  // namespace fairlead::sched
