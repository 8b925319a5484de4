// Finds what to take back so that a claimant can start: reclaim, preempt, consolidate (7.1 to 7.6).
//
// A search works on the nodes themselves: units are taken off, the claimant is placed by the same
// placement as ever, and all is put back; the caller then does for good what was found.
//
// How: the fewest and cheapest. Of few units (kExhaustive) every legal set is looked at, least cost
// first. Of more: nodes are opened one after the other, that which costs least per place gained
// first, each by its cheapest set of units (exact for one node of up to kExhaustive units); then
// units are added by cost until the claimant fits; then what is not needed is put back, dearest
// first. "No" is proved if the claimant would not fit with all that may legally go removed, or if
// every legal set was looked at; otherwise the answer says that the search ran out.
//
// Sets are compared by cost, then by workloads hit, then by gangs that go whole (7.5, 7.5.b).
//
// Bound: against the best set, the cost found is exact up to kExhaustive units, and for a claimant
// of one task on one node; for gangs of one class whose victims are single tasks it is at most the
// best plus what the dearest opened node costs.
// Cost: O(units) per claim to know what is legal, + O(log nodes) per node opened, + the placement.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sched/evict/share_guard.h"
#include "sched/evict/victims.h"
#include "sched/place/gang.h"
#include "sched/place/placement_pool.h"

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
  // Limits that are reached (5.1): what they keep out may be taken back below them.
  std::vector<std::pair<QueueId, ResourceSet>> behind_gates;
  // Whether the queue may lose anything at all to it: false rules out all units of the queue.
  std::function<bool(QueueId)> may_lose;
  // Places the claimant if its gates are open, or says why not; and puts it back.
  std::function<GangOutcome()> place;
  std::function<void(const std::vector<TaskPlacement>&)> release;
  // What a workload's queue is charged for tasks where they are placed.
  std::function<ResourceVector(WorkloadId, const std::vector<TaskPlacement>&)> charge;
};

// Whether a unit is out of reach for a reason of its own: protected (7.4), or taken already since
// the last outside event (7.7).
using Untouchable = std::function<bool(const VictimUnit&)>;

class Taker {
 public:
  static constexpr std::size_t kExhaustive = 10;
  static constexpr std::size_t kMostTried = 64;  // nodes that one-task claims look at closely

  enum class Answer : std::uint8_t { kFound, kProvedNone, kRanOut };
  struct Outcome {
    Answer answer = Answer::kProvedNone;
    std::vector<TaskRef> victims;      // in the order in which they were chosen
    std::vector<TaskPlacement> tasks;  // of the claimant
    struct Move {                      // 7.3: where a victim goes
      WorkloadId workload;
      std::vector<TaskPlacement> tasks;
    };
    std::vector<Move> moves;
  };

  Taker(PlacementPool& pool, QueueTree& queues, Instant now, const Victims& victims,
        const WorkloadTable& workloads, const Shapes& shapes, const TaskClasses& classes,
        std::int64_t steps)
      : pool_(pool),
        queues_(queues),
        now_(now),
        victims_(victims),
        workloads_(workloads),
        shapes_(shapes),
        classes_(classes),
        steps_(steps) {}

  // Nothing has changed when it returns. `guard` is asked for kReclaim only.
  Outcome find(TakeBack rule, const Claim& claim, const ShareGuard* guard,
               const Untouchable& untouchable);

 private:
  using Id = Victims::Id;
  struct Opening {  // units that make room for more tasks on one node
    std::vector<Id> units;
    Int128 cost = 0;
    std::int32_t gain = 0;
  };

  void begin();
  ResourceSet lacking_on(std::uint32_t slot);
  ResourceVector rest_of(const VictimUnit& unit, Int128& cost) const;
  bool legal(Id id);
  bool find_out(Id id, ResourceSet& lacking);
  bool may_add(Id id);
  bool keeps_shares(const VictimUnit& unit, const ResourceSet& lacking) const;
  bool within_limits(const Outcome& out) const;
  std::pair<std::size_t, std::size_t> hit() const;
  void add(Id id);
  void remove_last();
  void remove(Id id);
  void clear();
  std::optional<GangOutcome> try_place();
  bool one_class() const;
  Opening open(std::uint32_t slot, std::int64_t wanted);
  void give_on(std::uint32_t slot, Id id, NodeRoom& room) const;
  bool find_for_one(Outcome& out);
  bool open_nodes(Outcome& out);
  bool add_by_cost(Outcome& out);
  bool look_at_all(Outcome& out);
  void look_from(std::size_t next, Outcome& out);
  void put_back_what_is_not_needed(Outcome& out);
  bool accept(const GangOutcome& placed, Outcome& out);
  bool move_all(Outcome& out);

  PlacementPool& pool_;
  QueueTree& queues_;
  Instant now_;
  const Victims& victims_;
  const WorkloadTable& workloads_;
  const Shapes& shapes_;
  const TaskClasses& classes_;
  std::int64_t steps_;
  std::int64_t steps_left_ = 0;

  TakeBack rule_ = TakeBack::kReclaim;
  const Claim* claim_ = nullptr;
  const ShareGuard* guard_ = nullptr;
  const Untouchable* untouchable_ = nullptr;
  struct Known {              // of a unit
    std::uint64_t claim = 0;  // the claim for which this was found out
    bool legal = false;
    ResourceSet lacking;  // what the claimant lacks where it runs
  };
  std::uint64_t claim_number_ = 0;
  std::vector<Known> known_;
  std::unordered_map<std::uint32_t, std::pair<std::uint64_t, ResourceSet>> lacking_at_;  // by slot
  std::unordered_map<QueueId, std::pair<std::uint64_t, bool>> may_lose_;  // claim and answer
  std::vector<Id> legal_;                                                 // by cost
  std::vector<std::int32_t> spares_left_;
  struct Chosen {
    Id unit;
    std::vector<TaskRef> tasks;  // those that were not chosen before
    ResourceVector amounts;
    Int128 cost = 0;
    ResourceSet contested_before;
  };
  std::vector<Chosen> chosen_;
  std::map<WorkloadId, std::pair<ResourceVector, Int128>> chosen_of_;  // amounts, cost
  std::set<TaskRef> off_;  // tasks that are taken off their nodes
  ResourceSet contested_;  // what the claimant lacks wherever something is chosen
  Int128 cost_ = 0;
  Int128 best_cost_ = 0;
  std::pair<std::size_t, std::size_t> best_hit_;
  bool found_ = false;
};

}  // namespace fairlead::sched
