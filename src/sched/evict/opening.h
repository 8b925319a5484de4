// What a node costs: the units of a claim that have to go so that it has room for more of the
// claimant's tasks.
//
// Of up to kSearched legal units every set is looked at that makes room and has no unit too many;
// of more, units are added by cost and left out again, dearest first.
// Cost: O(2^kSearched × fit), as a rule much less; O(units²) of more.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sched/evict/trial.h"

namespace fairlead::sched {

struct Opening {
  static constexpr std::size_t kSearched = 10;
  std::vector<Victims::Id> units;
  Int128 cost = 0;
  std::int32_t gain = 0;  // tasks that fit more than before; 0: none, and no units
};

// The set of units that is cheapest per place gained, beside what is chosen already, and may go
// with it; among equals that which hits least. It makes room for one task or, where one unit makes
// room for several, for as many as are wanted. Tasks are those of the claimant's first role.
Opening open_node(Trial& trial, std::uint32_t slot, std::int64_t wanted);

// Gives the room what all the units hold on the slot, each task once. Requires: units are in order
// of cost.
void give_all(const Trial& trial, std::uint32_t slot, std::span<const Victims::Id> units,
              NodeRoom& room);

}  // namespace fairlead::sched
