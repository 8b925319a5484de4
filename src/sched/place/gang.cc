#include "sched/place/gang.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/check.h"
#include "sched/place/device_choice.h"

namespace fairlead::sched {
namespace {

using Needs = std::vector<std::pair<TaskClassId, std::int64_t>>;

void add_need(Needs& needs, TaskClassId task_class, std::int64_t n) {
  for (auto& [have, count] : needs) {
    if (have == task_class) {
      count += n;
      return;
    }
  }
  needs.emplace_back(task_class, n);
}

Needs needs_of(const std::vector<const GangRole*>& roles) {
  Needs needs;
  for (const GangRole* r : roles) {
    add_need(needs, r->task_class, static_cast<std::int64_t>(r->indices.size()));
  }
  return needs;
}

// The part of `range` that what runs already leaves open. Domains nest, so one holds the other or
// they have nothing in common.
SlotRange narrowed(SlotRange range, SlotRange pinned) {
  if (pinned.size() == 0) return range;
  const SlotRange both{std::max(range.begin, pinned.begin), std::min(range.end, pinned.end)};
  return both.begin < both.end ? both : SlotRange{};
}

// Roles with goals of their own before those without, then what is hardest to place first.
std::vector<const GangRole*> hardest_first(std::vector<const GangRole*> roles,
                                           const TaskClasses& classes) {
  const auto key = [&](const GangRole* r) {
    const TaskClass& t = classes.get(r->task_class);
    const std::int64_t per_device = t.gpu_kind == GpuRequestKind::kMemory ? t.mib : t.milli;
    return std::array<std::int64_t, 6>{r->goal.empty() && r->segment_size == 0 ? 1 : 0,
                                       t.needs_gpu() ? 0 : 1,
                                       t.numa_required ? 0 : 1,
                                       -static_cast<std::int64_t>(t.gpu_count),
                                       -per_device,
                                       -t.cpu};
  };
  std::stable_sort(roles.begin(), roles.end(),
                   [&](const GangRole* a, const GangRole* b) { return key(a) < key(b); });
  return roles;
}

// Segments of one size but for a short one, where they are free to choose: then what a domain holds
// does not depend on their order.
bool even_segments(const GangRole& role) {
  std::vector<std::pair<std::int32_t, std::int32_t>> sizes;
  for (const std::int32_t index : role.indices) {
    const std::int32_t number = index / role.segment_size;
    if (sizes.empty() || sizes.back().first != number) sizes.emplace_back(number, 0);
    ++sizes.back().second;
  }
  return std::count_if(sizes.begin(), sizes.end(), [&](const auto& segment) {
           return segment.second < role.segment_size &&
                  std::none_of(
                      role.pinned_segments.begin(), role.pinned_segments.end(),
                      [&](const auto& pin) { return pin.first == segment.first; });
         }) <= 1;
}

}  // namespace

GangOutcome GangPlacer::place(const GangRequest& request) {
  taken_.clear();
  proved_ = true;
  std::vector<const GangRole*> roles;
  for (const GangRole& r : request.roles) roles.push_back(&r);
  GangOutcome outcome;
  if (!could_fit(request.range, needs_of(roles))) {
    if (!proved_) outcome.verdict = GangVerdict::kNotFound;
    return outcome;
  }
  if (place_in_domains(request)) {
    outcome.verdict = GangVerdict::kPlaced;
    for (Taken& t : taken_) outcome.tasks.push_back(std::move(t.placement));
    std::sort(outcome.tasks.begin(), outcome.tasks.end(), [](const auto& a, const auto& b) {
      return a.role != b.role ? a.role < b.role : a.index < b.index;
    });
    return outcome;
  }
  outcome.verdict = steps_left_ < 0 ? GangVerdict::kRanOut
                    : proved_       ? GangVerdict::kNoDomain
                                    : GangVerdict::kNotFound;
  return outcome;
}

void GangPlacer::release(PlacementPool& pool, const GangRequest& request,
                         const std::vector<TaskPlacement>& tasks) {
  for (const TaskPlacement& t : tasks) {
    for (const GangRole& r : request.roles) {
      if (r.role != t.role) continue;
      pool.state.give(t.node, t, pool.classes().get(r.task_class));
      break;
    }
  }
}

bool GangPlacer::place_in_domains(const GangRequest& request) {
  std::vector<const GangRole*> roles;
  for (const GangRole& r : request.roles) roles.push_back(&r);
  const auto ranges = candidates(request.goal, request.range, needs_of(roles));
  if (!request.goal.fewest_hosts || ranges.size() <= 1) {
    for (const SlotRange range : ranges) {
      if (place_roles(roles, range, request.goal.fewest_hosts)) return true;
      if (steps_left_ < 0) return false;
    }
    return false;
  }
  // Fewest hosts over all domains: try each, keep the best. What was found stays when the steps are
  // used up.
  std::vector<Taken> best;
  std::size_t best_hosts = 0;
  for (const SlotRange& range : ranges) {
    if (place_roles(roles, range, true)) {
      const std::size_t hosts = hosts_since(0);
      if (best.empty() || hosts < best_hosts) {
        best = taken_;
        best_hosts = hosts;
      }
      undo_to(0);
    }
    if (best_hosts == 1 || steps_left_ < 0) break;
  }
  if (best.empty()) return false;
  redo(std::move(best));
  return true;
}

bool GangPlacer::place_roles(const std::vector<const GangRole*>& roles, SlotRange range,
                             bool fewest) {
  const std::size_t mark = taken_.size();
  const bool plain = std::all_of(roles.begin(), roles.end(), [](const GangRole* r) {
    return r->goal.empty() && r->segment_size == 0;
  });
  const auto ordered = hardest_first(roles, pool_.classes());
  const Needs needs = needs_of(roles);
  if (fewest && plain) {
    if (place_fewest(ordered, range)) return true;
    undo_to(mark);
    // The steps were used up on the way to fewer hosts: any hosts will do.
    if (needs.size() == 1 && steps_left_ < 0) return place_in_turn(ordered, range);
  } else if (place_in_order(ordered, 0, range)) {
    return true;
  }
  undo_to(mark);
  // Exact: nothing else to try.
  if (needs.size() == 1 && plain) return false;
  if (roles.size() == 1 && (roles[0]->segment_size == 0 || even_segments(*roles[0]))) return false;
  // Other orders: what one role leaves may be what another needs.
  std::vector<const GangRole*> order = ordered;
  std::reverse(order.begin(), order.end());
  for (std::size_t tries = 0; tries < 6 && steps_left_ >= 0; ++tries) {
    if (place_in_order(order, 0, range)) return true;
    undo_to(mark);
    std::rotate(order.begin(), order.begin() + 1, order.end());
    if (order == ordered) std::rotate(order.begin(), order.begin() + 1, order.end());
    if (tries + 1 >= order.size()) break;
  }
  if (place_by_search(ordered, range)) return true;
  proved_ = proved_ && search_is_proof(needs, range);
  return false;
}

// Roles of one class without goals. Costs no steps: it fits as often as the index counts.
bool GangPlacer::place_in_turn(const std::vector<const GangRole*>& roles, SlotRange range) {
  return std::all_of(roles.begin(), roles.end(), [&](const GangRole* role) {
    return place_tasks(*role, role->indices, range);
  });
}

bool GangPlacer::place_in_order(const std::vector<const GangRole*>& roles, std::size_t first,
                                SlotRange range) {
  if (first == roles.size()) return true;
  const GangRole& role = *roles[first];
  const std::size_t mark = taken_.size();
  const SlotRange inside = narrowed(range, role.pinned);
  const Needs needs{{role.task_class, static_cast<std::int64_t>(role.indices.size())}};
  for (const SlotRange candidate : candidates(role.goal, inside, needs)) {
    if (!step()) return false;
    bool placed = false;
    if (role.goal.fewest_hosts && role.segment_size == 0) {
      placed = place_fewest({&role}, candidate);
      if (!placed && steps_left_ < 0) {
        undo_to(mark);
        placed = place_in_turn({&role}, candidate);
      }
    } else {
      placed = place_role(role, candidate);
    }
    if (placed && place_in_order(roles, first + 1, range)) return true;
    undo_to(mark);
  }
  return false;
}

bool GangPlacer::place_role(const GangRole& role, SlotRange range) {
  if (role.segment_size > 0) return place_segments(role, range);
  return place_tasks(role, role.indices, range);
}

bool GangPlacer::place_segments(const GangRole& role, SlotRange range) {
  std::vector<std::pair<std::int32_t, std::vector<std::int32_t>>> segments;
  for (const std::int32_t index : role.indices) {
    const std::int32_t number = index / role.segment_size;
    if (segments.empty() || segments.back().first != number) segments.push_back({number, {}});
    segments.back().second.push_back(index);
  }
  // Pinned segments first, then the largest: a short last one fits where a full one does not.
  const auto pin_of = [&](std::int32_t number) {
    for (const auto& [segment, pinned] : role.pinned_segments) {
      if (segment == number) return pinned;
    }
    return SlotRange{};
  };
  std::stable_sort(segments.begin(), segments.end(), [&](const auto& a, const auto& b) {
    const bool pa = pin_of(a.first).size() > 0;
    const bool pb = pin_of(b.first).size() > 0;
    return pa != pb ? pa : a.second.size() > b.second.size();
  });
  for (const auto& [number, indices] : segments) {
    const SlotRange pin = pin_of(number);
    const Needs needs{{role.task_class, static_cast<std::int64_t>(indices.size())}};
    bool placed = false;
    for (const SlotRange candidate : candidates(role.segment_goal, narrowed(range, pin), needs)) {
      const std::size_t mark = taken_.size();
      placed = step() && place_tasks(role, indices, candidate);
      if (placed) break;
      undo_to(mark);
    }
    if (!placed) return false;
  }
  return true;
}

bool GangPlacer::place_tasks(const GangRole& role, const std::vector<std::int32_t>& indices,
                             SlotRange range) {
  for (const std::int32_t index : indices) {
    const ClassIndex& places = pool_.index(role.task_class);
    const std::uint32_t slot =
        pool_.scorer->random() ? draw_slot(places, range) : places.best(range);
    if (slot == ClassIndex::kNoSlot) return false;
    const bool placed = place_one(role, index, slot);
    FAIRLEAD_CHECK(placed, "what the index counts can be placed");
  }
  return true;
}

bool GangPlacer::place_fewest(const std::vector<const GangRole*>& roles, SlotRange range) {
  std::vector<std::size_t> next(roles.size(), 0);
  const auto remaining = [&](std::size_t r) { return roles[r]->indices.size() - next[r]; };
  std::size_t left = 0;
  for (const GangRole* r : roles) left += r->indices.size();
  const auto& classes = pool_.classes();
  std::vector<const ClassIndex*> places(roles.size());
  while (left > 0) {
    for (std::size_t r = 0; r < roles.size(); ++r) places[r] = &pool_.index(roles[r]->task_class);
    std::uint32_t best_slot = ClassIndex::kNoSlot;
    std::size_t best_count = 0;
    std::pair<std::int64_t, std::int64_t> best_rest;
    for (std::uint32_t slot = range.begin; slot < range.end; ++slot) {
      std::size_t bound = 0;
      for (std::size_t r = 0; r < roles.size(); ++r) {
        bound += std::min(remaining(r), static_cast<std::size_t>(places[r]->slots_at(slot)));
      }
      if (bound == 0 || bound < best_count) continue;
      if (!step()) return false;
      NodeRoom room = pool_.state.node_at(slot).free;
      std::size_t count = 0;
      for (std::size_t r = 0; r < roles.size(); ++r) {
        const TaskClass& task = classes.get(roles[r]->task_class);
        const auto most =
            std::min(remaining(r), static_cast<std::size_t>(places[r]->slots_at(slot)));
        for (std::size_t i = 0; i < most; ++i) {
          const auto placement = choose(task, room, pool_.scorer->device_choice());
          if (!placement) break;
          room.take(*placement, task.host_claim(), task.extended);
          ++count;
        }
      }
      const std::pair<std::int64_t, std::int64_t> rest{room.free_gpu_milli(), room.cpu};
      if (count > best_count || (count == best_count && count > 0 && rest < best_rest)) {
        best_slot = slot;
        best_count = count;
        best_rest = rest;
      }
    }
    if (best_count == 0) return false;
    for (std::size_t r = 0; r < roles.size(); ++r) {
      const std::int32_t most = places[r]->slots_at(best_slot);
      for (std::int32_t i = 0; i < most && remaining(r) > 0; ++i) {
        if (!place_one(*roles[r], roles[r]->indices[next[r]], best_slot)) break;
        ++next[r];
        --left;
      }
    }
  }
  return true;
}

bool GangPlacer::place_by_search(const std::vector<const GangRole*>& roles, SlotRange range) {
  std::vector<Group> groups;
  const Needs needs = needs_of(roles);
  try_devices_ = std::count_if(needs.begin(), needs.end(), [&](const auto& need) {
                   return pool_.classes().get(need.first).needs_gpu();
                 }) > 1;
  for (const GangRole* role : roles) {
    const std::size_t first = groups.size();
    for (const std::int32_t index : role->indices) {
      const std::int32_t segment = role->segment_size > 0 ? index / role->segment_size : 0;
      if (groups.size() == first || groups.back().segment != segment) {
        groups.push_back({role, segment, groups.size() == first, {}, range, range});
      }
      groups.back().indices.push_back(index);
    }
  }
  return search_role(groups, 0, range);
}

// Each domain that the role's goal allows, in turn; then on with its segments.
bool GangPlacer::search_role(std::vector<Group>& groups, std::size_t group, SlotRange range) {
  if (group == groups.size()) return true;
  const GangRole& role = *groups[group].role;
  if (!groups[group].first_of_role) return search_segment(groups, group, range);
  const Needs needs{{role.task_class, static_cast<std::int64_t>(role.indices.size())}};
  for (const SlotRange candidate : candidates(role.goal, narrowed(range, role.pinned), needs)) {
    if (!step()) return false;
    for (Group& g : groups) {
      if (g.role == &role) g.of_role = candidate;
    }
    if (search_segment(groups, group, range)) return true;
  }
  return false;
}

bool GangPlacer::search_segment(std::vector<Group>& groups, std::size_t group, SlotRange range) {
  Group& g = groups[group];
  g.where = g.of_role;
  if (g.role->segment_size == 0) return search_tasks(groups, group, 0, {g.where.begin, 0}, range);
  SlotRange pin;
  for (const auto& [segment, pinned] : g.role->pinned_segments) {
    if (segment == g.segment) pin = pinned;
  }
  const Needs needs{{g.role->task_class, static_cast<std::int64_t>(g.indices.size())}};
  for (const SlotRange candidate :
       candidates(g.role->segment_goal, narrowed(g.of_role, pin), needs)) {
    if (!step()) return false;
    g.where = candidate;
    if (search_tasks(groups, group, 0, {candidate.begin, 0}, range)) return true;
  }
  return false;
}

// Tasks of a group are alike, so they go to nodes, and to the devices of one, in ascending order:
// each set of places once.
bool GangPlacer::search_tasks(std::vector<Group>& groups, std::size_t group, std::size_t task,
                              From from, SlotRange range) {
  const Group& g = groups[group];
  if (task == g.indices.size()) return search_role(groups, group + 1, range);
  // What is still to come must fit by count.
  const SlotRange where = g.where;
  for (std::size_t rest = group; rest < groups.size(); ++rest) {
    const std::size_t need = groups[rest].indices.size() - (rest == group ? task : 0);
    const SlotRange left = rest == group ? SlotRange{from.slot, where.end} : range;
    if (pool_.index(groups[rest].role->task_class).slots(left) < static_cast<std::int64_t>(need)) {
      return false;
    }
  }
  const TaskClass& task_class = pool_.classes().get(g.role->task_class);
  for (std::uint32_t slot = from.slot; slot < where.end; ++slot) {
    if (pool_.index(g.role->task_class).slots_at(slot) == 0) continue;
    const std::int32_t lowest = slot == from.slot ? from.device : 0;
    for (const std::int32_t device : devices_to_try(task_class, slot, lowest)) {
      if (!step()) return false;
      const std::size_t mark = taken_.size();
      if (place_one(*g.role, g.indices[task], slot, device) &&
          search_tasks(groups, group, task + 1, {slot, std::max(device, 0)}, range)) {
        return true;
      }
      undo_to(mark);
      if (steps_left_ < 0) return false;
    }
  }
  return false;
}

std::vector<std::int32_t> GangPlacer::devices_to_try(const TaskClass& task, std::uint32_t slot,
                                                     std::int32_t from) const {
  const bool fraction =
      task.gpu_kind == GpuRequestKind::kPortion || task.gpu_kind == GpuRequestKind::kMemory;
  if (!try_devices_ || !fraction || task.gpu_count != 1 || task.numa_required) return {-1};
  const auto& devices = pool_.state.node_at(slot).free.devices;
  const auto alike = [&](std::int32_t a, std::int32_t b) {
    const DeviceState& x = devices[static_cast<std::size_t>(a)];
    const DeviceState& y = devices[static_cast<std::size_t>(b)];
    return x.device_class == y.device_class && x.free_milli == y.free_milli &&
           x.free_mib == y.free_mib;
  };
  std::vector<std::int32_t> out;
  for (std::int32_t d = from; d < static_cast<std::int32_t>(devices.size()); ++d) {
    if (!device_has_room(task, devices[static_cast<std::size_t>(d)])) continue;
    if (std::none_of(out.begin(), out.end(), [&](std::int32_t o) { return alike(o, d); }))
      out.push_back(d);
  }
  return out;
}

bool GangPlacer::search_is_proof(const Needs& needs, SlotRange range) const {
  int of_devices = 0;
  int of_instances = 0;
  bool whole = false;
  bool several = false;
  for (const auto& need : needs) {
    const TaskClass& task = pool_.classes().get(need.first);
    if (!counts_exactly(task) || (task.numa_required && needs.size() > 1)) return false;
    if (!task.needs_gpu()) continue;
    ++(task.gpu_kind == GpuRequestKind::kMig ? of_instances : of_devices);
    if (task.gpu_kind == GpuRequestKind::kDevices) {
      whole = true;
    } else if (task.gpu_kind != GpuRequestKind::kMig) {
      several = several || task.gpu_count > 1;
    }
  }
  if (of_instances > 1) return false;
  if (of_devices <= 1) return true;
  if (several) return false;
  // Which of its devices are taken whole makes no difference where all of a node are alike.
  for (std::uint32_t slot = range.begin; whole && slot < range.end; ++slot) {
    const auto& devices = pool_.state.node_at(slot).free.devices;
    const bool one_class = std::all_of(devices.begin(), devices.end(), [&](const DeviceState& d) {
      return d.device_class == devices.front().device_class;
    });
    if (!one_class) return false;
  }
  return true;
}

bool GangPlacer::place_one(const GangRole& role, std::int32_t index, std::uint32_t slot,
                           std::int32_t device) {
  const TaskClass& task = pool_.classes().get(role.task_class);
  const NodeState& node = pool_.state.node_at(slot);
  if (device < 0 && task.gpu_count == 1 && !task.request.gpu.whole()) {
    if (pool_.scorer->random()) {
      DeviceList with_room;
      for (std::size_t d = 0; d < node.free.devices.size(); ++d) {
        if (device_has_room(task, node.free.devices[d]))
          with_room.push_back(static_cast<std::uint16_t>(d));
      }
      if (!with_room.empty()) device = with_room[pool_.rng.below(with_room.size())];
    } else {
      device = pool_.scorer->device(task, node);
    }
  }
  auto placement = choose(task, node.free, pool_.scorer->device_choice(), device);
  if (!placement) return false;
  placement->role = role.role;
  placement->index = index;
  placement->node = pool_.state.id_at(slot);
  pool_.state.take(placement->node, *placement, task);
  taken_.push_back({std::move(*placement), role.task_class});
  return true;
}

std::uint32_t GangPlacer::draw_slot(const ClassIndex& index, SlotRange range) {
  std::uint64_t fitting = 0;
  for (std::uint32_t s = range.begin; s < range.end; ++s) fitting += index.slots_at(s) > 0 ? 1 : 0;
  if (fitting == 0) return ClassIndex::kNoSlot;
  std::uint64_t drawn = pool_.rng.below(fitting);
  for (std::uint32_t s = range.begin; s < range.end; ++s) {
    if (index.slots_at(s) > 0 && drawn-- == 0) return s;
  }
  return ClassIndex::kNoSlot;
}

std::size_t GangPlacer::hosts_since(std::size_t mark) const {
  std::vector<NodeId> hosts;
  for (std::size_t i = mark; i < taken_.size(); ++i) hosts.push_back(taken_[i].placement.node);
  std::sort(hosts.begin(), hosts.end());
  return static_cast<std::size_t>(std::unique(hosts.begin(), hosts.end()) - hosts.begin());
}

std::vector<SlotRange> GangPlacer::candidates(const Goal& goal, SlotRange range,
                                              const Needs& needs) {
  std::vector<SlotRange> out;
  const Level narrowest = goal.prefer > goal.within ? goal.prefer : goal.within;
  bool gpus = false;
  for (const auto& need : needs) gpus = gpus || pool_.classes().get(need.first).needs_gpu();
  // A node may belong to no domain of the required level: then what it holds lies in none.
  const auto try_range = [&](SlotRange slots) {
    return pool_.state.domain_of(goal.within, slots.begin).size() > 0 && could_fit(slots, needs);
  };
  for (Level level = narrowest; range.size() > 0 && level >= goal.within; --level) {
    if (level == kWholePool || pool_.state.domain_of(level, range.begin) == range) {
      if (try_range(range)) out.push_back(range);
      continue;
    }
    const SlotRange around = pool_.state.domain_of(level, range.begin);
    if (around.size() > range.size() && around.begin <= range.begin && around.end >= range.end) {
      if (try_range(range)) out.push_back(range);  // already inside one domain of the level
      continue;
    }
    std::vector<Domain> fitting;
    for (Domain& d : pool_.state.domains(level, range)) {
      if (try_range(d.slots)) fitting.push_back(std::move(d));
    }
    std::stable_sort(fitting.begin(), fitting.end(), [&](const Domain& a, const Domain& b) {
      return gpus && a.free_milli != b.free_milli ? a.free_milli < b.free_milli
                                                  : (gpus ? false : a.free_cpu < b.free_cpu);
    });
    for (const Domain& d : fitting) out.push_back(d.slots);
  }
  return out;
}

bool GangPlacer::could_fit(SlotRange range, const Needs& needs) {
  // Classes that fit one by one may still be too much together.
  if (needs.size() > 1) {
    std::int64_t milli = 0;
    for (const auto& [task_class, n] : needs) {
      const TaskClass& task = pool_.classes().get(task_class);
      milli += n * task.milli * task.gpu_count;
    }
    if (milli > 0 && milli > pool_.state.free_milli(range)) return false;
  }
  for (const auto& [task_class, n] : needs) {
    if (pool_.index(task_class).slots(range) >= n) continue;
    proved_ = proved_ && counts_exactly(pool_.classes().get(task_class));
    return false;
  }
  return true;
}

void GangPlacer::undo_to(std::size_t mark) {
  while (taken_.size() > mark) {
    const Taken& last = taken_.back();
    pool_.state.give(last.placement.node, last.placement, pool_.classes().get(last.task_class));
    taken_.pop_back();
  }
}

void GangPlacer::redo(std::vector<Taken> taken) {
  for (const Taken& t : taken)
    pool_.state.take(t.placement.node, t.placement, pool_.classes().get(t.task_class));
  taken_ = std::move(taken);
}

}  // namespace fairlead::sched
