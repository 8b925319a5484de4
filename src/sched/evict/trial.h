// One trial of rule 7: which units may go for a claim, which are off their nodes, and whether the
// claimant fits then.
//
// A trial works on the nodes and ledgers themselves: units are taken off, the claimant is placed by
// the same placement as ever, and all is put back. So a claim is never granted what placement would
// refuse. What a unit frees on nodes with reservations is shown to the claimant as far as it may
// use it (9.2.b), and to what moves for it (7.3) as far as nobody has it a promise.
//
// Invariant: nodes and ledgers are as they were but for the units that are chosen. If a set of
// units may go, so may each part of it, in any order. Cost: legal() O(tasks + depth) once per unit
// and claim; add() and remove_last() O(tasks × log nodes
// + depth); place() that of the placement. Scheduler thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include "sched/evict/share_guard.h"
#include "sched/evict/victims.h"
#include "sched/place/gang.h"
#include "sched/place/placement_pool.h"
#include "sched/plan/timeline.h"

namespace fairlead::sched {

enum class TakeBack : std::uint8_t {
  kReclaim,      // 7.1
  kPreempt,      // 7.2
  kConsolidate,  // 7.3
};

struct Claim {
  WorkloadId workload;
  QueueId queue;
  std::int32_t priority = 0;
  const GangRequest* request = nullptr;  // what it needs, of which roles
  Instant until = kNever;                // it is over by then at the latest
  Passes passes;                         // reservations that it need not mind
  // Limits that are reached (5.1): what they keep out may be taken back below them.
  std::vector<std::pair<QueueId, ResourceSet>> behind_gates;
  // Whether the queue may lose anything at all to it: false rules out all units of the queue.
  std::function<bool(QueueId)> may_lose;
  // Places the claimant if its gates are open, or says why not; takes its steps off. And puts it
  // back.
  std::function<GangOutcome(std::int64_t& steps)> place;
  std::function<void(const std::vector<TaskPlacement>&)> release;
  // What a workload's queue is charged for tasks where they are placed.
  std::function<ResourceVector(WorkloadId, const std::vector<TaskPlacement>&)> charge;
};

// Whether a unit is out of reach for a reason of its own: protected (7.4), or taken already since
// the last outside event (7.7).
using Untouchable = std::function<bool(const VictimUnit&)>;

// Takes tasks off their nodes for a trial, or puts them back. Of nodes with reservations it shows
// what may be used until then by whom `passes` is. Those whose node is in another pool give
// nothing.
struct Lift {
  PoolState& pool;
  Timeline& timeline;
  const WorkloadTable& workloads;
  const Shapes& shapes;
  const TaskClasses& classes;
  Instant now;
  void operator()(std::span<const TaskRef> tasks, bool off, Instant until,
                  const Passes& passes) const;
};

// 7.1.a: adds what one more task of the class lacks in the room.
void add_lacking(const TaskClass& task, const NodeRoom& room, ResourceSet& out);

// What goes so that the claimant can start, and where it starts then.
struct VictimSet {
  std::vector<TaskRef> victims;      // in the order in which they were chosen
  std::vector<TaskPlacement> tasks;  // of the claimant
  struct Move {                      // 7.3: where a victim goes
    WorkloadId workload;
    std::vector<TaskPlacement> tasks;
  };
  std::vector<Move> moves;
  ResourceSet contested;  // what the claimant lacked wherever something goes (7.1.a)
};

class Trial {
 public:
  using Id = Victims::Id;

  Trial(PlacementPool& pool, Timeline& timeline, QueueTree& queues, Instant now,
        const Victims& victims, const WorkloadTable& workloads, const Shapes& shapes,
        const TaskClasses& classes, std::int64_t steps)
      : pool_(pool),
        timeline_(timeline),
        queues_(queues),
        now_(now),
        victims_(victims),
        workloads_(workloads),
        shapes_(shapes),
        classes_(classes),
        steps_(steps) {}

  // Requires: nothing is chosen. `guard` is asked for kReclaim only; all must outlive the trial.
  void begin(TakeBack rule, const Claim& claim, const ShareGuard* guard,
             const Untouchable& untouchable);

  // Whether the unit may go for this claim at all.
  bool legal(Id id);
  // Whether it may go beside what is chosen already. Requires: it is legal.
  bool may_add(Id id);
  void add(Id id) { choose(id, true); }
  // Adds all of them, or none: false if they may not all go.
  bool add_all(const std::vector<Id>& units);
  // Whether add_all() would. Cheaper: no node is touched.
  bool may_add_all(const std::vector<Id>& units);
  // True proves that each part of them may go beside what is chosen, in whatever order; false says
  // nothing. Requires: they are legal. Cost: O(units + depth), less than asking for each.
  bool surely_may_add_all(const std::vector<Id>& units) const;
  void remove_last();
  // Those that were added since there were `mark`.
  void remove_to(std::size_t mark) {
    while (size() > mark) remove_last();
  }
  void clear() { remove_to(0); }

  std::size_t size() const { return chosen_.size(); }
  Id chosen(std::size_t i) const { return chosen_[i].unit; }
  std::vector<Id> chosen() const;
  Int128 cost() const { return cost_; }

  // Places the claimant, and for 7.3 what is chosen elsewhere. If all find a place, notes it and
  // what is chosen in `out`; the claimant is put back in any case. Counts a step.
  bool place(VictimSet& out);
  void count_step() { --steps_left_; }
  // So many steps again.
  void begin_steps() {
    steps_before_ = steps_taken();
    steps_left_ = steps_;
  }
  bool out_of_steps() const { return steps_left_ < 0; }
  std::int64_t steps_taken() const { return steps_before_ + steps_ - steps_left_; }
  // Whether each "no" to the claimant was a proof so far.
  bool sure() const { return sure_ && !out_of_steps(); }

  // What placement says of the claimant with all of `units` gone, shares and minimums or not: a
  // proved "no" holds for each part of them. Requires: nothing is chosen.
  GangVerdict with_all_gone(const std::vector<Id>& units);

  // Whether a task of the claimant's first role may lie there, if there is room.
  bool may_lie_on(std::uint32_t slot) const;
  // Gives the room what the unit's tasks hold on the slot, those off their nodes already apart.
  void give_on(std::uint32_t slot, Id id, NodeRoom& room) const { move_on(slot, id, room, true); }
  // Undoes give_on().
  void take_on(std::uint32_t slot, Id id, NodeRoom& room) const { move_on(slot, id, room, false); }

  const Claim& claim() const { return *claim_; }
  const PlacementPool& pool() const { return pool_; }
  PlacementPool& pool() { return pool_; }
  const Victims& victims() const { return victims_; }
  const TaskClasses& classes() const { return classes_; }

 private:
  struct HashOfTask {
    std::size_t operator()(const TaskRef& t) const noexcept {
      return (std::size_t{t.workload.value} << 32) ^ (static_cast<std::size_t>(t.role) << 24) ^
             static_cast<std::size_t>(t.index);
    }
  };
  struct Known {              // of a unit
    std::uint64_t claim = 0;  // the claim for which this was found out
    bool legal = false;
    ResourceSet lacking;  // what the claimant lacks where it runs
  };
  struct Chosen {
    Id unit;
    TaskRefs tasks;  // those that were not chosen before
    ResourceVector amounts;
    Int128 cost = 0;
    ResourceSet contested_before;
    bool lifted = true;  // off their nodes; else only asked about
  };

  void lift(const TaskRefs& tasks, bool off) {
    Lift{pool_.state, timeline_, workloads_, shapes_, classes_, now_}(
        {tasks.data(), tasks.size()}, off, claim_->until, claim_->passes);
  }
  void choose(Id id, bool lifted);
  void move_on(std::uint32_t slot, Id id, NodeRoom& room, bool give) const;
  ResourceSet lacking_on(std::uint32_t slot);
  bool find_out(Id id, ResourceSet& lacking);
  bool gives_alone(const VictimUnit& unit, const ResourceSet& lacking);
  bool keeps_shares(const VictimUnit& unit, const ResourceSet& lacking) const;
  ResourceVector rest_of(const VictimUnit& unit, Int128& cost) const;
  bool within_limits(const VictimSet& out) const;
  bool move_all(VictimSet& out);

  PlacementPool& pool_;
  Timeline& timeline_;
  QueueTree& queues_;
  Instant now_;
  const Victims& victims_;
  const WorkloadTable& workloads_;
  const Shapes& shapes_;
  const TaskClasses& classes_;
  std::int64_t steps_;
  std::int64_t steps_left_ = 0;
  std::int64_t steps_before_ = 0;  // taken of those before
  bool sure_ = true;

  TakeBack rule_ = TakeBack::kReclaim;
  const Claim* claim_ = nullptr;
  const ShareGuard* guard_ = nullptr;
  const Untouchable* untouchable_ = nullptr;

  std::uint64_t claim_number_ = 0;
  std::vector<Known> known_;
  boost::unordered_flat_map<std::uint32_t, std::pair<std::uint64_t, ResourceSet>>
      lacking_at_;  // by slot
  // What the guard said of the last unit of this claim: many are alike.
  struct Said {
    std::uint64_t claim = 0;
    QueueId queue;
    ResourceVector amounts;
    ResourceSet lacking;
    bool keeps = false;
  } said_;
  std::vector<std::pair<std::uint64_t, bool>> may_lose_;  // by QueueId: claim and answer
  std::vector<std::int32_t> spares_left_;
  std::vector<Chosen> chosen_;
  // Amounts and cost of what is chosen of each.
  boost::unordered_flat_map<WorkloadId, std::pair<ResourceVector, Int128>, std::hash<WorkloadId>>
      chosen_of_;
  boost::unordered_flat_set<TaskRef, HashOfTask> off_;  // tasks of units that are chosen
  ResourceSet contested_;  // what the claimant lacks wherever something is chosen
  Int128 cost_ = 0;
};

}  // namespace fairlead::sched
