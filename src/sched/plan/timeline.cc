#include "sched/plan/timeline.h"

#include <algorithm>

#include "base/check.h"

namespace fairlead::sched {
namespace {

template <class T>
void lower(T& amount, T by) {
  amount = amount > by ? amount - by : T{0};
}

std::uint32_t slices_of(const DeviceClaim& claim) {
  return ((std::uint32_t{1} << claim.mig_memory_slices) - 1) << claim.mig_start;
}

// Takes off what is there of the claims: what is not free now may be, once it is needed.
void take_what_there_is(NodeRoom& room, const PlannedTask& planned, const TaskClass& task) {
  for (const DeviceClaim& claim : planned.placement.devices) {
    if (claim.device >= room.devices.size()) continue;
    DeviceState& d = room.devices[claim.device];
    lower(d.free_milli, static_cast<std::int32_t>(claim.milli.value));
    lower(d.free_mib, claim.memory.value);
    if (claim.mig_start < 0) continue;
    d.mig_free_slices &= ~slices_of(claim);
    lower(d.mig_free_compute, std::int32_t{claim.mig_compute_slices});
  }
  for (const CpuClaim& claim : planned.placement.cpus) {
    if (claim.cell < room.cells.size()) lower(room.cells[claim.cell].free_cpu, claim.cpu.value);
  }
  lower(room.cpu, task.host_claim().cpu);
  lower(room.memory, task.host_claim().memory);
  for (const auto& [resource, amount] : task.extended) {
    const std::size_t position = resource - kFirstExtended;
    if (position < room.extended.size()) lower(room.extended[position], amount);
  }
}

void take_all(NodeRoom& room) {
  for (DeviceState& d : room.devices) {
    d.free_milli = 0;
    d.free_mib = 0;
    d.mig_free_slices = 0;
    d.mig_free_compute = 0;
  }
  for (CellState& cell : room.cells) cell.free_cpu = 0;
  room.cpu = room.memory = 0;
  for (std::int64_t& amount : room.extended) amount = 0;
}

// The lesser of both, part by part.
void narrow(NodeRoom& room, const NodeRoom& other) {
  for (std::size_t i = 0; i < room.devices.size(); ++i) {
    DeviceState& d = room.devices[i];
    const DeviceState& o = other.devices[i];
    d.free_milli = std::min(d.free_milli, o.free_milli);
    d.free_mib = std::min(d.free_mib, o.free_mib);
    d.mig_free_slices &= o.mig_free_slices;
    d.mig_free_compute = std::min(d.mig_free_compute, o.mig_free_compute);
  }
  for (std::size_t i = 0; i < room.cells.size(); ++i)
    room.cells[i].free_cpu = std::min(room.cells[i].free_cpu, other.cells[i].free_cpu);
  room.cpu = std::min(room.cpu, other.cpu);
  room.memory = std::min(room.memory, other.memory);
  for (std::size_t i = 0; i < room.extended.size(); ++i) {
    room.extended[i] =
        std::min(room.extended[i], i < other.extended.size() ? other.extended[i] : 0);
  }
}

// Adds `times` × the amounts. MIG slices are a set: they are joined, or taken out.
void add_amounts(NodeRoom& room, const NodeRoom& amounts, int times) {
  for (std::size_t i = 0; i < room.devices.size(); ++i) {
    DeviceState& d = room.devices[i];
    const DeviceState& a = amounts.devices[i];
    d.free_milli += times * a.free_milli;
    d.free_mib += times * a.free_mib;
    d.mig_free_compute += times * a.mig_free_compute;
    if (times > 0) d.mig_free_slices |= a.mig_free_slices;
    if (times < 0) d.mig_free_slices &= ~a.mig_free_slices;
  }
  for (std::size_t i = 0; i < room.cells.size(); ++i)
    room.cells[i].free_cpu += times * amounts.cells[i].free_cpu;
  room.cpu += times * amounts.cpu;
  room.memory += times * amounts.memory;
  if (room.extended.size() < amounts.extended.size())
    room.extended.resize(amounts.extended.size(), 0);
  for (std::size_t i = 0; i < amounts.extended.size(); ++i)
    room.extended[i] += times * amounts.extended[i];
}

}  // namespace

const Reservation* Timeline::of(WorkloadId workload) const {
  for (const Reservation& r : reservations_) {
    if (r.workload.valid() && r.workload == workload) return &r;
  }
  return nullptr;
}

const Reservation* Timeline::named(const std::string& name) const {
  for (const Reservation& r : reservations_) {
    if (!r.workload.valid() && r.name == name) return &r;
  }
  return nullptr;
}

std::size_t Timeline::of_workloads() const {
  return static_cast<std::size_t>(
      std::count_if(reservations_.begin(), reservations_.end(),
                    [](const Reservation& r) { return r.workload.valid(); }));
}

void Timeline::index_all() {
  FAIRLEAD_CHECK(hiding_ == 0, "reservations change while nothing is hidden");
  nodes_.clear();
  for (std::size_t i = 0; i < reservations_.size(); ++i) {
    const auto note = [&](NodeId node) {
      auto& here = nodes_[node].reservations;
      if (here.empty() || here.back() != i) here.push_back(i);
    };
    for (const PlannedTask& task : reservations_[i].tasks) note(task.placement.node);
    for (const NodeId node : reservations_[i].nodes) note(node);
  }
}

void Timeline::insert(std::size_t position, Reservation reservation) {
  reservations_.insert(reservations_.begin() + static_cast<std::ptrdiff_t>(position),
                       std::move(reservation));
  index_all();
}

void Timeline::replace(std::size_t position, Reservation reservation) {
  reservations_[position] = std::move(reservation);
  index_all();
}

Reservation Timeline::remove(std::size_t position) {
  Reservation out = std::move(reservations_[position]);
  reservations_.erase(reservations_.begin() + static_cast<std::ptrdiff_t>(position));
  index_all();
  return out;
}

std::vector<NodeId> Timeline::nodes() const {
  std::vector<NodeId> out;
  out.reserve(nodes_.size());
  for (const auto& [id, here] : nodes_) out.push_back(id);
  return out;
}

const std::vector<std::size_t>& Timeline::on(NodeId node) const {
  static const std::vector<std::size_t> kNone;
  const auto it = nodes_.find(node);
  return it == nodes_.end() ? kNone : it->second.reservations;
}

NodeRoom Timeline::free_now(NodeId id) const {
  NodeRoom room = pool_.node(id).free;
  const auto it = nodes_.find(id);
  if (it != nodes_.end() && it->second.hides) add_amounts(room, it->second.hidden, 1);
  return room;
}

NodeRoom Timeline::room_at(NodeId id, Instant at, const Passes& passes) const {
  NodeRoom room = free_now(id);
  for (const TaskRef& t : pool_.node(id).tasks) {
    const WorkloadRecord& w = workloads_.get(t.workload);
    const auto role = static_cast<std::size_t>(t.role);
    const TaskSlot& slot = w.roles[role].tasks[static_cast<std::size_t>(t.index)];
    if (slot.ends > at || lifted_.count(t) > 0) continue;
    const TaskClass& task = classes_.get(shapes_.get(w.shape).classes[role]);
    room.give(slot.placement, task.host_claim(), task.extended);
  }
  for (const std::size_t position : on(id)) {
    const Reservation& r = reservations_[position];
    if (r.start > at || r.end <= at || (passes && passes(r))) continue;
    if (std::find(r.nodes.begin(), r.nodes.end(), id) != r.nodes.end()) take_all(room);
    for (const PlannedTask& task : r.tasks) {
      if (task.placement.node == id) take_what_there_is(room, task, classes_.get(task.task_class));
    }
  }
  return room;
}

NodeRoom Timeline::window(NodeId id, Instant from, Instant until, const Passes& passes) const {
  NodeRoom room = room_at(id, from, passes);
  for (const std::size_t position : on(id)) {
    const Reservation& r = reservations_[position];
    if (r.start <= from || r.start >= until || (passes && passes(r))) continue;
    narrow(room, room_at(id, r.start, passes));
  }
  return room;
}

bool Timeline::holds(const Reservation& reservation, Instant now) const {
  // What was promised later gives way.
  const auto self = static_cast<std::size_t>(&reservation - reservations_.data());
  const Passes later = [&](const Reservation& r) {
    return static_cast<std::size_t>(&r - reservations_.data()) >= self;
  };
  const Instant start = std::max(reservation.start, now + milliseconds(1));
  std::map<NodeId, NodeRoom> rooms;
  for (const PlannedTask& task : reservation.tasks) {
    const NodeId id = task.placement.node;
    const NodeState& node = pool_.node(id);
    if (!node.alive || node.pool != pool_.id || !node.usable()) return false;
    auto it = rooms.find(id);
    if (it == rooms.end()) it = rooms.emplace(id, window(id, start, reservation.end, later)).first;
    const TaskClass& c = classes_.get(task.task_class);
    for (const DeviceClaim& claim : task.placement.devices) {
      if (claim.device >= it->second.devices.size() || !it->second.devices[claim.device].healthy)
        return false;
    }
    if (!it->second.holds(task.placement, c.host_claim(), c.extended)) return false;
    it->second.take(task.placement, c.host_claim(), c.extended);
  }
  return true;
}

// Requires: the room is at most what is free of the node.
void Timeline::show(NodeId id, const NodeRoom& room, OnNode& here) {
  const NodeRoom all = free_now(id);
  NodeRoom hidden = all;
  add_amounts(hidden, room, -1);
  NodeRoom nothing = all;
  take_all(nothing);
  const bool hides = !(hidden == nothing);
  if (pool_.node(id).free == room && here.hides == hides && (!hides || here.hidden == hidden))
    return;
  if (here.hides != hides) hiding_ += hides ? 1 : std::size_t(-1);
  here.hides = hides;
  here.hidden = std::move(hidden);
  pool_.show(id, room);
}

void Timeline::hide(Instant now, Instant until, const Passes& passes) {
  for (const auto& [id, here] : nodes_) hide_on(id, now, until, passes);
}

void Timeline::show_all() {
  if (hiding_ == 0) return;
  for (const auto& [id, here] : nodes_) show_on(id);
}

void Timeline::hide_on(NodeId id, Instant now, Instant until, const Passes& passes) {
  const auto it = nodes_.find(id);
  if (it == nodes_.end()) return;
  const NodeState& node = pool_.node(id);
  if (node.alive && node.pool == pool_.id) show(id, window(id, now, until, passes), it->second);
}

void Timeline::show_on(NodeId id) {
  const auto it = nodes_.find(id);
  if (it != nodes_.end() && it->second.hides) show(id, free_now(id), it->second);
}

Instant Timeline::last_start() const {
  Instant last{INT64_MIN};
  for (const Reservation& r : reservations_) last = std::max(last, r.start);
  return last;
}

}  // namespace fairlead::sched
