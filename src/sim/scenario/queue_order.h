// Who is whose parent, before the core is told: it takes a queue only when its parent is there.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/queue.h"

namespace fairlead::sim {

// The parent of a queue; "" if it has none or is not known.
using ParentOf = std::function<std::string(const std::string& queue)>;

// "a → b → a" if the ancestors of `queue` lead back to it or into a cycle above it; else "".
// Cost: O(depth log depth).
std::string cycle_above(const std::string& queue, const ParentOf& parent_of);

// The error for such a cycle, without a place.
Error cycle_error(const std::string& cycle);

// The order in which the core can be told of the queues: as stated, but parents first. Requires: no
// cycle. The positions in `queues`.
std::vector<std::size_t> parents_first(const std::vector<QueueSpec>& queues);

}  // namespace fairlead::sim
