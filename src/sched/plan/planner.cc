#include "sched/plan/planner.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.h"

namespace fairlead::sched {

Planner::Planner(const PlacementPool& pool, const std::vector<NodeState>& nodes,
                 const Timeline& timeline, const WorkloadTable& workloads, const Shapes& shapes,
                 const TaskClasses& classes)
    : pool_(pool),
      nodes_(nodes),
      timeline_(timeline),
      workloads_(workloads),
      shapes_(shapes),
      classes_(classes) {}

void Planner::rebuild() {
  shape_version_ = pool_.state.shape_version();
  copies_.assign(nodes_.size(), NodeState{});
  seen_.assign(nodes_.size(), 0);
  moved_.clear();
  std::vector<NodeId> members;
  for (std::uint32_t slot = 0; slot < pool_.state.slot_count(); ++slot) {
    const NodeId id = pool_.state.id_at(slot);
    members.push_back(id);
    const NodeState& node = nodes_[id.index()];
    NodeState& copy = copies_[id.index()];
    copy = node;
    copy.tasks.clear();
    copy.free = timeline_.free_now(id);
    seen_[id.index()] = node.version;
  }
  // Whichever policy starts tasks: a plan has to fit, and should leave whole what it can.
  auto scorer = make_scorer("bestfit", pool_.state.spec);
  FAIRLEAD_CHECK(scorer.has_value(), "best fit is a policy");
  future_ = std::make_unique<PlacementPool>(pool_.state.id, pool_.state.spec, copies_, classes_,
                                            std::move(scorer).value(), 0);
  future_->state.reorder(members, static_cast<std::size_t>(pool_.state.host_level()));
}

void Planner::set_room(NodeId node, const NodeRoom& room) {
  if (copies_[node.index()].free == room) return;
  future_->state.show(node, room);
}

// Brings the copies to what is free now.
void Planner::follow() {
  if (!future_ || shape_version_ != pool_.state.shape_version()) return rebuild();
  for (const NodeId id : moved_) seen_[id.index()] = nodes_[id.index()].version - 1;
  moved_.clear();
  for (std::uint32_t slot = 0; slot < pool_.state.slot_count(); ++slot) {
    const NodeId id = pool_.state.id_at(slot);
    const std::uint32_t version = nodes_[id.index()].version;
    if (std::exchange(seen_[id.index()], version) != version) set_room(id, timeline_.free_now(id));
  }
}

void Planner::give(const TaskRef& ended) {
  const WorkloadRecord& w = workloads_.get(ended.workload);
  const auto role = static_cast<std::size_t>(ended.role);
  const TaskPlacement& placement =
      w.roles[role].tasks[static_cast<std::size_t>(ended.index)].placement;
  future_->state.give(placement.node, placement, classes_.get(shapes_.get(w.shape).classes[role]));
  moved_.push_back(placement.node);
}

bool Planner::counts_allow(const GangRequest& request) {
  for (const GangRole& role : request.roles) {
    if (future_->index(role.task_class).total() < std::ssize(role.indices)) return false;
  }
  return true;
}

std::optional<Planner::Plan> Planner::earliest(const GangRequest& request, Duration length,
                                               Instant now, const Passes& passes,
                                               std::int64_t steps) {
  steps_taken_ = 0;
  follow();
  // Where something is reserved, room depends on how long it is wanted. It is looked at again
  // whenever a reservation comes within reach or ends, or a task ends there.
  std::set<std::pair<Instant, NodeId>> turns;
  const std::vector<NodeId> reserved = timeline_.nodes();
  for (const NodeId id : reserved) {
    for (const std::size_t position : timeline_.on(id)) {
      const Reservation& r = timeline_.reservations()[position];
      if (passes && passes(r)) continue;
      for (const Instant t : {r.start - length + milliseconds(1), r.end}) {
        if (t > now) turns.emplace(t, id);
      }
    }
    set_room(id, timeline_.window(id, now, now + length, passes));
    moved_.push_back(id);
  }
  const auto is_reserved = [&](NodeId id) {
    return std::binary_search(reserved.begin(), reserved.end(), id);
  };
  auto end = timeline_.ends().upper_bound({now, TaskRef{WorkloadId{}, INT32_MAX, INT32_MAX}});
  Instant t = now;
  std::set<NodeId> changed;
  while (true) {
    if (counts_allow(request)) {
      const std::int64_t left = steps - steps_taken_;
      GangPlacer placer(*future_, left);
      GangOutcome outcome = placer.place(request);
      steps_taken_ += 1 + left - std::max<std::int64_t>(placer.steps_left(), 0);
      if (outcome.verdict == GangVerdict::kPlaced) {
        GangPlacer::release(*future_, request, outcome.tasks);
        return Plan{t, std::move(outcome.tasks)};
      }
    }
    Instant next = kNever;
    if (end != timeline_.ends().end()) next = end->first;
    if (!turns.empty()) next = std::min(next, turns.begin()->first);
    if (next > now + kPlanHorizon || steps_taken_ > steps) return std::nullopt;
    t = next;
    changed.clear();
    for (; end != timeline_.ends().end() && end->first <= t; ++end) {
      ++steps_taken_;
      const WorkloadRecord& w = workloads_.get(end->second.workload);
      const NodeId node = w.roles[static_cast<std::size_t>(end->second.role)]
                              .tasks[static_cast<std::size_t>(end->second.index)]
                              .placement.node;
      if (nodes_[node.index()].pool != pool_.state.id) continue;  // it left the pool since
      if (is_reserved(node)) {
        changed.insert(node);
      } else {
        give(end->second);
      }
    }
    for (; !turns.empty() && turns.begin()->first <= t; turns.erase(turns.begin()))
      changed.insert(turns.begin()->second);
    for (const NodeId node : changed) {
      ++steps_taken_;
      set_room(node, timeline_.window(node, t, t + length, passes));
    }
  }
}

}  // namespace fairlead::sched
