#include "sched/place/alike_nodes.h"

#include <functional>

#include "base/check.h"

namespace fairlead::sched {
namespace {

class Hash {
 public:
  explicit Hash(std::uint64_t seed) : value_(seed) {}
  void add(std::uint64_t word) {
    value_ = (value_ ^ word) * 0x9E37'79B9'7F4A'7C15;
    value_ ^= value_ >> 29;
  }
  void add(std::int64_t word) { add(static_cast<std::uint64_t>(word)); }
  // What tells rooms of one kind apart nearly always; the comparison does the rest.
  void add(const NodeRoom& room) {
    add(room.cpu);
    add(room.memory);
    for (const CellState& cell : room.cells) add(cell.free_cpu);
    for (const std::int64_t amount : room.extended) add(amount);
    for (const DeviceState& d : room.devices) {
      add((static_cast<std::uint64_t>(d.mig_free_slices) << 32) ^
          (static_cast<std::uint64_t>(d.free_milli) << 1) ^ (d.healthy ? 1U : 0U));
      add(d.free_mib);
    }
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_;
};

}  // namespace

std::uint32_t AlikeNodes::kind_of(const NodeState& node) {
  Hash hash(node.empty.devices.size());
  hash.add(std::uint64_t{std::hash<std::string>{}(node.spec.node_type)});
  hash.add(node.empty);
  if (!node.empty.devices.empty())
    hash.add(std::uint64_t{node.empty.devices.front().device_class.index()});
  return kinds_.use(
      hash.value() & hash_mask_,
      [&](const Kind& k) {
        return k.taints == node.spec.taints && k.node_type == node.spec.node_type &&
               k.empty == node.empty;
      },
      [&] { return Kind{node.spec.taints, node.spec.node_type, node.empty}; });
}

std::uint32_t AlikeNodes::number_of(const NodeState& node, std::uint32_t kind) {
  Hash hash(kind);
  hash.add(node.free);
  return states_.use(
      hash.value() & hash_mask_,
      [&](const State& s) {
        return s.kind == kind && s.ready == node.spec.ready &&
               s.schedulable == node.spec.schedulable && s.free == node.free;
      },
      [&] { return State{kind, node.spec.ready, node.spec.schedulable, node.free}; });
}

void AlikeNodes::look_at(std::uint32_t slot) {
  const NodeState& node = pool_->node_at(slot);
  Node& seen = nodes_[pool_->id_at(slot).index()];
  if (seen.version == node.version) return;
  const bool fresh = seen.version == UINT32_MAX;
  if (!fresh) states_.release(seen.number);
  if (fresh || seen.shape_version != node.shape_version) {
    if (!fresh) kinds_.release(seen.kind);
    seen.kind = kind_of(node);
  }
  seen.number = number_of(node, seen.kind);
  seen.version = node.version;
  seen.shape_version = node.shape_version;
  seen.free_milli = static_cast<std::int32_t>(node.free_milli);
  seen.usable = node.usable();
}

void AlikeNodes::follow() {
  FAIRLEAD_CHECK(pool_->ordered(), "nodes are compared in an ordered pool");
  if (order_version_ != pool_->order_version() || cursor_ < pool_->journal_begin()) {
    const auto n = static_cast<std::uint32_t>(pool_->slot_count());
    for (std::uint32_t s = 0; s < n; ++s) {
      const std::size_t id = pool_->id_at(s).index();
      if (id >= nodes_.size()) nodes_.resize(id + 1);
      look_at(s);
    }
    order_version_ = pool_->order_version();
    cursor_ = pool_->journal_end();
  }
  for (const std::uint64_t end = pool_->journal_end(); cursor_ < end; ++cursor_)
    look_at(pool_->journal_at(cursor_));
}

}  // namespace fairlead::sched
