#include "sched/evict/opening.h"

#include <algorithm>

#include "base/check.h"
#include "sched/place/fit.h"

namespace fairlead::sched {
namespace {

using Id = Victims::Id;

// A gang that goes whole takes its extras with it.
bool covered(const Victims& victims, std::span<const Id> set, Id id) {
  const VictimUnit& unit = victims.unit(id);
  return std::any_of(set.begin(), set.end(), [&](Id other) {
    const VictimUnit& o = victims.unit(other);
    return o.workload == unit.workload && (o.whole || unit.whole);
  });
}

// Every set of a node's units that makes room and has none too many. Units are in order of cost, so
// the first that is too dear ends its branch.
class NodeSearch {
 public:
  NodeSearch(Trial& trial, std::uint32_t slot, std::int64_t wanted)
      : trial_(trial),
        slot_(slot),
        task_(trial.classes().get(trial.claim().request->roles.front().task_class)),
        now_(trial.pool().state.node_at(slot).free),
        before_(room_fit(task_, now_).slots),
        wanted_(wanted) {}

  Opening run(const std::vector<Id>& units) {
    NodeRoom room = now_;
    for (const Id id : split(units)) choose(id, room);
    const std::int64_t most = most_from(0, room);
    if (most > 0 && !weigh(room)) look(0, room, most);
    return best_;
  }

 private:
  const VictimUnit& unit(Id id) const { return trial_.victims().unit(id); }
  std::int64_t gain(const NodeRoom& room) const {
    return std::min<std::int64_t>(room_fit(task_, room).slots - before_, wanted_);
  }

  // Those without which there is no room, whatever else goes: they are in every set. The others
  // become optional_. Where a gang is there with extras of its own none is told, for they share
  // tasks.
  std::vector<Id> split(const std::vector<Id>& units) {
    std::vector<Id> needed;
    for (std::size_t i = 1; i < units.size(); ++i) {
      if (!covered(trial_.victims(), {units.data(), i}, units[i])) continue;
      optional_ = units;
      return needed;
    }
    NodeRoom room = now_;
    give_all(trial_, slot_, units, room);
    for (const Id id : units) {
      trial_.take_on(slot_, id, room);
      (gain(room) <= 0 ? needed : optional_).push_back(id);
      trial_.give_on(slot_, id, room);
    }
    return needed;
  }

  // What can be gained at the most by giving the room all optional units from that one on.
  std::int64_t most_from(std::size_t first, const NodeRoom& room) const {
    NodeRoom widest = room;
    give_all(trial_, slot_, std::span(optional_).subspan(first), widest);
    return gain(widest);
  }

  void choose(Id id, NodeRoom& room) {
    trial_.give_on(slot_, id, room);
    open_.units.push_back(id);
    open_.cost += unit(id).cost;
  }

  // Whether what is chosen makes room; if it is the best so far and may go, it is kept.
  bool weigh(const NodeRoom& room) {
    open_.gain = static_cast<std::int32_t>(gain(room));
    if (open_.gain <= 0) return false;
    // What may not go together may not go with more either.
    if (better() && trial_.may_add_all(open_.units)) best_ = open_;
    return true;
  }

  bool better() const {
    if (best_.gain == 0) return true;
    const Int128 left = open_.cost * best_.gain;
    const Int128 right = best_.cost * open_.gain;
    return left != right ? left < right
                         : trial_.victims().hit(open_.units) < trial_.victims().hit(best_.units);
  }

  // `most`: with all from `next` on, which choosing the first of them does not change.
  void look(std::size_t next, const NodeRoom& room, std::int64_t most) {
    for (std::size_t i = next; i < optional_.size(); ++i) {
      const Id id = optional_[i];
      if (i > next) most = most_from(i, room);
      if (most <= 0) return;
      const Int128 cost = open_.cost + unit(id).cost;
      if (best_.gain > 0 && cost * best_.gain > best_.cost * most) return;
      if (covered(trial_.victims(), open_.units, id)) continue;
      NodeRoom wider = room;
      choose(id, wider);
      if (!weigh(wider)) look(i + 1, wider, most);
      open_.units.pop_back();
      open_.cost -= unit(id).cost;
    }
  }

  Trial& trial_;
  std::uint32_t slot_;
  const TaskClass& task_;
  NodeRoom now_;
  std::int32_t before_;  // tasks that fit already
  std::int64_t wanted_;
  std::vector<Id> optional_;
  Opening open_;  // being looked at
  Opening best_;
};

// Adds units by cost until there is room, and leaves out again what is not needed, dearest first.
Opening by_cost(Trial& trial, std::uint32_t slot, const std::vector<Id>& units) {
  const TaskClass& task = trial.classes().get(trial.claim().request->roles.front().task_class);
  const NodeState& node = trial.pool().state.node_at(slot);
  const std::int32_t before = room_fit(task, node.free).slots;
  const auto gain = [&] { return room_fit(task, node.free).slots - before; };
  const std::size_t mark = trial.size();
  for (const Id id : units) {
    if (gain() > 0) break;
    if (trial.may_add(id)) trial.add(id);
  }
  Opening out;
  if (gain() > 0) {
    for (std::size_t i = mark; i < trial.size(); ++i) out.units.push_back(trial.chosen(i));
    for (std::size_t i = out.units.size(); i-- > 0;) {
      std::vector<Id> fewer = out.units;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      trial.remove_to(mark);
      if (trial.add_all(fewer) && gain() > 0) out.units = std::move(fewer);
    }
    trial.remove_to(mark);
    const Int128 cost = trial.cost();
    const bool legal = trial.add_all(out.units);
    FAIRLEAD_CHECK(legal, "a part of what may go may go");
    out.cost = trial.cost() - cost;
    out.gain = gain();
  }
  trial.remove_to(mark);
  return out;
}

}  // namespace

void give_all(const Trial& trial, std::uint32_t slot, std::span<const Id> units, NodeRoom& room) {
  std::vector<Id> whole;
  // Dearest first: a gang comes behind its extras.
  for (auto it = units.rbegin(); it != units.rend(); ++it) {
    if (covered(trial.victims(), whole, *it)) continue;
    if (trial.victims().unit(*it).whole) whole.push_back(*it);
    trial.give_on(slot, *it, room);
  }
}

Opening open_node(Trial& trial, std::uint32_t slot, std::int64_t wanted) {
  if (!trial.may_lie_on(slot)) return {};
  std::vector<Id> units;
  for (const Id id : trial.victims().at(slot)) {
    if (trial.legal(id)) units.push_back(id);
  }
  if (!trial.surely_may_add_all(units))
    std::erase_if(units, [&](Id id) { return !trial.may_add(id); });
  if (units.empty()) return {};
  return units.size() <= Opening::kSearched ? NodeSearch(trial, slot, wanted).run(units)
                                            : by_cost(trial, slot, units);
}

}  // namespace fairlead::sched
