// Who need not mind reservations (9.2.b), and what they may use.
#include <algorithm>
#include <set>

#include "sched/core/core.h"

namespace fairlead::sched {

// What the queue of a reservation, or one beside it, was charged more may let others pass it.
void Core::note_rights(PoolCore& pool, QueueId charged) {
  const auto top = [&](QueueId q) {
    while (queues_.get(q).parent.valid()) q = queues_.get(q).parent;
    return q;
  };
  for (const Reservation& r : pool.timeline.reservations()) {
    if (r.workload.valid() && top(r.queue) == top(charged)) pool.rights_changed = true;
  }
}

// Whether whoever waits may take what is reserved, as it could take it back if it ran (7.1, 7.2).
bool Core::may_pass(const PoolCore& pool, WorkloadId id, const ResourceVector& demand,
                    const Reservation& r) {
  const WorkloadRecord& w = workloads_.get(id);
  const PoolId pool_id = pool.state().id;
  if (!r.workload.valid()) {
    for (QueueId q = w.queue; q.valid(); q = queues_.get(q).parent) {
      if (std::find(r.users.begin(), r.users.end(), q) != r.users.end()) return true;
    }
    return false;
  }
  if (r.workload == id) return true;
  if (r.queue == w.queue) return minus_priority(w, pool_id) < r.minus_priority;
  const ShareGuard guard(queues_, pool_id, w.queue, demand);
  if (!guard.entitled()) return false;
  ResourceSet asked;
  for (std::size_t i = 0; i < demand.size(); ++i) {
    if (demand[i] > 0) asked.add(i);
  }
  queues_.charge(pool_id, r.queue, r.demand, 1, false, 0, now_);
  const bool passes =
      guard.reaches(r.queue, r.demand, asked) && guard.keeps(r.queue, r.demand, asked);
  queues_.charge(pool_id, r.queue, r.demand, -1, false, 0, now_);
  return passes;
}

// Whether a start may find room once reservations are passed, judged by each class alone.
bool Core::room_behind(PoolCore& pool, RequirementId id) {
  if (!pool.timeline.hides_something()) return false;
  for (const auto& [task_class, tasks] : pending_.requirement(id).needs) {
    const ClassIndex& index = pool.placement->index(task_class);
    std::int64_t slots = index.total();
    pool.timeline.each_hidden([&](NodeId node_id) {
      const NodeState& node = nodes_[node_id.index()];
      if (slots >= tasks || !node.usable() || static_filter(index.task(), node) != Filter::kFits) {
        return;
      }
      slots +=
          room_fit(index.task(), pool.timeline.free_now(node_id)).slots - index.slots_at(node.slot);
    });
    if (slots < tasks) return false;
  }
  return true;
}

// Those of a bucket that end soon enough to pass a reservation, or may pass one anyhow, in order.
// Who stands behind another has no more rights, so that it is of use only if it ends sooner. Those
// that hold a reservation are among them, however many stand before them.
std::vector<WorkloadId> Core::who_may_pass(PoolCore& pool, const Bucket& bucket) {
  constexpr std::size_t kMostLookedAt = 256;
  std::vector<WorkloadId> out;
  const ResourceVector demand = demand_in(pending_.requirement(bucket.requirement), bucket.pool);
  const Instant last = pool.timeline.last_start();
  std::set<EntryKey> holders;
  for (const Reservation& r : pool.timeline.reservations()) {
    if (!r.workload.valid() || r.queue != bucket.queue || !stands(pool, r)) continue;
    for (const Entry& entry : workloads_.get(r.workload).entries) {
      if (entry.requirement == bucket.requirement) holders.insert(entry_key(r.workload, entry));
    }
  }
  std::size_t looked_at = 0;
  Duration shortest = kForGood;
  bool rights_used = false;
  for (const EntryKey& key : bucket.entries) {
    if (holders.erase(key) > 0) {
      out.push_back(key.workload);
      continue;
    }
    if (++looked_at > kMostLookedAt) break;
    const Duration most = planned_runtime(key.workload);
    bool passes = most < shortest && now_ + most <= last;
    for (const Reservation& r : pool.timeline.reservations()) {
      if (passes || rights_used) break;
      passes = may_pass(pool, key.workload, demand, r);
    }
    if (!passes) continue;
    out.push_back(key.workload);
    rights_used = true;
    shortest = std::min(shortest, most);
  }
  for (const EntryKey& key : holders) out.push_back(key.workload);
  return out;
}

Core::PastReservations::PastReservations(Core& core, PoolCore& pool, WorkloadId id,
                                         const ResourceVector& demand)
    : core_(core), pool_(pool), shows_(!core.deciding_) {
  const auto& all = pool.timeline.reservations();
  if (all.empty()) return;
  const Runtime runtime = core.runtime_of(core.workloads_.get(id));
  if (runtime.known()) until_ = core.now_ + std::max(runtime.most, seconds(1));
  passes_.resize(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    passes_[i] = core.may_pass(pool, id, demand, all[i]);
    by_right_ = by_right_ || passes_[i];
    if (!passes_[i] && all[i].start < until_) continue;
    shows_ = true;
    Reservation& passed = passed_.emplace_back();
    passed.workload = all[i].workload;
    passed.queue = all[i].queue;
    passed.demand = all[i].demand;
    passed.non_preemptible = all[i].non_preemptible;
    core.count_reserved(pool, passed, -1);
  }
  if (!shows_) return;
  pool.timeline.hide(core.now_, until_, passes());
}

Passes Core::PastReservations::passes() const {
  return [this](const Reservation& r) {
    return passes_[static_cast<std::size_t>(&r - pool_.timeline.reservations().data())];
  };
}

Core::PastReservations::~PastReservations() {
  for (const Reservation& r : passed_) core_.count_reserved(pool_, r, 1);
  if (!core_.deciding_) {
    pool_.timeline.show_all();
  } else if (shows_) {
    pool_.timeline.hide(core_.now_, kNever, {});
  }
}

Core::Attempt Core::attempt_behind(PoolCore& pool, BucketId bucket_id, WorkloadId id) {
  const Bucket& bucket = pending_.bucket(bucket_id);
  const ResourceVector demand = demand_in(pending_.requirement(bucket.requirement), bucket.pool);
  const PastReservations past(*this, pool, id, demand);
  const Attempt outcome = attempt(pool, bucket_id, id);
  if (outcome == Attempt::kStarted && past.by_right()) pool.plans_changed = true;
  return outcome;
}

}  // namespace fairlead::sched
