// Explainer: why a workload waits, and the single change that would start it (semantics 10).
//
// It asks the same gates, filters and placement that decide, on the present state, so a reason is
// never a second opinion. Changes about room are found by trying them: a placement is made with the
// change and taken back. What is found holds for the workload as the next one served (10.2.a).
// Cost: on demand only; O(nodes × tries), tries < 100.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "sched/core/core.h"
#include "sched/explanation.h"

namespace fairlead::sched {

// Why something that runs is not taken for a workload: the first that holds, the one that passes
// soonest first.
enum class Protection : std::uint8_t {
  kNone,
  kMinRuntime,      // 7.4
  kCoolDown,        // 7.7
  kShare,           // 7.1: its queue would fall below its share
  kOwnShare,        // 7.1: the queue of the workload would be above its share
  kNotContested,    // 7.1.b: its queue's quota of what lacks is unlimited
  kPriority,        // 7.2
  kNonPreemptible,  // 7.1, 7.2
};

class Explainer {
 public:
  explicit Explainer(Core& core) : core_(core) {}

  Explanation explain(WorkloadId id);

  // Error kImpossible, with the nearest request that fits, if no pool of the list could ever start
  // the workload however empty it were (10.1).
  Result<void> check_possible(const Shape& shape, const WorkloadSpec& spec);

 private:
  using Needs = std::vector<std::pair<TaskClassId, std::int64_t>>;

  // A task class that is tried out; if it was not there before, it leaves nothing behind.
  class Trial {
   public:
    Trial(Core& core, const TaskRequest& request, const Constraints& constraints)
        : core_(core), id_(core.classes_.intern(request, constraints, &fresh_)) {}
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;
    ~Trial() {
      if (!fresh_) return;
      core_.drop_indices(id_);
      core_.classes_.discard(id_);
    }
    TaskClassId id() const { return id_; }

   private:
    Core& core_;
    bool fresh_ = false;
    TaskClassId id_;
  };

  // impossible.cc
  // Why even an empty pool could not start it; nullopt if it could, or the pool has no nodes. `w`:
  // what it still needs. Of a submission (nullptr) a role that may stay empty must be possible too.
  std::optional<Reason> impossible_in(PoolCore& pool, const Shape& shape, const WorkloadRecord* w);
  std::optional<Reason> domain_too_small(PoolCore& pool, const TopologyGoal& topology,
                                         const Needs& needs, const std::string& subject);
  // Largest change of one part of the role's request with which one task would fit an empty node.
  std::optional<Change> nearest(PoolCore& pool, const RoleSpec& role);
  std::int64_t empty_places(PoolCore& pool, const TaskRequest& request,
                            const Constraints& constraints);

  void explain_entry(const WorkloadRecord& w, Explanation& out);
  void explain_in(PoolCore& pool, const WorkloadRecord& w, const Requirement& requirement,
                  Explanation& out);
  std::vector<Reason> room_reasons(PoolCore& pool, const WorkloadRecord& w,
                                   const Requirement& requirement, GangVerdict verdict);
  std::optional<Reason> reserved_reason(PoolCore& pool, const WorkloadRecord& w,
                                        const Requirement& requirement);
  // claim_reasons.cc
  void claim_reasons(const PoolCore& pool, const WorkloadRecord& w, std::vector<Reason>& out) const;
  // protections.cc: what is not taken for it though it would make room. Requires: its gates are
  // open, and it finds none.
  std::vector<Reason> protected_reasons(PoolCore& pool, const WorkloadRecord& w,
                                        const Requirement& requirement,
                                        const Core::PastReservations& past);
  Reason together_reason(PoolCore& pool, const Shape& shape, const Requirement& requirement,
                         const std::string& request);
  static bool untouched(const WorkloadRecord& w);
  std::optional<Change> room_change(PoolCore& pool, const WorkloadRecord& w,
                                    const Requirement& requirement);
  std::optional<Change> by_uncordon(PoolCore& pool, const WorkloadRecord& w,
                                    const Requirement& requirement, const GangRequest& request);
  std::optional<Change> by_lower_count(PoolCore& pool, const WorkloadRecord& w,
                                       const Requirement& requirement, const GangRequest& request);
  std::optional<Change> by_lower_request(PoolCore& pool, const WorkloadRecord& w,
                                         const Requirement& requirement,
                                         const GangRequest& request);
  std::optional<Change> by_relaxed_topology(PoolCore& pool, const WorkloadRecord& w,
                                            const Requirement& requirement,
                                            const GangRequest& request);
  std::optional<Change> by_more_nodes(PoolCore& pool, const WorkloadRecord& w,
                                      const Requirement& requirement, const GangRequest& request);
  bool admits_dearest(PoolCore& pool, const WorkloadRecord& w, const Requirement& requirement,
                      const GangRequest& request);
  std::vector<std::string> holders(PoolCore& pool, TaskClassId task_class);
  // Whether the request would be placed now and passes the gates; leaves the state as it was.
  bool fits(PoolCore& pool, const WorkloadRecord& w, const Requirement& requirement,
            GangRequest request);

  // protections.cc
  struct Guarded {
    WorkloadId id;
    Protection by = Protection::kNone;
    Instant until;  // kMinRuntime
    Int128 cost = 0;
    std::vector<TaskRef> tasks;
  };
  Guarded guarded(const PoolCore& pool, const WorkloadRecord& w, const Requirement& requirement,
                  const ShareGuard& guard, WorkloadId id) const;
  Reason protected_reason(const PoolCore& pool, const WorkloadRecord& w,
                          const ResourceVector& demand, Protection protection,
                          const std::vector<const Guarded*>& by) const;

  Core& core_;
};

}  // namespace fairlead::sched
