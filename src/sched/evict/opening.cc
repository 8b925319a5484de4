#include "sched/evict/opening.h"

#include <algorithm>
#include <functional>

#include "base/check.h"
#include "sched/place/fit.h"

namespace fairlead::sched {
namespace {

using Id = Victims::Id;

// A gang that goes whole takes its extras with it.
bool covered(const Victims& victims, const std::vector<Id>& set, Id id) {
  const VictimUnit& unit = victims.unit(id);
  return std::any_of(set.begin(), set.end(), [&](Id other) {
    const VictimUnit& o = victims.unit(other);
    return o.workload == unit.workload && (o.whole || unit.whole);
  });
}

// Every set of the units. They are in order of cost, so the first that is too dear ends its branch.
Opening by_search(Trial& trial, std::uint32_t slot, const std::vector<Id>& units,
                  std::int64_t wanted) {
  const TaskClass& task = trial.classes().get(trial.claim().request->roles.front().task_class);
  const NodeRoom now = trial.pool().state.node_at(slot).free;
  const std::int32_t before = room_fit(task, now).slots;
  const auto unit = [&](Id id) -> const VictimUnit& { return trial.victims().unit(id); };
  Opening best;
  const auto better = [&](const Opening& a) {
    if (best.gain == 0) return true;
    const Int128 left = a.cost * best.gain;
    const Int128 right = best.cost * a.gain;
    return left != right ? left < right
                         : trial.victims().hit(a.units) < trial.victims().hit(best.units);
  };
  // What can be gained at the most by giving the room all units from that one on.
  const auto most_from = [&](std::size_t first, const NodeRoom& room) {
    NodeRoom widest = room;
    give_all(trial, slot, std::span(units).subspan(first), widest);
    return std::min<std::int64_t>(room_fit(task, widest).slots - before, wanted);
  };
  Opening open;
  // `most`: with all from `next` on, which choosing the first of them does not change.
  using Look = std::function<void(std::size_t, const NodeRoom&, std::int64_t)>;
  const Look look = [&](std::size_t next, const NodeRoom& room, std::int64_t most) {
    for (std::size_t i = next; i < units.size(); ++i) {
      if (i > next) most = most_from(i, room);
      if (most <= 0) return;
      const Int128 cost = open.cost + unit(units[i]).cost;
      if (best.gain > 0 && cost * best.gain > best.cost * most) return;
      if (covered(trial.victims(), open.units, units[i])) continue;
      NodeRoom wider = room;
      trial.give_on(slot, units[i], wider);
      open.units.push_back(units[i]);
      open.cost += unit(units[i]).cost;
      open.gain = static_cast<std::int32_t>(
          std::min<std::int64_t>(room_fit(task, wider).slots - before, wanted));
      if (open.gain <= 0) {
        look(i + 1, wider, most);
      } else if (better(open) && trial.may_add_all(open.units)) {
        // What may not go together may not go with more either.
        best = open;
      }
      open.units.pop_back();
      open.cost -= unit(units[i]).cost;
    }
  };
  look(0, now, most_from(0, now));
  return best;
}

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
    if (trial.legal(id) && trial.may_add(id)) units.push_back(id);
  }
  return units.size() <= Opening::kSearched ? by_search(trial, slot, units, wanted)
                                            : by_cost(trial, slot, units);
}

}  // namespace fairlead::sched
