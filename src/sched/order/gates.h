// Gates: what stands before any placement (rules 5.1 to 5.4).
//
// One function decides and explains: with a collector it goes through all gates and reports each
// that is shut; without, it stops at the first. Cost: O(depth × resources).
#pragma once

#include <optional>
#include <vector>

#include "base/time.h"
#include "sched/explanation.h"
#include "sched/state/queue_tree.h"

namespace fairlead::sched {

struct GateRequest {
  PoolId pool;
  QueueId queue;  // a leaf
  const ResourceVector* demand = nullptr;
  bool non_preemptible = false;
  bool past_reservations = false;  // what is reserved does not count
};

// True if every gate is open. `reasons`, if given, receives one entry per shut gate.
bool gates_open(QueueTree& tree, const ResourceNames& resources, const GateRequest& request,
                Instant now, std::vector<Reason>* reasons);

// The first time from `t` on at which the windows of the queue and of all its ancestors are open
// together (5.4); nothing if that is not within a week.
std::optional<Instant> windows_open_from(const QueueTree& tree, QueueId queue, Instant t);

// The next time at which a window of the queue opens, or its budget renews; kNever if neither.
Instant next_gate_change(const QueueTree& tree, QueueId queue, Instant now);

}  // namespace fairlead::sched
