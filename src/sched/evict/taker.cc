#include "sched/evict/taker.h"

#include <algorithm>
#include <map>
#include <queue>
#include <utility>

#include "sched/place/fit.h"

namespace fairlead::sched {
namespace {

// Room without bounds on anything but devices: whether it is they that lack.
std::int32_t slots_by_devices(const TaskClass& task, const NodeRoom& room) {
  constexpr std::int64_t kPlenty = std::int64_t{1} << 55;  // and yet sums do not overflow
  NodeRoom wide = room;
  wide.cpu = kPlenty;
  wide.memory = kPlenty;
  for (CellState& cell : wide.cells) cell.free_cpu = cell.total_cpu = kPlenty;
  for (std::int64_t& amount : wide.extended) amount = kPlenty;
  if (!task.numa_required) return room_fit(task, wide).slots;
  TaskClass anywhere = task;  // cores are near everything, and need not be counted out
  anywhere.numa_required = false;
  return room_fit(anywhere, wide).slots;
}

std::int64_t tasks_of(const GangRequest& request) {
  std::int64_t tasks = 0;
  for (const GangRole& role : request.roles) tasks += std::ssize(role.indices);
  return tasks;
}

}  // namespace

// What one more task of the claimant lacks on the node, over all its classes.
ResourceSet Taker::lacking_on(std::uint32_t slot) {
  auto& [asked, out] = lacking_at_[slot];
  if (asked == claim_number_) return out;
  asked = claim_number_;
  out = {};
  const NodeState& node = pool_.state.node_at(slot);
  for (const GangRole& role : claim_->request->roles) {
    const TaskClass& task = classes_.get(role.task_class);
    if (pool_.index(role.task_class).empty_slots_at(slot) == 0) continue;
    const std::int32_t slots = room_fit(task, node.free).slots;
    if (task.needs_gpu() && slots_by_devices(task, node.free) <= slots) out.add(kGpuResource);
    if (node.free.cpu < (slots + 1) * task.cpu) out.add(kCpuResource);
    // Cores may be free, but not where they have to be.
    if (task.numa_required && task.needs_gpu() && slots_by_devices(task, node.free) > slots)
      out.add(kCpuResource);
    if (node.free.memory < (slots + 1) * task.memory) out.add(kMemoryResource);
    for (const auto& [resource, amount] : task.extended) {
      if (node.free.extended_free(resource) < (slots + 1) * amount) out.add(resource);
    }
  }
  return out;
}

// Whether the unit may go for this claim at all. Asked once per unit and claim.
bool Taker::legal(Id id) {
  if (rule_ == TakeBack::kReclaim) {
    auto& [claim, may] = may_lose_[victims_.unit(id).queue];
    if (claim != claim_number_) {
      claim = claim_number_;
      may = claim_->may_lose(victims_.unit(id).queue);
    }
    if (!may) return false;
  }
  Known& known = known_[id];
  if (known.claim != claim_number_) {
    known.claim = claim_number_;
    known.lacking = {};
    known.legal = find_out(id, known.lacking);
  }
  return known.legal;
}

bool Taker::find_out(Id id, ResourceSet& lacking) {
  const VictimUnit& unit = victims_.unit(id);
  if (unit.gone || unit.workload == claim_->workload || (*untouchable_)(unit)) return false;
  if (rule_ == TakeBack::kPreempt &&
      (unit.queue != claim_->queue || unit.priority >= claim_->priority)) {
    return false;
  }
  for (const std::uint32_t slot : unit.slots) {
    const NodeState& node = pool_.state.node_at(slot);
    if (node.usable()) lacking.add(lacking_on(slot));
  }
  for (const auto& [limited, resources] : claim_->behind_gates) {
    for (QueueId q = unit.queue; q.valid(); q = queues_.get(q).parent) {
      if (q == limited) lacking.add(resources);
    }
  }
  bool useful = false;
  for (std::size_t r = 0; r < unit.amounts.size(); ++r)
    useful = useful || (unit.amounts[r] > 0 && lacking.has(r));
  if (!useful) return false;
  switch (rule_) {
    case TakeBack::kReclaim:
      return guard_->reaches(unit.queue, unit.amounts, lacking) &&
             guard_->keeps(unit.queue, unit.amounts, lacking);
    case TakeBack::kPreempt:
      return true;
    case TakeBack::kConsolidate: {
      // What a goal ties to other tasks stays where it is.
      const Shape& shape = shapes_.get(workloads_.get(unit.workload).shape);
      return shape.topology.empty() &&
             std::all_of(shape.roles.begin(), shape.roles.end(), [](const RoleSpec& role) {
               return role.topology.empty() && role.segment_size == 0;
             });
    }
  }
  return false;
}

void Taker::begin() {
  ++claim_number_;
  steps_left_ = steps_;
  legal_.clear();
  known_.resize(victims_.units().size());
  spares_left_ = victims_.spares();
}

// Whether the unit may go beside what is chosen already.
bool Taker::may_add(Id id) {
  const VictimUnit& unit = victims_.unit(id);
  if (!unit.whole) {
    if (off_.count(unit.tasks.front()) > 0 ||
        spares_left_[static_cast<std::size_t>(unit.spare)] < std::ssize(unit.tasks)) {
      return false;
    }
  } else if (std::all_of(unit.tasks.begin(), unit.tasks.end(),
                         [this](const TaskRef& t) { return off_.count(t) > 0; })) {
    return false;
  }
  return rule_ != TakeBack::kReclaim || keeps_shares(unit, known_[id].lacking);
}

// 7.1 for the unit beside what is chosen: every queue keeps its share of all that the claimant
// lacks at any of them, in whatever order they are chosen.
bool Taker::keeps_shares(const VictimUnit& unit, const ResourceSet& lacking) const {
  Int128 cost = 0;
  const ResourceVector amounts = unit.whole ? rest_of(unit, cost) : unit.amounts;
  ResourceSet with = contested_;
  with.add(lacking);
  if (!guard_->keeps(unit.queue, amounts, with)) return false;
  if (with == contested_) return true;
  // What is contested only now was taken from others already.
  queues_.charge(pool_.state.id, unit.queue, amounts, -1, false, 0, now_);
  const bool others = std::all_of(chosen_.begin(), chosen_.end(), [&](const Chosen& c) {
    return guard_->keeps(victims_.unit(c.unit).queue, c.amounts, with, ShareGuard::Ledgers::kAfter);
  });
  queues_.charge(pool_.state.id, unit.queue, amounts, 1, false, 0, now_);
  return others;
}

// What a unit gives beside what is chosen: of a gang whose extras went before, the rest.
ResourceVector Taker::rest_of(const VictimUnit& unit, Int128& cost) const {
  ResourceVector amounts = unit.amounts;
  cost = unit.cost;
  if (const auto before = chosen_of_.find(unit.workload);
      unit.whole && before != chosen_of_.end()) {
    amounts.add(before->second.first, -1);
    cost -= before->second.second;
  }
  return amounts;
}

void Taker::add(Id id) {
  const VictimUnit& unit = victims_.unit(id);
  Chosen chosen{id, {}, {}, 0, contested_};
  chosen.amounts = rest_of(unit, chosen.cost);
  contested_.add(known_[id].lacking);
  if (!unit.whole) {
    spares_left_[static_cast<std::size_t>(unit.spare)] -=
        static_cast<std::int32_t>(unit.tasks.size());
  }
  const WorkloadRecord& w = workloads_.get(unit.workload);
  const Shape& shape = shapes_.get(w.shape);
  for (const TaskRef& t : unit.tasks) {
    if (!off_.insert(t).second) continue;
    chosen.tasks.push_back(t);
    const auto role = static_cast<std::size_t>(t.role);
    const TaskSlot& slot = w.roles[role].tasks[static_cast<std::size_t>(t.index)];
    pool_.state.give(slot.placement.node, slot.placement, classes_.get(shape.classes[role]));
  }
  queues_.charge(pool_.state.id, unit.queue, chosen.amounts, -1, false, 0, now_);
  auto& [given, spent] = chosen_of_[unit.workload];
  given.add(chosen.amounts);
  spent += chosen.cost;
  cost_ += chosen.cost;
  chosen_.push_back(std::move(chosen));
}

void Taker::remove_last() {
  const Chosen chosen = std::move(chosen_.back());
  chosen_.pop_back();
  const VictimUnit& unit = victims_.unit(chosen.unit);
  contested_ = chosen.contested_before;
  if (!unit.whole) {
    spares_left_[static_cast<std::size_t>(unit.spare)] +=
        static_cast<std::int32_t>(unit.tasks.size());
  }
  const WorkloadRecord& w = workloads_.get(unit.workload);
  const Shape& shape = shapes_.get(w.shape);
  for (const TaskRef& t : chosen.tasks) {
    off_.erase(t);
    const auto role = static_cast<std::size_t>(t.role);
    const TaskSlot& slot = w.roles[role].tasks[static_cast<std::size_t>(t.index)];
    pool_.state.take(slot.placement.node, slot.placement, classes_.get(shape.classes[role]));
  }
  queues_.charge(pool_.state.id, unit.queue, chosen.amounts, 1, false, 0, now_);
  auto& [given, spent] = chosen_of_[unit.workload];
  given.add(chosen.amounts, -1);
  spent -= chosen.cost;
  cost_ -= chosen.cost;
}

void Taker::clear() {
  while (!chosen_.empty()) remove_last();
}

// Places the claimant, and for 7.3 also what was taken off; on success all of it is back where it
// was, but noted in `out`.
bool Taker::accept(const GangOutcome& placed, Outcome& out) {
  Outcome found;
  found.tasks = placed.tasks;
  const bool whole = rule_ != TakeBack::kConsolidate || (move_all(found) && within_limits(found));
  claim_->release(placed.tasks);
  if (!whole) return false;
  for (const Chosen& c : chosen_)
    found.victims.insert(found.victims.end(), c.tasks.begin(), c.tasks.end());
  out = std::move(found);
  return true;
}

// 5.1 where things are charged by the devices they land on: no limit is passed by the claimant and
// what was moved that was not passed before. Requires: what moves is off its nodes.
bool Taker::within_limits(const Outcome& out) const {
  std::map<QueueId, std::pair<ResourceVector, ResourceVector>> added;  // before, now
  const auto note = [&](QueueId leaf, const ResourceVector& amounts, bool now) {
    for (QueueId q = leaf; q.valid(); q = queues_.get(q).parent)
      (now ? added[q].second : added[q].first).add(amounts);
  };
  for (const Chosen& c : chosen_) note(victims_.unit(c.unit).queue, c.amounts, false);
  for (const Outcome::Move& move : out.moves)
    note(workloads_.get(move.workload).queue, claim_->charge(move.workload, move.tasks), true);
  note(claim_->queue, claim_->charge(claim_->workload, out.tasks), true);
  for (const auto& [q, amounts] : added) {
    const auto& [before, now] = amounts;
    for (std::size_t r = 0; r < now.size(); ++r) {
      const std::int64_t limit = queues_.entitlement(pool_.state.id, q, r).limit;
      if (limit == kUnlimited || now[r] <= before[r]) continue;
      if (queues_.ledger(pool_.state.id, q).allocated[r] + now[r] > limit) return false;
    }
  }
  return true;
}

// 7.5, 7.5.b: how many workloads are hit, and how many of them are gangs that go whole.
std::pair<std::size_t, std::size_t> Taker::hit() const {
  std::set<WorkloadId> hit;
  std::size_t whole = 0;
  for (const Chosen& c : chosen_) {
    hit.insert(victims_.unit(c.unit).workload);
    whole += victims_.unit(c.unit).whole ? 1 : 0;
  }
  return {hit.size(), whole};
}

// Requires: the claimant is placed. Each workload's tasks find another place together, the largest
// first; then they are taken away again.
bool Taker::move_all(Outcome& out) {
  std::map<WorkloadId, GangRequest> requests;
  for (const Chosen& c : chosen_) {
    for (const TaskRef& t : c.tasks) {
      GangRequest& request = requests[t.workload];
      auto role = std::find_if(request.roles.begin(), request.roles.end(),
                               [&](const GangRole& r) { return r.role == t.role; });
      if (role == request.roles.end()) {
        GangRole fresh;
        fresh.role = t.role;
        fresh.task_class =
            shapes_.get(workloads_.get(t.workload).shape).classes[static_cast<std::size_t>(t.role)];
        request.roles.push_back(std::move(fresh));
        role = std::prev(request.roles.end());
      }
      role->indices.push_back(t.index);
    }
  }
  std::vector<std::pair<std::int64_t, WorkloadId>> order;
  for (auto& [id, request] : requests) {
    request.range = pool_.state.all();
    std::int64_t largest = 0;
    for (GangRole& role : request.roles) {
      std::sort(role.indices.begin(), role.indices.end());
      const TaskClass& task = classes_.get(role.task_class);
      largest = std::max<std::int64_t>(largest, std::int64_t{task.milli} * task.gpu_count);
    }
    order.emplace_back(-largest, id);
  }
  std::sort(order.begin(), order.end());
  bool all = true;
  for (const auto& [size, id] : order) {
    GangPlacer placer(pool_, std::max<std::int64_t>(steps_left_, 0));
    GangOutcome outcome = placer.place(requests[id]);
    if (outcome.verdict != GangVerdict::kPlaced) {
      all = false;
      break;
    }
    out.moves.push_back({id, std::move(outcome.tasks)});
  }
  for (const Outcome::Move& move : out.moves)
    GangPlacer::release(pool_, requests[move.workload], move.tasks);
  return all;
}

std::optional<GangOutcome> Taker::try_place() {
  --steps_left_;
  GangOutcome outcome = claim_->place();
  if (outcome.verdict != GangVerdict::kPlaced) return std::nullopt;
  return outcome;
}

bool Taker::one_class() const {
  const auto& roles = claim_->request->roles;
  return std::all_of(roles.begin(), roles.end(),
                     [&](const GangRole& r) { return r.task_class == roles.front().task_class; });
}

// Gives the room what the unit's tasks hold on the slot, those off their nodes already apart.
void Taker::give_on(std::uint32_t slot, Id id, NodeRoom& room) const {
  const VictimUnit& unit = victims_.unit(id);
  const WorkloadRecord& w = workloads_.get(unit.workload);
  const Shape& shape = shapes_.get(w.shape);
  for (std::size_t i = 0; i < unit.tasks.size(); ++i) {
    if (unit.slots[i] != slot || off_.count(unit.tasks[i]) > 0) continue;
    const auto role = static_cast<std::size_t>(unit.tasks[i].role);
    const TaskClass& held = classes_.get(shape.classes[role]);
    room.give(w.roles[role].tasks[static_cast<std::size_t>(unit.tasks[i].index)].placement,
              held.host_claim(), held.extended);
  }
}

// The cheapest set of units on the node, per place gained, that makes room for one task or, where
// one unit makes room for several, for as many as are wanted.
Taker::Opening Taker::open(std::uint32_t slot, std::int64_t wanted) {
  Opening best;
  const NodeState& node = pool_.state.node_at(slot);
  const TaskClass& task = classes_.get(claim_->request->roles.front().task_class);
  if (!node.usable() || static_filter(task, node) != Filter::kFits) return best;
  const std::int32_t before = room_fit(task, node.free).slots;
  std::vector<Id> units;
  for (const Id id : victims_.at(slot)) {
    if (legal(id) && may_add(id)) units.push_back(id);
  }
  const auto give = [&](NodeRoom& room, Id id) { give_on(slot, id, room); };
  const auto better = [&](Int128 cost, std::int32_t gain) {
    return best.gain == 0 || cost * best.gain < best.cost * gain;
  };
  if (units.size() <= kExhaustive) {
    // Units by cost, so the first that is too dear ends its branch.
    std::vector<Id> stack;
    const std::function<void(std::size_t, const NodeRoom&, Int128)> look =
        [&](std::size_t next, const NodeRoom& room, Int128 cost) {
          for (std::size_t i = next; i < units.size(); ++i) {
            const Int128 with = cost + victims_.unit(units[i]).cost;
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
    first.cost += victims_.unit(id).cost;
  }
  first.gain = room_fit(task, left).slots - before;
  return first;
}

// One task on one node: the first unit by cost that makes room alone, unless cheaper ones that do
// not do so together.
bool Taker::find_for_one(Outcome& out) {
  const GangRole& role = claim_->request->roles.front();
  const TaskClass& task = classes_.get(role.task_class);
  const SlotRange range = claim_->request->range;
  std::vector<std::uint32_t> tried;  // nodes of cheaper units
  std::optional<std::uint32_t> opened;
  for (const Id id : victims_.by_cost()) {
    if (!legal(id)) continue;
    for (const std::uint32_t slot : victims_.unit(id).slots) {
      const NodeState& node = pool_.state.node_at(slot);
      if (slot < range.begin || slot >= range.end || !node.usable()) continue;
      if (static_filter(task, node) != Filter::kFits) continue;
      NodeRoom room = node.free;
      give_on(slot, id, room);
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
    if (may_add(id)) add(id);
  }
  const auto placed = try_place();
  const bool found = placed && accept(*placed, out);
  clear();
  return found;
}

// Opens nodes until the claimant fits.
bool Taker::open_nodes(Outcome& out) {
  const GangRequest& request = *claim_->request;
  const std::int64_t needed = tasks_of(request);
  const ClassIndex& index = pool_.index(request.roles.front().task_class);
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
  for (const std::uint32_t slot : victims_.slots()) {
    if (slot < request.range.begin || slot >= request.range.end) continue;
    Opening opening = open(slot, needed - have);
    if (opening.gain > 0) nodes.push({std::move(opening), slot});
  }
  while (have < needed && !nodes.empty()) {
    Node entry = nodes.top();
    nodes.pop();
    if (!std::all_of(entry.opening.units.begin(), entry.opening.units.end(),
                     [this](Id id) { return may_add(id); })) {
      entry.opening = open(entry.slot, needed - have);
      if (entry.opening.gain > 0) nodes.push(std::move(entry));
      continue;
    }
    const std::size_t mark = chosen_.size();
    bool added = true;
    for (const Id id : entry.opening.units) {
      added = added && may_add(id);
      if (added) add(id);
    }
    while (!added && chosen_.size() > mark) remove_last();
    if (added) {
      --steps_left_;
      have = pool_.index(request.roles.front().task_class).slots(request.range);
      entry.opening = open(entry.slot, needed - have);
      if (entry.opening.gain > 0) nodes.push(std::move(entry));
    }
  }
  if (have < needed) return false;
  const auto placed = try_place();
  return placed && accept(*placed, out);
}

// Adds what may go, least cost first and more each time, until the claimant fits.
bool Taker::add_by_cost(Outcome& out) {
  std::size_t batch = 1;
  std::size_t next = 0;
  while (next < legal_.size()) {
    bool added = false;
    for (std::size_t n = 0; n < batch && next < legal_.size(); ++next) {
      if (!may_add(legal_[next])) continue;
      add(legal_[next]);
      added = true;
      ++n;
    }
    if (!added) return false;
    if (const auto placed = try_place(); placed && accept(*placed, out)) return true;
    if (steps_left_ < 0) return false;
    batch *= 2;
  }
  return false;
}

// Every legal set, those that cost more than the best known left out.
void Taker::look_from(std::size_t next, Outcome& out) {
  for (std::size_t i = next; i < legal_.size(); ++i) {
    if (!may_add(legal_[i])) continue;
    add(legal_[i]);
    if (!found_ || cost_ < best_cost_ || (cost_ == best_cost_ && hit() < best_hit_)) {
      const auto placed = try_place();
      if (placed && accept(*placed, out)) {
        found_ = true;
        best_cost_ = cost_;
        best_hit_ = hit();
      } else {
        look_from(i + 1, out);
      }
    }
    remove_last();
  }
}

bool Taker::look_at_all(Outcome& out) {
  found_ = false;
  look_from(0, out);
  return found_;
}

// Dearest first; what is left is needed.
void Taker::put_back_what_is_not_needed(Outcome& out) {
  constexpr std::size_t kMost = 64;  // beyond, each node was opened by its cheapest set
  if (chosen_.size() > kMost) return;
  std::vector<Id> units;
  for (const Chosen& c : chosen_) units.push_back(c.unit);
  std::vector<Id> dearest = units;
  std::stable_sort(dearest.begin(), dearest.end(),
                   [this](Id a, Id b) { return victims_.unit(a).cost > victims_.unit(b).cost; });
  for (const Id id : dearest) {
    std::vector<Id> fewer;
    for (const Id other : units) {
      if (other != id) fewer.push_back(other);
    }
    clear();
    bool legal = true;
    for (const Id other : fewer) {
      legal = legal && may_add(other);
      if (legal) add(other);
    }
    Outcome without;
    const auto placed = legal ? try_place() : std::nullopt;
    if (placed && accept(*placed, without)) {
      units = fewer;
      out = std::move(without);
    }
  }
  clear();
}

Taker::Outcome Taker::find(TakeBack rule, const Claim& claim, const ShareGuard* guard,
                           const Untouchable& untouchable) {
  rule_ = rule;
  claim_ = &claim;
  guard_ = guard;
  untouchable_ = &untouchable;
  Outcome out;
  begin();
  // Behind a limit any unit below it may do, wherever it runs.
  if (tasks_of(*claim.request) == 1 && claim.behind_gates.empty() && find_for_one(out)) {
    out.answer = Answer::kFound;
    return out;
  }
  for (const Id id : victims_.by_cost()) {
    if (legal(id)) legal_.push_back(id);
  }
  if (legal_.empty()) return out;
  if (legal_.size() <= kExhaustive) {
    const bool found = look_at_all(out);
    out.answer = found ? Answer::kFound : Answer::kProvedNone;
    clear();
    return out;
  }
  bool found = one_class() && open_nodes(out);
  if (!found) {
    clear();
    found = add_by_cost(out);
  }
  if (found) {
    out.answer = Answer::kFound;
    put_back_what_is_not_needed(out);
    clear();
    return out;
  }
  clear();
  // The certificate: with all that could go by itself removed, shares and minimums or not.
  std::fill(spares_left_.begin(), spares_left_.end(), INT32_MAX / 2);
  const TakeBack asked = std::exchange(rule_, TakeBack::kPreempt);
  for (const Id id : legal_) {
    if (may_add(id)) add(id);
  }
  const GangOutcome all = claim.place();
  if (all.verdict == GangVerdict::kPlaced) claim.release(all.tasks);
  clear();
  rule_ = asked;
  out.answer = all.verdict == GangVerdict::kNoRoom ? Answer::kProvedNone : Answer::kRanOut;
  return out;
}

}  // namespace fairlead::sched
