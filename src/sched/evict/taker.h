// Finds what to take back so that a claimant can start: reclaim, preempt, consolidate (7.1 to 7.6).
//
// How: of few units (up to kExhaustive legal ones in all) every legal set is looked at, least cost
// first. Of more:
// - a claimant of one task looks at the nodes of the cheapest units, up to the first that makes
//   room alone, and opens the one that costs least (evict/opening.h);
// - for a gang of one class nodes are opened one after the other, that which costs least per place
//   gained first;
// - else, and if that found nothing, units are added by cost until the claimant fits, more each
//   time.
// Then what is not needed is left out again, dearest first.
//
// Sets are compared by cost, then by workloads hit, then by gangs that go whole (7.5, 7.5.b).
//
// What is exact, ties included: claims with up to kExhaustive legal units; claims of one task if no
// limit is in the way, at most kMostTried nodes hold units cheaper than the one that makes room
// alone, and each of them up to Opening::kSearched legal units. For a gang of one class whose
// victims are single tasks, each as large as some number of its tasks, and shares that do not bind,
// the cost is at most that of the best set and of the dearest opening together. For all others: up
// to kMostLeftOut units are chosen, none of them can be left out; of more, no half that was tried.
//
// "No" is proved if the claimant would surely not fit with all that may legally go removed, which
// is asked first where that is cheap: of claimants of one class, and of few units; or if every
// legal set was looked at and placement proved each "no". Otherwise the answer says that the search
// ran out. Of what may move (7.3) the core names a part only, and the first place that is found for
// what moves is the only one tried: a "no" is proved for that.
//
// Cost: O(units) per claim to know what is legal, + O(log nodes) per node opened, + the placements,
// up to 2^kExhaustive of them for few units. Placements, and what they try, are the steps of the
// trial. When they are used up, what was found is taken; if sets of few units used them up, units
// are added by cost with as many steps again.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sched/evict/opening.h"
#include "sched/evict/trial.h"

namespace fairlead::sched {

class Taker {
 public:
  static constexpr std::size_t kExhaustive = 10;
  static constexpr std::size_t kMostTried = 64;    // nodes that one-task claims look at closely
  static constexpr std::size_t kMostLeftOut = 64;  // tries to do with less than was found

  enum class Answer : std::uint8_t { kFound, kProvedNone, kRanOut };
  struct Outcome {
    Answer answer = Answer::kProvedNone;
    VictimSet set;           // if found
    std::int64_t steps = 0;  // that the search took
  };

  explicit Taker(Trial trial) : trial_(std::move(trial)) {}

  // Nothing has changed when it returns. `guard` is asked for kReclaim only.
  Outcome find(TakeBack rule, const Claim& claim, const ShareGuard* guard,
               const Untouchable& untouchable);

 private:
  using Id = Victims::Id;
  Answer search(VictimSet& out);
  Answer search_few(VictimSet& out);
  void collect_legal(std::size_t most);
  bool one_class() const;
  bool choose(const std::vector<Id>& units);
  bool find_for_one(VictimSet& out);
  bool too_few_places();
  bool open_nodes(VictimSet& out);
  bool add_by_cost(VictimSet& out);
  bool look_at_all(VictimSet& out);
  void look_from(std::size_t next, VictimSet& out);
  void leave_out(VictimSet& out);

  Trial trial_;
  std::vector<Id> legal_;             // by cost
  std::vector<std::uint32_t> slots_;  // where they run, ascending
  bool overshot_ = false;             // the nodes opened have room for more than was needed
  Int128 best_cost_ = 0;
  std::pair<std::size_t, std::size_t> best_hit_;
  bool found_ = false;
};

}  // namespace fairlead::sched
