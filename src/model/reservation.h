// Advance reservations: nodes that a person keeps for maintenance, or for the workloads of some
// queues, for a time (semantics 9.3).
#pragma once

#include <string>
#include <vector>

#include "base/time.h"

namespace fairlead {

struct ReservationSpec {
  std::string name;
  std::vector<std::string> nodes;  // whole, all of one pool
  Instant from;
  Instant until;                    // exclusive
  std::vector<std::string> queues;  // who may use them, with all below; none: nobody
  friend bool operator==(const ReservationSpec&, const ReservationSpec&) = default;
};

}  // namespace fairlead
