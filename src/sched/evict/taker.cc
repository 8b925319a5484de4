#include "sched/evict/taker.h"

#include <algorithm>
#include <optional>
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

// One task on one node: the cheapest unit that makes room alone, unless others that are no dearer
// do so together. Only nodes with such units are looked at closely.
bool Taker::find_for_one(VictimSet& out) {
  const GangRole& role = trial_.claim().request->roles.front();
  const TaskClass& task = trial_.classes().get(role.task_class);
  std::vector<std::uint32_t> tried;
  std::optional<Int128> alone;  // cost of the cheapest that makes room alone
  for (const Id id : trial_.victims().by_cost()) {
    const VictimUnit& unit = trial_.victims().unit(id);
    if (alone && unit.cost > *alone) break;
    if (!trial_.legal(id)) continue;
    for (const std::uint32_t slot : unit.slots) {
      if (!trial_.may_lie_on(slot)) continue;
      if (std::find(tried.begin(), tried.end(), slot) == tried.end()) tried.push_back(slot);
      NodeRoom room = trial_.pool().state.node_at(slot).free;
      trial_.give_on(slot, id, room);
      if (room_fit(task, room).slots > 0) alone = unit.cost;
    }
    if (tried.size() <= kMostTried) continue;
    if (!alone) return false;
    break;
  }
  Opening best;
  for (const std::uint32_t slot : tried) {
    Opening opening = open_node(trial_, slot, 1);
    if (opening.gain == 0) continue;
    const bool better = best.gain == 0 || opening.cost < best.cost ||
                        (opening.cost == best.cost &&
                         trial_.victims().hit(opening.units) < trial_.victims().hit(best.units));
    if (better) best = std::move(opening);
  }
  const bool found = best.gain > 0 && trial_.add_all(best.units) && trial_.place(out);
  trial_.clear();
  return found;
}

// Whether a claimant of one class finds fewer places than it has tasks even if all that is legal
// were gone from every node. Cost: O(nodes with legal units × fit), until there are enough.
bool Taker::too_few_places() {
  if (!one_class()) return false;
  const GangRequest& request = *trial_.claim().request;
  const TaskClass& task = trial_.classes().get(request.roles.front().task_class);
  const std::int64_t needed = tasks_of(request);
  std::int64_t most = trial_.pool().index(request.roles.front().task_class).slots(request.range);
  for (const std::uint32_t slot : slots_) {
    if (most >= needed) return false;
    if (!trial_.may_lie_on(slot)) continue;
    const NodeState& node = trial_.pool().state.node_at(slot);
    std::vector<Id> units;
    for (const Id id : trial_.victims().at(slot)) {
      if (trial_.legal(id)) units.push_back(id);
    }
    NodeRoom widest = node.free;
    give_all(trial_, slot, units, widest);
    most += room_fit(task, widest).slots - room_fit(task, node.free).slots;
  }
  return most < needed;
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
  for (const std::uint32_t slot : slots_) {
    Opening opening = open_node(trial_, slot, needed - have);
    if (opening.gain > 0) nodes.push({std::move(opening), slot});
  }
  while (have < needed && !nodes.empty() && !trial_.out_of_steps()) {
    Node entry = nodes.top();
    nodes.pop();
    if (trial_.add_all(entry.opening.units)) {
      trial_.count_step();
      have = trial_.pool().index(request.roles.front().task_class).slots(request.range);
    }
    entry.opening = open_node(trial_, entry.slot, needed - have);
    if (entry.opening.gain > 0) nodes.push(std::move(entry));
  }
  overshot_ = have > needed;
  return have >= needed && trial_.place(out);
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
  for (std::size_t i = next; i < legal_.size() && !trial_.out_of_steps(); ++i) {
    if (!trial_.may_add(legal_[i])) continue;
    trial_.add(legal_[i]);
    const Int128 cost = trial_.cost();
    const auto hit = trial_.victims().hit(trial_.chosen());
    if (!found_ || cost < best_cost_ || (cost == best_cost_ && hit < best_hit_)) {
      if (trial_.place(out)) {
        found_ = true;
        best_cost_ = cost;
        best_hit_ = hit;
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
  trial_.clear();
  return found_;
}

// Leaves out what is not needed, dearest first: one by one if there are few, else half of them, and
// the half of what may not be left out, until kMostLeftOut tries are over. Requires: the claimant
// fits with what is chosen.
void Taker::leave_out(VictimSet& out) {
  std::vector<Id> units = trial_.chosen();
  std::stable_sort(units.begin(), units.end(), [this](Id a, Id b) {
    return trial_.victims().unit(a).cost < trial_.victims().unit(b).cost;
  });
  std::vector<bool> kept(units.size(), true);
  std::vector<std::pair<std::size_t, std::size_t>> parts;  // the last is tried next
  const std::size_t first = units.size() <= kMostLeftOut ? 1 : (units.size() + 1) / 2;
  for (std::size_t i = 0; i < units.size(); i += first)
    parts.emplace_back(i, std::min(i + first, units.size()));
  for (std::size_t tries = 0; tries < kMostLeftOut && !parts.empty(); ++tries) {
    const auto [begin, end] = parts.back();
    parts.pop_back();
    std::vector<Id> fewer;
    for (std::size_t i = 0; i < units.size(); ++i) {
      if (kept[i] && (i < begin || i >= end)) fewer.push_back(units[i]);
    }
    VictimSet without;
    if (choose(fewer) && trial_.place(without)) {
      std::fill(kept.begin() + static_cast<std::ptrdiff_t>(begin),
                kept.begin() + static_cast<std::ptrdiff_t>(end), false);
      out = std::move(without);
    } else if (end - begin > 1) {
      const std::size_t middle = begin + (end - begin) / 2;
      parts.emplace_back(begin, middle);
      parts.emplace_back(middle, end);
    }
  }
}

// Makes these the chosen ones; false if they may not all go.
bool Taker::choose(const std::vector<Id>& units) {
  std::size_t same = 0;
  while (same < trial_.size() && same < units.size() && trial_.chosen(same) == units[same]) ++same;
  trial_.remove_to(same);
  return trial_.add_all({units.begin() + static_cast<std::ptrdiff_t>(same), units.end()});
}

Taker::Outcome Taker::find(TakeBack rule, const Claim& claim, const ShareGuard* guard,
                           const Untouchable& untouchable) {
  trial_.begin(rule, claim, guard, untouchable);
  Outcome out;
  out.answer = search(out.set);
  trial_.clear();
  out.steps = trial_.steps_taken();
  return out;
}

// Of up to kExhaustive legal units, all that are chosen from.
Taker::Answer Taker::search_few(VictimSet& out) {
  if (too_few_places()) return Answer::kProvedNone;
  const GangVerdict most = trial_.with_all_gone(legal_);
  if (proves(most)) return Answer::kProvedNone;
  if (look_at_all(out)) return Answer::kFound;
  if (trial_.sure()) return Answer::kProvedNone;
  // Sets that are too small used up the steps. With those of one search more, larger ones.
  if (most != GangVerdict::kPlaced || !trial_.out_of_steps()) return Answer::kRanOut;
  trial_.begin_steps();
  if (!add_by_cost(out)) return Answer::kRanOut;
  leave_out(out);
  return Answer::kFound;
}

Taker::Answer Taker::search(VictimSet& out) {
  collect_legal(kExhaustive + 1);
  if (legal_.empty()) return Answer::kProvedNone;
  if (legal_.size() <= kExhaustive) return search_few(out);
  const Claim& claim = trial_.claim();
  // Behind a limit any unit below it may do, wherever it runs.
  if (tasks_of(*claim.request) == 1 && claim.behind_gates.empty() && find_for_one(out))
    return Answer::kFound;
  collect_legal(SIZE_MAX);
  if (too_few_places()) return Answer::kProvedNone;
  const bool by_node = one_class() && open_nodes(out);
  if (!by_node) trial_.clear();
  if (by_node || add_by_cost(out)) {
    // Of many nodes each was opened by its cheapest set, the last perhaps by more than is needed.
    if (!by_node || overshot_ || trial_.size() <= kMostLeftOut) leave_out(out);
    return Answer::kFound;
  }
  trial_.clear();
  return proves(trial_.with_all_gone(legal_)) ? Answer::kProvedNone : Answer::kRanOut;
}

// The first units by cost that may go, `most` of them.
void Taker::collect_legal(std::size_t most) {
  legal_.clear();
  for (const Id id : trial_.victims().by_cost()) {
    if (legal_.size() >= most) break;
    if (trial_.legal(id)) legal_.push_back(id);
  }
  slots_.clear();
  for (const Id id : legal_) {
    const auto& of_unit = trial_.victims().unit(id).slots;
    slots_.insert(slots_.end(), of_unit.begin(), of_unit.end());
  }
  std::sort(slots_.begin(), slots_.end());
  slots_.erase(std::unique(slots_.begin(), slots_.end()), slots_.end());
}

}  // namespace fairlead::sched
