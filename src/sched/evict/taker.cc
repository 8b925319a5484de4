#include "sched/evict/taker.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "sched/place/fit.h"

namespace fairlead::sched {
namespace {

std::int64_t tasks_of(const GangRequest& request) {
  std::int64_t tasks = 0;
  for (const GangRole& role : request.roles) tasks += std::ssize(role.indices);
  return tasks;
}

}  // namespace

bool Taker::one_class() const {
  const auto& roles = trial_.claim().request->roles;
  return std::all_of(roles.begin(), roles.end(),
                     [&](const GangRole& r) { return r.task_class == roles.front().task_class; });
}

// The cheapest set of units on the node, per place gained, that makes room for one task or, where
// one unit makes room for several, for as many as are wanted.
Taker::Opening Taker::open(std::uint32_t slot, std::int64_t wanted) {
  Opening best;
  const NodeState& node = trial_.pool().state.node_at(slot);
  const TaskClass& task = trial_.classes().get(trial_.claim().request->roles.front().task_class);
  if (!node.usable() || static_filter(task, node) != Filter::kFits) return best;
  const std::int32_t before = room_fit(task, node.free).slots;
  std::vector<Id> units;
  for (const Id id : trial_.victims().at(slot)) {
    if (trial_.legal(id) && trial_.may_add(id)) units.push_back(id);
  }
  const auto give = [&](NodeRoom& room, Id id) { trial_.give_on(slot, id, room); };
  const auto better = [&](Int128 cost, std::int32_t gain) {
    return best.gain == 0 || cost * best.gain < best.cost * gain;
  };
  if (units.size() <= kExhaustive) {
    // Units by cost, so the first that is too dear ends its branch.
    std::vector<Id> stack;
    const std::function<void(std::size_t, const NodeRoom&, Int128)> look =
        [&](std::size_t next, const NodeRoom& room, Int128 cost) {
          for (std::size_t i = next; i < units.size(); ++i) {
            const Int128 with = cost + trial_.victims().unit(units[i]).cost;
            if (best.gain == 1 && with >= best.cost) return;
            NodeRoom widest = room;  // no more can be had from here on
            for (std::size_t j = i; j < units.size(); ++j) give(widest, units[j]);
            if (room_fit(task, widest).slots <= before) return;
            NodeRoom wider = room;
            give(wider, units[i]);
            stack.push_back(units[i]);
            const auto gain = static_cast<std::int32_t>(
                std::min<std::int64_t>(room_fit(task, wider).slots - before, wanted));
            if (gain > 0) {
              if (better(with, gain)) best = {stack, with, gain};
            } else {
              look(i + 1, wider, with);
            }
            stack.pop_back();
          }
        };
    look(0, node.free, 0);
    return best;
  }
  NodeRoom room = node.free;
  Opening first;
  for (const Id id : units) {
    give(room, id);
    first.units.push_back(id);
    first.gain = room_fit(task, room).slots - before;
    if (first.gain > 0) break;
  }
  if (first.gain <= 0) return best;
  for (std::size_t i = first.units.size(); i-- > 0;) {
    NodeRoom without = node.free;
    for (std::size_t j = 0; j < first.units.size(); ++j) {
      if (j != i) give(without, first.units[j]);
    }
    if (room_fit(task, without).slots - before > 0)
      first.units.erase(first.units.begin() + static_cast<std::ptrdiff_t>(i));
  }
  NodeRoom left = node.free;
  for (const Id id : first.units) {
    give(left, id);
    first.cost += trial_.victims().unit(id).cost;
  }
  first.gain = room_fit(task, left).slots - before;
  return first;
}

// One task on one node: the first unit by cost that makes room alone, unless cheaper ones that do
// not do so together.
bool Taker::find_for_one(VictimSet& out) {
  const GangRole& role = trial_.claim().request->roles.front();
  const TaskClass& task = trial_.classes().get(role.task_class);
  const SlotRange range = trial_.claim().request->range;
  std::vector<std::uint32_t> tried;  // nodes of cheaper units
  std::optional<std::uint32_t> opened;
  for (const Id id : trial_.victims().by_cost()) {
    if (!trial_.legal(id)) continue;
    for (const std::uint32_t slot : trial_.victims().unit(id).slots) {
      const NodeState& node = trial_.pool().state.node_at(slot);
      if (slot < range.begin || slot >= range.end || !node.usable()) continue;
      if (static_filter(task, node) != Filter::kFits) continue;
      NodeRoom room = node.free;
      trial_.give_on(slot, id, room);
      if (room_fit(task, room).slots > 0) {
        opened = slot;
        break;
      }
      if (std::find(tried.begin(), tried.end(), slot) == tried.end()) tried.push_back(slot);
    }
    if (opened) break;
    if (tried.size() > kMostTried) return false;
  }
  if (opened) tried.push_back(*opened);
  Opening best;
  for (const std::uint32_t slot : tried) {
    Opening opening = open(slot, 1);
    if (opening.gain > 0 && (best.gain == 0 || opening.cost < best.cost)) best = std::move(opening);
  }
  if (best.gain == 0) return false;
  for (const Id id : best.units) {
    if (trial_.may_add(id)) trial_.add(id);
  }
  const bool found = trial_.place(out);
  trial_.clear();
  return found;
}

// Opens nodes until the claimant fits.
bool Taker::open_nodes(VictimSet& out) {
  const GangRequest& request = *trial_.claim().request;
  const std::int64_t needed = tasks_of(request);
  const ClassIndex& index = trial_.pool().index(request.roles.front().task_class);
  std::int64_t have = index.slots(request.range);
  // Cheapest per place gained; an entry is looked at again when it comes up, for what was chosen
  // since may have changed it.
  struct Node {
    Opening opening;
    std::uint32_t slot;
  };
  const auto dearer = [](const Node& a, const Node& b) {
    const Int128 left = a.opening.cost * b.opening.gain;
    const Int128 right = b.opening.cost * a.opening.gain;
    return left != right ? left > right : a.slot > b.slot;
  };
  std::priority_queue<Node, std::vector<Node>, decltype(dearer)> nodes(dearer);
  for (const std::uint32_t slot : trial_.victims().slots()) {
    if (slot < request.range.begin || slot >= request.range.end) continue;
    Opening opening = open(slot, needed - have);
    if (opening.gain > 0) nodes.push({std::move(opening), slot});
  }
  while (have < needed && !nodes.empty()) {
    Node entry = nodes.top();
    nodes.pop();
    if (!std::all_of(entry.opening.units.begin(), entry.opening.units.end(),
                     [this](Id id) { return trial_.may_add(id); })) {
      entry.opening = open(entry.slot, needed - have);
      if (entry.opening.gain > 0) nodes.push(std::move(entry));
      continue;
    }
    const std::size_t mark = trial_.size();
    bool added = true;
    for (const Id id : entry.opening.units) {
      added = added && trial_.may_add(id);
      if (added) trial_.add(id);
    }
    while (!added && trial_.size() > mark) trial_.remove_last();
    if (added) {
      trial_.count_step();
      have = trial_.pool().index(request.roles.front().task_class).slots(request.range);
      entry.opening = open(entry.slot, needed - have);
      if (entry.opening.gain > 0) nodes.push(std::move(entry));
    }
  }
  if (have < needed) return false;
  return trial_.place(out);
}

// Adds what may go, least cost first and more each time, until the claimant fits.
bool Taker::add_by_cost(VictimSet& out) {
  std::size_t batch = 1;
  std::size_t next = 0;
  while (next < legal_.size()) {
    bool added = false;
    for (std::size_t n = 0; n < batch && next < legal_.size(); ++next) {
      if (!trial_.may_add(legal_[next])) continue;
      trial_.add(legal_[next]);
      added = true;
      ++n;
    }
    if (!added) return false;
    if (trial_.place(out)) return true;
    if (trial_.out_of_steps()) return false;
    batch *= 2;
  }
  return false;
}

// Every legal set, those that cost more than the best known left out.
void Taker::look_from(std::size_t next, VictimSet& out) {
  for (std::size_t i = next; i < legal_.size(); ++i) {
    if (!trial_.may_add(legal_[i])) continue;
    trial_.add(legal_[i]);
    const Int128 cost = trial_.cost();
    if (!found_ || cost < best_cost_ || (cost == best_cost_ && trial_.hit() < best_hit_)) {
      if (trial_.place(out)) {
        found_ = true;
        best_cost_ = cost;
        best_hit_ = trial_.hit();
      } else {
        look_from(i + 1, out);
      }
    }
    trial_.remove_last();
  }
}

bool Taker::look_at_all(VictimSet& out) {
  found_ = false;
  look_from(0, out);
  return found_;
}

// Dearest first; what is left is needed.
void Taker::put_back_what_is_not_needed(VictimSet& out) {
  constexpr std::size_t kMost = 64;  // beyond, each node was opened by its cheapest set
  if (trial_.size() > kMost) return;
  std::vector<Id> units;
  for (std::size_t i = 0; i < trial_.size(); ++i) units.push_back(trial_.chosen(i));
  std::vector<Id> dearest = units;
  std::stable_sort(dearest.begin(), dearest.end(), [this](Id a, Id b) {
    return trial_.victims().unit(a).cost > trial_.victims().unit(b).cost;
  });
  for (const Id id : dearest) {
    std::vector<Id> fewer;
    for (const Id other : units) {
      if (other != id) fewer.push_back(other);
    }
    trial_.clear();
    bool legal = true;
    for (const Id other : fewer) {
      legal = legal && trial_.may_add(other);
      if (legal) trial_.add(other);
    }
    VictimSet without;
    if (legal && trial_.place(without)) {
      units = fewer;
      out = std::move(without);
    }
  }
  trial_.clear();
}

Taker::Outcome Taker::find(TakeBack rule, const Claim& claim, const ShareGuard* guard,
                           const Untouchable& untouchable) {
  trial_.begin(rule, claim, guard, untouchable);
  legal_.clear();
  Outcome out;
  // Behind a limit any unit below it may do, wherever it runs.
  if (tasks_of(*claim.request) == 1 && claim.behind_gates.empty() && find_for_one(out.set)) {
    out.answer = Answer::kFound;
    return out;
  }
  for (const Id id : trial_.victims().by_cost()) {
    if (trial_.legal(id)) legal_.push_back(id);
  }
  if (legal_.empty()) return out;
  if (legal_.size() <= kExhaustive) {
    out.answer = look_at_all(out.set) ? Answer::kFound : Answer::kProvedNone;
    trial_.clear();
    return out;
  }
  bool found = one_class() && open_nodes(out.set);
  if (!found) {
    trial_.clear();
    found = add_by_cost(out.set);
  }
  if (found) {
    out.answer = Answer::kFound;
    put_back_what_is_not_needed(out.set);
    trial_.clear();
    return out;
  }
  trial_.clear();
  out.answer = trial_.hopeless(legal_) ? Answer::kProvedNone : Answer::kRanOut;
  return out;
}

}  // namespace fairlead::sched
