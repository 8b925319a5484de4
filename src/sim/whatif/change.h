// What is changed in a what-if: nodes, entitlements, options of the scheduler, workloads.
//
// The change holds from its time on, also where the log states the same thing again: a queue keeps
// its new quota, a node that was taken away stays away. Options hold from the beginning.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/workload.h"
#include "sched/event.h"
#include "sched/scheduler.h"
#include "sim/scenario/symbols.h"

namespace fairlead::sim {

struct AddNodes {
  std::string like;  // copies of it, named like-copy-1, …
  std::int64_t count = 1;
};
struct RemoveNodes {
  std::vector<std::string> names;
  std::int64_t count = 0;  // so many of those that came last, if no names are stated
};

enum class EntitlementPart : std::uint8_t { kQuota, kLimit, kWeight };

struct SetEntitlement {
  EntitlementPart part = EntitlementPart::kQuota;
  std::string queue;
  std::string resource = "gpu";
  std::string pool;  // empty: the only pool that the queue states something of, else "default"
  std::int64_t amount = 0;  // in the resource's unit; of a weight in thousandths
};

struct Change {
  std::optional<Instant> at;  // unset: before the first submission or decision
  std::vector<AddNodes> added;
  std::vector<RemoveNodes> removed;
  std::vector<SetEntitlement> entitlements;
  std::vector<WorkloadSpec> submitted;
  std::optional<std::string> placement;
  std::optional<bool> reclaim;
  std::optional<bool> preempt;
  std::optional<bool> consolidate;
  std::optional<bool> plan;

  bool at_a_time() const {
    return !added.empty() || !removed.empty() || !entitlements.empty() || !submitted.empty();
  }
  bool options() const { return placement || reclaim || preempt || consolidate || plan; }
};

// "4xNODE", or "NODE" for one.
Result<AddNodes> parse_added_nodes(std::string_view text);
// "a,b" or "3".
Result<RemoveNodes> parse_removed_nodes(std::string_view text);
// "QUEUE=AMOUNT[:RESOURCE][@POOL]"; the amount in devices, cores, bytes with a unit or whole
// numbers, or "unlimited"; a weight is a decimal.
Result<SetEntitlement> parse_entitlement(EntitlementPart part, std::string_view text);

sched::SchedulerOptions changed_options(sched::SchedulerOptions options, const Change& change);

// The events of the change, given what the core knows at its time. Errors: kNotFound for nodes and
// queues that are not there then, with the nearest; kConflict.
Result<std::vector<sched::Event>> change_events(const Change& change, const sched::Scheduler& core,
                                                const Symbols& symbols);

// A later event of the log under the change; nullopt if it is about a node that was taken away.
std::optional<sched::Event> changed_event(const sched::Event& event, const Change& change,
                                          const std::vector<std::string>& removed_nodes);

}  // namespace fairlead::sim
