#include "sched/core/pass.h"

#include <algorithm>
#include <functional>
#include <variant>

namespace fairlead::sched {

bool Pass::ServedFirst::operator()(QueueId a, QueueId b) const {
  return served_before(pass->places_[a.index()].key, pass->places_[b.index()].key);
}

std::set<QueueId, Pass::ServedFirst>& Pass::siblings(QueueId q) {
  const QueueId parent = core_.queues_.get(q).parent;
  return parent.valid() ? place(parent).children : roots_;
}

bool Pass::is_open(RequirementId id) {
  // An id may name another requirement by now, or one of other pools.
  const Requirement::InPool* in = core_.pending_.requirement(id).find(pool_->state().id);
  return in && in->open_in == serial_;
}

// Notes until when the requirement has room; false if it has none.
bool Pass::open(RequirementId id) {
  const std::int64_t margin = core_.room_margin(*pool_, id);
  Requirement& requirement = core_.pending_.requirement(id);
  Requirement::InPool& in = requirement.in(pool_->state().id);
  if (margin < 0) {
    in.open_in = 0;
    return false;
  }
  due_.emplace(changed_nodes_ + margin + 1, id);
  if (in.open_in == serial_) return true;
  in.open_in = serial_;
  open_.push_back(id);
  const ResourceVector& demand = core_.demand_in(requirement, pool_->state().id);
  for (std::size_t r = 0; r < demand.size(); ++r) {
    most_.at(r) = std::max(most_[r], demand[r]);
    if (!requirement.non_preemptible) continue;
    most_non_preemptible_.at(r) = std::max(most_non_preemptible_[r], demand[r]);
  }
  return true;
}

// It found no room. The leaves that would have served it look for something else.
void Pass::close(RequirementId id) {
  Requirement::InPool& in = core_.pending_.requirement(id).in(pool_->state().id);
  in.failed_at = pool_->state().release_version;
  in.open_in = 0;
  if (id.index() >= served_by_.size()) return;
  auto& leaves = served_by_[id.index()];
  moved_.insert(moved_.end(), leaves.begin(), leaves.end());
  leaves.clear();
}

void Pass::close_what_ran_out() {
  bool closed = false;
  while (!due_.empty() && due_.top().first <= changed_nodes_) {
    const RequirementId id = due_.top().second;
    due_.pop();
    if (!is_open(id) || open(id)) continue;
    close(id);
    closed = true;
  }
  if (closed) std::erase_if(open_, [this](RequirementId id) { return !is_open(id); });
}

bool Pass::can_start(BucketId id) {
  const Bucket& bucket = core_.pending_.bucket(id);
  if (!is_open(bucket.requirement) || bucket.shut_in == decision_) return false;
  Requirement& requirement = core_.pending_.requirement(bucket.requirement);
  const std::int32_t stage = requirement.in(bucket.pool).stage;
  for (const Requirement::InPool& other : requirement.pools) {
    if (other.stage >= stage || (*done_)[other.pool.index()]) continue;
    PoolCore& rather = *core_.pools_[other.pool.index()];
    core_.ensure_ordered(rather);
    if (core_.room_margin(rather, bucket.requirement) < 0) continue;
    held_back_ = true;
    return false;
  }
  const GateRequest gate{bucket.pool, bucket.queue, &core_.demand_in(requirement, bucket.pool),
                         requirement.non_preemptible};
  return gates_open(core_.queues_, core_.resources_, gate, core_.now_, nullptr);
}

// A bucket that came up: its leaf has to be settled.
void Pass::offer(BucketId id) {
  const Bucket& bucket = core_.pending_.bucket(id);
  // An id in a list may have been given back since.
  if (bucket.entries.empty() || bucket.pool != pool_->state().id) return;
  if (!is_open(bucket.requirement) && !open(bucket.requirement)) return;
  Place& leaf = place(bucket.queue);
  const Head head{*bucket.entries.begin(), id};
  if (leaf.from && head < *leaf.from) leaf.from = head;
  if (!all_ && std::find(leaf.fresh.begin(), leaf.fresh.end(), id) == leaf.fresh.end())
    leaf.fresh.push_back(id);
  moved_.push_back(bucket.queue);
}

std::optional<Head> Pass::first_of_all(Place& p, const WaitingQueue& waiting) {
  // What comes first is mostly open. Where it is not, the open requirements are fewer than what
  // lies before the first of them.
  std::size_t steps = 2 * open_.size();
  for (auto it = p.from ? waiting.heads.lower_bound(*p.from) : waiting.heads.begin();
       it != waiting.heads.end(); ++it) {
    if (steps-- == 0) return first_of_open(p, waiting);
    if (!can_start(it->bucket)) continue;
    p.from = *it;
    return *it;
  }
  return std::nullopt;
}

std::optional<Head> Pass::first_of_open(const Place& p, const WaitingQueue& waiting) {
  std::optional<Head> first;
  for (const RequirementId id : open_) {
    const auto it = waiting.by_requirement.find(id);
    if (it == waiting.by_requirement.end()) continue;
    const Head head{*core_.pending_.bucket(it->second).entries.begin(), it->second};
    if ((p.from && head < *p.from) || (first && *first < head)) continue;
    if (can_start(it->second)) first = head;
  }
  return first;
}

std::optional<Head> Pass::first_of_fresh(const Place& p) {
  std::optional<Head> first;
  for (const BucketId id : p.fresh) {
    const Bucket& bucket = core_.pending_.bucket(id);
    if (bucket.entries.empty() || bucket.pool != pool_->state().id) continue;  // given back since
    const Head head{*bucket.entries.begin(), id};
    if ((!first || head < *first) && can_start(id)) first = head;
  }
  return first;
}

// Finds what the leaf serves next, and restores the order on its path.
void Pass::settle(QueueId leaf) {
  Place& p = place(leaf);
  p.head.reset();
  const auto& queues = core_.pending_.queues_in(pool_->state().id);
  const auto waiting = queues.find(leaf);
  if (waiting != queues.end() && !open_.empty())
    p.head = all_ ? first_of_all(p, waiting->second) : first_of_fresh(p);
  if (p.head) {
    const RequirementId id = core_.pending_.bucket(p.head->bucket).requirement;
    if (id.index() >= served_by_.size()) served_by_.resize(id.index() + 1);
    auto& leaves = served_by_[id.index()];
    if (leaves.empty()) noted_.push_back(id);
    if (leaves.empty() || leaves.back() != leaf) leaves.push_back(leaf);
  }
  list(leaf);
}

void Pass::list(QueueId leaf) {
  for (QueueId q = leaf; q.valid(); q = core_.queues_.get(q).parent) {
    Place& p = place(q);
    if (!p.touched) {
      p.touched = true;
      touched_.push_back(q);
    }
    auto& among = siblings(q);
    if (p.listed) among.erase(q);
    p.listed = p.head || !p.children.empty();
    if (!p.listed) continue;
    if (p.head) {
      const Bucket& bucket = core_.pending_.bucket(p.head->bucket);
      p.demand = core_.demand_in(core_.pending_.requirement(bucket.requirement), bucket.pool);
    } else {
      p.demand = place(*p.children.begin()).demand;
    }
    p.key = queue_key(core_.queues_, pool_->state().id, q, p.demand, pool_->state().capacity);
    among.insert(q);
  }
}

// Whether the greatest start that is still open would not pass the queue's gates.
bool Pass::is_tight(QueueId q) {
  const PoolId pool = pool_->state().id;
  const QueueLedger& ledger = core_.queues_.ledger(pool, q);
  for (std::size_t r = 0; r < most_.size(); ++r) {
    const Entitlement& e = core_.queues_.entitlement(pool, q, r);
    if (e.limit != kUnlimited && most_[r] > 0 && ledger.allocated[r] + most_[r] > e.limit)
      return true;
    const std::int64_t np = most_non_preemptible_[r];
    if (e.quota != kUnlimited && np > 0 && ledger.non_preemptible[r] + np > e.quota) return true;
  }
  return false;
}

void Pass::collect_shut(QueueId q) {
  const Place& p = place(q);
  if (p.head && !can_start(p.head->bucket)) moved_.push_back(q);
  for (const QueueId child : p.children) collect_shut(child);
}

// What a start was charged may have shut the gates of other leaves below its ancestors.
void Pass::follow_up_gates(QueueId leaf) {
  QueueId top;
  for (QueueId q = core_.queues_.get(leaf).parent; q.valid(); q = core_.queues_.get(q).parent) {
    if (is_tight(q)) top = q;
  }
  if (top.valid()) collect_shut(top);
}

void Pass::after_start(QueueId leaf) {
  const auto* started = std::get_if<Started>(&core_.decisions_.back());
  changed_nodes_ += std::ssize(started->tasks);
  close_what_ran_out();
  // What the workload wants next joins the pass.
  for (const BucketId id : core_.pending_.take_fresh(pool_->state().id)) offer(id);
  if (!open_.empty()) follow_up_gates(leaf);
}

void Pass::clear() {
  for (const QueueId q : touched_) place(q) = Place(this);
  for (const RequirementId id : noted_) served_by_[id.index()].clear();
  touched_.clear();
  noted_.clear();
  roots_.clear();
  moved_.clear();
  open_.clear();
  due_ = {};
  changed_nodes_ = 0;
  most_ = ResourceVector{};
  most_non_preemptible_ = ResourceVector{};
}

bool Pass::run(PoolCore& pool, bool all, const std::vector<BucketId>& fresh,
               const std::vector<bool>& done) {
  pool_ = &pool;
  all_ = all;
  done_ = &done;
  held_back_ = false;
  ++serial_;
  const PoolId id = pool.state().id;
  if (places_.size() < core_.queues_.size()) places_.resize(core_.queues_.size(), Place(this));
  if (all) {
    std::size_t buckets = 0;
    for (const RequirementId r : core_.pending_.requirements_in(id)) {
      if (open(r)) buckets += core_.pending_.requirement(r).in(id).buckets.size();
    }
    const auto& queues = core_.pending_.queues_in(id);
    if (buckets < queues.size()) {
      for (const RequirementId r : open_) {
        for (const BucketId b : core_.pending_.requirement(r).in(id).buckets)
          moved_.push_back(core_.pending_.bucket(b).queue);
      }
    } else if (buckets > 0) {
      for (const auto& [queue, waiting] : queues) moved_.push_back(queue);
    }
  } else {
    for (const BucketId b : fresh) offer(b);
  }
  if (!open_.empty()) core_.divide(pool);
  while (!open_.empty()) {
    std::sort(moved_.begin(), moved_.end());
    moved_.erase(std::unique(moved_.begin(), moved_.end()), moved_.end());
    for (const QueueId q : moved_) settle(q);
    moved_.clear();
    if (roots_.empty()) break;
    QueueId leaf = *roots_.begin();
    while (!place(leaf).children.empty()) leaf = *place(leaf).children.begin();
    const Head head = *place(leaf).head;
    const RequirementId requirement = core_.pending_.bucket(head.bucket).requirement;
    moved_.push_back(leaf);
    switch (core_.attempt(pool, head.bucket, head.key.workload)) {
      case Core::Attempt::kStarted:
        after_start(leaf);
        break;
      case Core::Attempt::kNoRoom:
        close(requirement);
        std::erase(open_, requirement);
        break;
      case Core::Attempt::kGateShut:
        // At what it would really be charged (2.3.b): not tried again now.
        core_.pending_.bucket(head.bucket).shut_in = decision_;
        break;
    }
  }
  clear();
  return held_back_;
}

}  // namespace fairlead::sched
