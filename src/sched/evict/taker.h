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
#include <utility>
#include <vector>

#include "sched/evict/trial.h"

namespace fairlead::sched {

class Taker {
 public:
  static constexpr std::size_t kExhaustive = 10;
  static constexpr std::size_t kMostTried = 64;  // nodes that one-task claims look at closely

  enum class Answer : std::uint8_t { kFound, kProvedNone, kRanOut };
  struct Outcome {
    Answer answer = Answer::kProvedNone;
    VictimSet set;  // if found
  };

  explicit Taker(Trial trial) : trial_(std::move(trial)) {}

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

  bool one_class() const;
  Opening open(std::uint32_t slot, std::int64_t wanted);
  bool find_for_one(VictimSet& out);
  bool open_nodes(VictimSet& out);
  bool add_by_cost(VictimSet& out);
  bool look_at_all(VictimSet& out);
  void look_from(std::size_t next, VictimSet& out);
  void put_back_what_is_not_needed(VictimSet& out);

  Trial trial_;
  std::vector<Id> legal_;  // by cost
  Int128 best_cost_ = 0;
  std::pair<std::size_t, std::size_t> best_hit_;
  bool found_ = false;
};

}  // namespace fairlead::sched
