// The scheduling core: deltas in, decisions out (semantics 1 to 10).
//
// A function of its events: same events at the same times in the same order give the same
// decisions, on any machine. No I/O, no clock, no thread of its own; not thread-safe: one thread
// owns it. State is kept by deltas; no operation walks the cluster, except the first decision after
// nodes were added, which orders them again.
//
// Cost, with c the distinct request shapes pending, q the queues, d the depth of the queue tree:
//   apply()    O(what the event names) + O(log n)
//   decide()   O(q) if demand or entitlements changed, + O(c log n) per changed node, + per started
//              task O(log n + d log q); + per claim that is looked at (7.6.b: all that are new,
//              some of the others) O(what may be taken) and the steps of up to two searches each
//              for three rules; + per plan (9.2.e) O(tasks that end before it, log n each) and its
//              placements
//   explain()  O(roles × nodes that could ever fit), on demand
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "sched/decision.h"
#include "sched/event.h"
#include "sched/explanation.h"
#include "sched/view.h"

namespace fairlead::sched {

class Core;

struct SchedulerOptions {
  // Node choice by name: "default", or one of the published policies kept for comparison:
  // "random", "bestfit", "dotprod", "fgd", "firstfit".
  std::string placement = "default";
  std::uint64_t seed = 1;  // used by "random" only
  // Counted steps a gang placement may take before it gives up and says so (7.6).
  std::int64_t search_steps = 20'000;
  // Rule 7. What a restart costs a task beside the work that it loses.
  bool reclaim = true;
  bool preempt = true;
  bool consolidate = true;
  Duration restart_cost = minutes(1);
  bool plan = true;  // rule 9: reservations for blocked workloads
};

class Scheduler {
 public:
  // Error: kInvalidArgument if options.placement is not a known name.
  static Result<Scheduler> create(SchedulerOptions options = {});

  Scheduler(Scheduler&&) noexcept;
  Scheduler& operator=(Scheduler&&) noexcept;
  ~Scheduler();

  // Takes one event. On an error nothing has changed. Errors: kNotFound, kAlreadyExists,
  // kInvalidArgument, kConflict, each naming the thing; kImpossible for a submitted workload that
  // the present nodes could not start even if they were empty (10.1), with the nearest request that
  // fits. Requires: `now` does not go back between calls.
  Result<void> apply(Instant now, const Event& event);

  // Starts everything that may start now, in service order. At rest, a second call without an event
  // in between returns nothing.
  std::vector<Decision> decide(Instant now);

  // The earliest time at which decide() could differ with no event: a window opens, a back-off
  // ends, a budget renews; a gang was below its minimum for too long (8.3), a minimum run time that
  // keeps a claim out is over (7.4), a claim was put off until then (7.3.b, 7.6.b), a reservation
  // is due or plans may be improved (9.2). kNever if there is none.
  Instant next_wakeup() const;

  // Would this workload be accepted? As apply(WorkloadSubmitted) but changes nothing.
  Result<void> admit(const WorkloadSpec& workload) const;

  // All blocking reasons of a workload that has pending tasks. Error: kNotFound.
  Result<Explanation> explain(const std::string& workload) const;

  const std::string& workload_name(WorkloadId id) const;
  const std::string& node_name(NodeId id) const;
  const std::string& pool_name(PoolId id) const;

  std::optional<WorkloadView> workload(const std::string& name) const;
  std::optional<QueueView> queue(const std::string& name, const std::string& pool) const;
  std::optional<NodeView> node(const std::string& name) const;
  std::optional<PoolView> pool(const std::string& name) const;
  // Reservations made by people, in the order in which they were made, per pool.
  std::vector<KeptView> kept_by_people() const;
  // What waits: with its gates open, in the order in which it would be served if there were room
  // for all of it, pool by pool; then what stands behind a shut gate or backs off, by submission.
  // Cost: that of the forecast (9.4), once after each change.
  std::vector<std::string> waiting() const;
  // Which nodes of which pools would serve what waits and passes its gates: what an autoscaler
  // asks. By first fit in the service order, each kind of node as small as will do; racks and other
  // domains are not looked at. Cost: O(nodes × their kinds) + O(tasks that
  // wait, at most 10,000, + classes × nodes asked for).
  std::vector<NodeDemandView> node_demand() const;
  std::vector<std::string> workload_names() const;  // by submit order
  std::vector<std::string> queue_names() const;     // parents before children, by creation
  std::vector<std::string> node_names() const;      // by creation
  std::vector<std::string> pool_names() const;      // by creation
  std::size_t pending_count() const;                // workloads with nothing running
  std::size_t running_count() const;                // workloads with something running

  // The usage history of all pools and queues (3.3), as events that put it back into a new core.
  // Cost: O(pools × queues × resources).
  std::vector<UsageRestored> usage() const;

  // How long tasks ran by user and template (9.1.a), as events that put it back into a new core,
  // what was noted longest ago first. Cost: O(what is kept), at most 320,000 durations.
  std::vector<RuntimesRestored> runtimes() const;
  // What is usual of one of its tasks (9.1.a); nullopt: nobody knows, or no such workload.
  std::optional<Duration> usual_runtime(const std::string& workload) const;

  // Recomputes from the parts what is kept incrementally and compares (I1, I11). Error:
  // kFailed, naming the first difference. Cost: O(everything).
  Result<void> verify() const;

  // Counters since creation: placements tried, nodes scored, …; and what there is now: shapes, task
  // classes and their indices. For bench/ (stable names).
  std::vector<std::pair<std::string, std::int64_t>> counters() const;

 private:
  explicit Scheduler(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace fairlead::sched
