#include "sched/evict/trial.h"

#include <algorithm>
#include <map>
#include <set>
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

}  // namespace

void add_lacking(const TaskClass& task, const NodeRoom& room, ResourceSet& out) {
  const std::int32_t slots = room_fit(task, room).slots;
  if (task.needs_gpu() && slots_by_devices(task, room) <= slots) out.add(kGpuResource);
  if (room.cpu < (slots + 1) * task.cpu) out.add(kCpuResource);
  // Cores may be free, but not where they have to be.
  if (task.numa_required && task.needs_gpu() && slots_by_devices(task, room) > slots)
    out.add(kCpuResource);
  if (room.memory < (slots + 1) * task.memory) out.add(kMemoryResource);
  for (const auto& [resource, amount] : task.extended) {
    if (room.extended_free(resource) < (slots + 1) * amount) out.add(resource);
  }
}

void Lift::operator()(std::span<const TaskRef> tasks, bool off, Instant until,
                      const Passes& passes) const {
  std::set<NodeId> reserved;
  for (const TaskRef& t : tasks) {
    const WorkloadRecord& w = workloads.get(t.workload);
    const auto role = static_cast<std::size_t>(t.role);
    const TaskPlacement& at = w.roles[role].tasks[static_cast<std::size_t>(t.index)].placement;
    if (pool.node(at.node).pool != pool.id) continue;
    if (!timeline.on(at.node).empty()) {
      reserved.insert(at.node);
      timeline.show_on(at.node);
      off ? timeline.lift(t) : timeline.put_back(t);
    }
    const TaskClass& task = classes.get(shapes.get(w.shape).classes[role]);
    off ? pool.give(at.node, at, task) : pool.take(at.node, at, task);
  }
  for (const NodeId node : reserved) timeline.hide_on(node, now, until, passes);
}

// What one more task of the claimant lacks on the node, over all its classes.
ResourceSet Trial::lacking_on(std::uint32_t slot) {
  auto& [asked, out] = lacking_at_[slot];
  if (asked == claim_number_) return out;
  asked = claim_number_;
  out = {};
  const NodeState& node = pool_.state.node_at(slot);
  for (const GangRole& role : claim_->request->roles) {
    const TaskClass& task = classes_.get(role.task_class);
    if (pool_.index(role.task_class).empty_slots_at(slot) > 0) add_lacking(task, node.free, out);
  }
  return out;
}

// Whether the unit may go for this claim at all. Asked once per unit and claim.
bool Trial::legal(Id id) {
  if (rule_ == TakeBack::kReclaim) {
    const std::size_t queue = victims_.unit(id).queue.index();
    if (may_lose_.size() <= queue) may_lose_.resize(queue + 1);
    auto& [claim, may] = may_lose_[queue];
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

bool Trial::find_out(Id id, ResourceSet& lacking) {
  const VictimUnit& unit = victims_.unit(id);
  if (unit.gone || unit.workload == claim_->workload || (*untouchable_)(unit)) return false;
  if (rule_ == TakeBack::kPreempt &&
      (unit.queue != claim_->queue || unit.priority >= claim_->priority)) {
    return false;
  }
  bool elsewhere = false;
  for (const std::uint32_t slot : unit.slots) {
    elsewhere = elsewhere || slot == VictimUnit::kElsewhere;
    if (slot == VictimUnit::kElsewhere) continue;
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
      return gives_alone(unit, lacking);
    case TakeBack::kPreempt:
      return true;
    case TakeBack::kConsolidate: {
      // What a goal ties to other tasks stays where it is.
      const Shape& shape = shapes_.get(workloads_.get(unit.workload).shape);
      bool tied = false;
      for (std::size_t r = 0; r < shape.roles.size(); ++r) tied = tied || shape.tied(r);
      return !elsewhere && !tied;
    }
  }
  return false;
}

// 7.1 for the unit alone.
bool Trial::gives_alone(const VictimUnit& unit, const ResourceSet& lacking) {
  const bool same = said_.claim == claim_number_ && said_.queue == unit.queue &&
                    said_.amounts == unit.amounts && said_.lacking == lacking;
  if (!same) {
    said_ = {claim_number_, unit.queue, unit.amounts, lacking,
             guard_->reaches(unit.queue, unit.amounts, lacking) &&
                 guard_->keeps(unit.queue, unit.amounts, lacking)};
  }
  return said_.keeps;
}

void Trial::begin(TakeBack rule, const Claim& claim, const ShareGuard* guard,
                  const Untouchable& untouchable) {
  rule_ = rule;
  claim_ = &claim;
  guard_ = guard;
  untouchable_ = &untouchable;
  ++claim_number_;
  steps_left_ = steps_;
  steps_before_ = 0;
  sure_ = true;
  known_.resize(victims_.units().size());
  spares_left_ = victims_.spares();
}

// Whether the unit may go beside what is chosen already.
bool Trial::may_add(Id id) {
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
bool Trial::keeps_shares(const VictimUnit& unit, const ResourceSet& lacking) const {
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
ResourceVector Trial::rest_of(const VictimUnit& unit, Int128& cost) const {
  ResourceVector amounts = unit.amounts;
  cost = unit.cost;
  if (!unit.whole) return amounts;
  if (const auto before = chosen_of_.find(unit.workload); before != chosen_of_.end()) {
    amounts.add(before->second.first, -1);
    cost -= before->second.second;
  }
  return amounts;
}

void Trial::choose(Id id, bool lifted) {
  const VictimUnit& unit = victims_.unit(id);
  Chosen chosen{id, {}, {}, 0, contested_, lifted};
  chosen.amounts = rest_of(unit, chosen.cost);
  contested_.add(known_[id].lacking);
  if (!unit.whole) {
    spares_left_[static_cast<std::size_t>(unit.spare)] -=
        static_cast<std::int32_t>(unit.tasks.size());
  }
  for (const TaskRef& t : unit.tasks) {
    if (off_.insert(t).second) chosen.tasks.push_back(t);
  }
  if (lifted) lift(chosen.tasks, true);
  queues_.charge(pool_.state.id, unit.queue, chosen.amounts, -1, false, 0, now_);
  auto& [given, spent] = chosen_of_[unit.workload];
  given.add(chosen.amounts);
  spent += chosen.cost;
  cost_ += chosen.cost;
  chosen_.push_back(std::move(chosen));
}

void Trial::remove_last() {
  const Chosen chosen = std::move(chosen_.back());
  chosen_.pop_back();
  const VictimUnit& unit = victims_.unit(chosen.unit);
  contested_ = chosen.contested_before;
  if (!unit.whole) {
    spares_left_[static_cast<std::size_t>(unit.spare)] +=
        static_cast<std::int32_t>(unit.tasks.size());
  }
  for (const TaskRef& t : chosen.tasks) off_.erase(t);
  if (chosen.lifted) lift(chosen.tasks, false);
  queues_.charge(pool_.state.id, unit.queue, chosen.amounts, 1, false, 0, now_);
  auto& [given, spent] = chosen_of_[unit.workload];
  given.add(chosen.amounts, -1);
  spent -= chosen.cost;
  cost_ -= chosen.cost;
}

bool Trial::add_all(const std::vector<Id>& units) {
  const std::size_t mark = size();
  const bool surely = surely_may_add_all(units);
  for (const Id id : units) {
    if (!surely && !may_add(id)) {
      remove_to(mark);
      return false;
    }
    add(id);
  }
  return true;
}

// Of one queue that keeps its shares without all of them each may go, in whatever order.
bool Trial::surely_may_add_all(const std::vector<Id>& units) const {
  if (rule_ != TakeBack::kReclaim || units.empty()) return false;
  ResourceVector amounts;
  ResourceSet with = contested_;
  std::int64_t tasks = 0;
  for (const Id id : units) {
    const VictimUnit& unit = victims_.unit(id);
    if (unit.queue != victims_.unit(units.front()).queue || chosen_of_.contains(unit.workload))
      return false;
    amounts.add(unit.amounts);
    with.add(known_[id].lacking);
    tasks += std::ssize(unit.tasks);
  }
  // What is contested only now was taken from others already.
  if (!chosen_.empty() && with != contested_) return false;
  const bool spare = std::all_of(units.begin(), units.end(), [&](Id id) {
    const VictimUnit& unit = victims_.unit(id);
    return unit.whole || spares_left_[static_cast<std::size_t>(unit.spare)] >= tasks;
  });
  return spare && guard_->keeps(victims_.unit(units.front()).queue, amounts, with);
}

bool Trial::may_add_all(const std::vector<Id>& units) {
  if (surely_may_add_all(units)) return true;
  const std::size_t mark = size();
  const bool all = std::all_of(units.begin(), units.end(), [this](Id id) {
    if (!may_add(id)) return false;
    choose(id, false);
    return true;
  });
  remove_to(mark);
  return all;
}

bool Trial::place(VictimSet& out) {
  count_step();
  GangOutcome placed = claim_->place(steps_left_);
  if (placed.verdict != GangVerdict::kPlaced) {
    sure_ = sure_ && proves(placed.verdict);
    return false;
  }
  VictimSet found;
  found.tasks = std::move(placed.tasks);
  const bool whole = rule_ != TakeBack::kConsolidate || (move_all(found) && within_limits(found));
  claim_->release(found.tasks);
  if (!whole) return false;
  for (const Chosen& c : chosen_)
    found.victims.insert(found.victims.end(), c.tasks.begin(), c.tasks.end());
  found.contested = contested_;
  out = std::move(found);
  return true;
}

// 5.1 where things are charged by the devices they land on: no limit is passed by the claimant and
// what was moved that was not passed before. Requires: what moves is off its nodes.
bool Trial::within_limits(const VictimSet& out) const {
  std::map<QueueId, std::pair<ResourceVector, ResourceVector>> added;  // before, now
  const auto note = [&](QueueId leaf, const ResourceVector& amounts, bool now) {
    for (QueueId q = leaf; q.valid(); q = queues_.get(q).parent)
      (now ? added[q].second : added[q].first).add(amounts);
  };
  for (const Chosen& c : chosen_) note(victims_.unit(c.unit).queue, c.amounts, false);
  for (const VictimSet::Move& move : out.moves)
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

std::vector<Trial::Id> Trial::chosen() const {
  std::vector<Id> out;
  for (const Chosen& c : chosen_) out.push_back(c.unit);
  return out;
}

// Requires: the claimant is placed. Each workload's tasks find another place together, the largest
// first; then they are taken away again. They mind every reservation but the claimant's: what moves
// has no right to pass any.
bool Trial::move_all(VictimSet& out) {
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
  timeline_.hide(now_, kNever,
                 [this](const Reservation& r) { return r.workload == claim_->workload; });
  bool all = true;
  for (const auto& [size, id] : order) {
    GangPlacer placer(pool_, steps_left_);
    GangOutcome outcome = placer.place(requests[id]);
    steps_left_ = placer.steps_left();
    if (outcome.verdict != GangVerdict::kPlaced) {
      all = false;
      break;
    }
    out.moves.push_back({id, std::move(outcome.tasks)});
  }
  for (const VictimSet::Move& move : out.moves)
    GangPlacer::release(pool_, requests[move.workload], move.tasks);
  timeline_.hide(now_, claim_->until, claim_->passes);
  return all;
}

GangVerdict Trial::with_all_gone(const std::vector<Id>& units) {
  std::fill(spares_left_.begin(), spares_left_.end(), INT32_MAX / 2);
  const TakeBack asked = std::exchange(rule_, TakeBack::kPreempt);
  for (const Id id : units) {
    if (may_add(id)) add(id);
  }
  count_step();
  const GangOutcome all = claim_->place(steps_left_);
  if (all.verdict == GangVerdict::kPlaced) claim_->release(all.tasks);
  clear();
  spares_left_ = victims_.spares();
  rule_ = asked;
  return all.verdict;
}

bool Trial::may_lie_on(std::uint32_t slot) const {
  const SlotRange range = claim_->request->range;
  if (slot < range.begin || slot >= range.end) return false;
  const NodeState& node = pool_.state.node_at(slot);
  const TaskClass& task = classes_.get(claim_->request->roles.front().task_class);
  return node.usable() && static_filter(task, node) == Filter::kFits;
}

void Trial::move_on(std::uint32_t slot, Id id, NodeRoom& room, bool give) const {
  const VictimUnit& unit = victims_.unit(id);
  const WorkloadRecord& w = workloads_.get(unit.workload);
  const Shape& shape = shapes_.get(w.shape);
  for (std::size_t i = 0; i < unit.tasks.size(); ++i) {
    if (unit.slots[i] != slot || off_.count(unit.tasks[i]) > 0) continue;
    const auto role = static_cast<std::size_t>(unit.tasks[i].role);
    const TaskClass& held = classes_.get(shape.classes[role]);
    const TaskPlacement& at =
        w.roles[role].tasks[static_cast<std::size_t>(unit.tasks[i].index)].placement;
    give ? room.give(at, held.host_claim(), held.extended)
         : room.take(at, held.host_claim(), held.extended);
  }
}

}  // namespace fairlead::sched
