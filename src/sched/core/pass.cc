#include "sched/core/pass.h"

#include <algorithm>

namespace fairlead::sched {
namespace {

constexpr auto kLaterHead = [](const auto& a, const auto& b) { return b.head < a.head; };

}  // namespace

std::vector<QueueId>& Pass::siblings(QueueId q) {
  const QueueId parent = core_.queues_.get(q).parent;
  return parent.valid() ? place(parent).children : roots_;
}

// Puts a bucket up for trial unless it is known to fail.
void Pass::offer(BucketId id, std::int32_t stage) {
  const Bucket& bucket = core_.pending_.bucket(id);
  // An id in a list may have been given back since, and name a bucket of another pool by now.
  if (bucket.entries.empty() || bucket.pool != pool_.state().id) return;
  Requirement& requirement = core_.pending_.requirement(bucket.requirement);
  // Those of earlier stages too: a workload that has just started asks for more where it runs.
  if (requirement.in(bucket.pool).stage > stage || !core_.may_fit(pool_, bucket.requirement))
    return;
  const GateRequest gate{bucket.pool, bucket.queue, &core_.demand_in(requirement, bucket.pool),
                         requirement.non_preemptible};
  if (!gates_open(core_.queues_, core_.resources_, gate, core_.now_, nullptr)) return;
  Place& leaf = place(bucket.queue);
  leaf.buckets.push_back({*bucket.entries.begin(), id, bucket.stamp});
  std::push_heap(leaf.buckets.begin(), leaf.buckets.end(), kLaterHead);
  for (QueueId q = bucket.queue; q.valid() && !place(q).touched; q = core_.queues_.get(q).parent) {
    place(q).touched = true;
    touched_.push_back(q);
  }
}

// Drops candidates that are void; true if a live one is on top.
bool Pass::settle_leaf(QueueId leaf) {
  auto& heap = place(leaf).buckets;
  while (!heap.empty()) {
    const Candidate top = heap.front();
    const Bucket& bucket = core_.pending_.bucket(top.bucket);
    const bool live = bucket.stamp == top.stamp && !bucket.entries.empty();
    if (live && core_.pending_.requirement(bucket.requirement).in(bucket.pool).failed_at !=
                    pool_.state().release_version) {
      if (*bucket.entries.begin() == top.head) return true;
      std::pop_heap(heap.begin(), heap.end(), kLaterHead);
      heap.back().head = *bucket.entries.begin();
      std::push_heap(heap.begin(), heap.end(), kLaterHead);
      continue;
    }
    std::pop_heap(heap.begin(), heap.end(), kLaterHead);
    heap.pop_back();
  }
  return false;
}

bool Pass::has_candidate(QueueId q) const {
  const Place& p = places_[q.index()];
  return !p.buckets.empty() || !p.children.empty();
}

// Requires: the queue has a candidate, and its heaps are in order.
void Pass::refresh_key(QueueId q) {
  Place& p = place(q);
  if (!p.buckets.empty()) {
    const Bucket& bucket = core_.pending_.bucket(p.buckets.front().bucket);
    p.demand = core_.demand_in(core_.pending_.requirement(bucket.requirement), bucket.pool);
  } else {
    p.demand = place(p.children.front()).demand;
  }
  p.key = queue_key(core_.queues_, pool_.state().id, q, p.demand, pool_.state().capacity);
}

// The leaf's candidates changed, and what it and its ancestors hold: restores order on the path.
void Pass::refresh_path(QueueId leaf) {
  settle_leaf(leaf);
  const auto later = [this](QueueId a, QueueId b) {
    return served_before(place(b).key, place(a).key);
  };
  for (QueueId q = leaf; q.valid(); q = core_.queues_.get(q).parent) {
    auto& heap = siblings(q);
    // A queue whose key changes lies on top: only the path just served changes.
    if (place(q).listed) {
      std::pop_heap(heap.begin(), heap.end(), later);
      heap.pop_back();
      place(q).listed = false;
    }
    if (!has_candidate(q)) continue;
    refresh_key(q);
    heap.push_back(q);
    std::push_heap(heap.begin(), heap.end(), later);
    place(q).listed = true;
  }
}

void Pass::build() {
  // Children before parents, so that a parent's key can follow its best child.
  const auto depth = [this](QueueId q) {
    int d = 0;
    for (QueueId up = core_.queues_.get(q).parent; up.valid(); up = core_.queues_.get(up).parent)
      ++d;
    return d;
  };
  std::vector<std::pair<int, QueueId>> order;
  for (const QueueId q : touched_) order.emplace_back(-depth(q), q);
  std::sort(order.begin(), order.end());
  const auto later = [this](QueueId a, QueueId b) {
    return served_before(place(b).key, place(a).key);
  };
  for (const auto& [minus_depth, q] : order) {
    if (core_.queues_.leaf(q)) settle_leaf(q);
    if (!has_candidate(q)) continue;
    refresh_key(q);
    auto& heap = siblings(q);
    heap.push_back(q);
    std::push_heap(heap.begin(), heap.end(), later);
    place(q).listed = true;
  }
}

void Pass::run(const std::vector<BucketId>& candidates, std::int32_t stage) {
  places_.assign(core_.queues_.size(), {});
  for (const BucketId id : candidates) offer(id, stage);
  build();
  while (!roots_.empty()) {
    QueueId leaf = roots_.front();
    while (!place(leaf).children.empty()) leaf = place(leaf).children.front();
    if (!settle_leaf(leaf)) {
      refresh_path(leaf);
      continue;
    }
    auto& heap = place(leaf).buckets;
    const Candidate top = heap.front();
    const RequirementId requirement = core_.pending_.bucket(top.bucket).requirement;
    const auto outcome = core_.attempt(pool_, top.bucket, top.head.workload);
    if (outcome == Core::Attempt::kStarted) {
      // What the workload wants next, and what else came up in this pool, joins the pass.
      for (const BucketId id : core_.pending_.take_fresh(pool_.state().id)) {
        const bool known = std::any_of(heap.begin(), heap.end(), [&](const Candidate& c) {
          return c.bucket == id && c.stamp == core_.pending_.bucket(id).stamp;
        });
        if (!known) offer(id, stage);
        pool_.fresh.push_back(id);
      }
    } else {
      if (outcome == Core::Attempt::kNoRoom) {
        core_.pending_.requirement(requirement).in(pool_.state().id).failed_at =
            pool_.state().release_version;
      }
      std::pop_heap(heap.begin(), heap.end(), kLaterHead);
      heap.pop_back();
    }
    refresh_path(leaf);
  }
}

}  // namespace fairlead::sched
