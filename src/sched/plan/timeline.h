// The timeline of a pool: when what runs will end, and what is reserved from when on (9.2).
//
// What a task may use of a node for some time is the least that the node has free at any moment of
// it: now, and whenever a reservation begins. window() is that room. While a decision is made the
// nodes with reservations show the room that is theirs for good (hide()), so that whoever may run
// for long is placed as ever and stays off what is reserved.
//
// Invariant: hidden room and free room of a node together are what is free of it.
// Cost: window() O(reservations of the node × its tasks); hide() that per node with reservations;
// the rest O(log n) or O(tasks of the reservation).
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sched/plan/reservation.h"
#include "sched/state/pool_state.h"
#include "sched/state/workload_table.h"

namespace fairlead::sched {

// Whether someone need not mind a reservation.
using Passes = std::function<bool(const Reservation&)>;

class Timeline {
 public:
  Timeline(PoolState& pool, const WorkloadTable& workloads, const Shapes& shapes,
           const TaskClasses& classes)
      : pool_(pool), workloads_(workloads), shapes_(shapes), classes_(classes) {}

  // When running tasks will end, those of which it is known: by time.
  using Ends = std::set<std::pair<Instant, TaskRef>>;
  const Ends& ends() const { return ends_; }
  void task_starts(const TaskRef& task, Instant end) { ends_.emplace(end, task); }
  void task_stops(const TaskRef& task, Instant end) { ends_.erase({end, task}); }

  // In the order in which they were promised.
  const std::vector<Reservation>& reservations() const { return reservations_; }
  const Reservation* of(WorkloadId workload) const;
  const Reservation* named(const std::string& name) const;
  std::size_t of_workloads() const;
  // Requires: nothing is hidden.
  void add(Reservation reservation) { insert(reservations_.size(), std::move(reservation)); }
  void insert(std::size_t position, Reservation reservation);
  void replace(std::size_t position, Reservation reservation);
  Reservation remove(std::size_t position);

  // Nodes on which something is reserved, by id.
  std::vector<NodeId> nodes() const;
  const std::vector<std::size_t>& on(NodeId node) const;

  // What is free of the node all the time from `from` to `until`, those reservations apart that
  // `passes` says. Null passes: none.
  NodeRoom window(NodeId node, Instant from, Instant until, const Passes& passes) const;
  // What is free of the node at one moment, as far as is planned.
  NodeRoom room_at(NodeId node, Instant at, const Passes& passes) const;
  // What is free of it now, hidden or not.
  NodeRoom free_now(NodeId node) const;

  // Whether the reservation's room will be there when it starts, or, when its time has come, from
  // the next moment on. What was promised later gives way.
  bool holds(const Reservation& reservation, Instant now) const;

  // Shows of each node with reservations what is free from `now` to `until`; a change of what is
  // shown is a change of the node. hide(now, kNever, {}) shows what whoever has no reservation may
  // have for good.
  void hide(Instant now, Instant until, const Passes& passes);
  void show_all();
  // The same for one node, if something is reserved there.
  void hide_on(NodeId node, Instant now, Instant until, const Passes& passes);
  void show_on(NodeId node);
  // Of a task that is off its node in a trial (rule 7) but still listed there: what it held is free
  // already, and does not come free again when it was to end.
  void lift(const TaskRef& task) { lifted_.insert(task); }
  void put_back(const TaskRef& task) { lifted_.erase(task); }
  bool hides_something() const { return hiding_ > 0; }
  template <class Visit>  // of each node of which something is hidden
  void each_hidden(const Visit& visit) const {
    for (const auto& [id, here] : nodes_) {
      if (here.hides) visit(id);
    }
  }
  // The last start among reservations: who ends by it may pass at least one.
  Instant last_start() const;

 private:
  struct OnNode {
    std::vector<std::size_t> reservations;  // positions
    bool hides = false;
    NodeRoom hidden;  // amounts: free is what is shown and this
  };
  void index_all();
  void show(NodeId id, const NodeRoom& room, OnNode& here);

  PoolState& pool_;
  const WorkloadTable& workloads_;
  const Shapes& shapes_;
  const TaskClasses& classes_;
  Ends ends_;
  std::vector<Reservation> reservations_;
  std::map<NodeId, OnNode> nodes_;
  std::size_t hiding_ = 0;  // nodes of which something is hidden
  std::set<TaskRef> lifted_;
};

}  // namespace fairlead::sched
