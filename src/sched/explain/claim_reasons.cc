// What stands in the way of a claim (7.6): the search for victims that ended too early, or is put
// off.
#include <algorithm>

#include "sched/explain/explainer.h"

namespace fairlead::sched {

void Explainer::claim_reasons(const PoolCore& pool, const WorkloadRecord& w,
                              std::vector<Reason>& out) const {
  const auto& waiting = core_.pending_.queues_in(pool.state().id)[w.queue.index()];
  const BucketId id = waiting.by_requirement.at(w.entries.front().requirement);
  const auto add = [&](ReasonCode code, std::string text) {
    Reason reason;
    reason.code = code;
    reason.rule = "7.6";
    reason.pool = pool.state().spec.name;
    reason.text = std::move(text);
    out.push_back(std::move(reason));
  };
  const std::string what = "what could be taken back for it in pool " + pool.state().spec.name;
  if (std::find(pool.put_off.begin(), pool.put_off.end(), id) != pool.put_off.end()) {
    add(ReasonCode::kClaimPutOff, what + " is looked at again by " +
                                      to_rfc3339(std::max(pool.put_off_until, core_.now_)) +
                                      ": a search costs much, or many were in vain");
  } else if (core_.pending_.bucket(id).claim_ran_out) {
    add(ReasonCode::kClaimRanOut,
        what + " was not searched to the end: there may be something that would do");
  }
}

}  // namespace fairlead::sched
