#include "sched/core/pass.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <variant>

namespace fairlead::sched {

bool Pass::ServedFirst::operator()(QueueId a, QueueId b) const {
  return served_before(pass->places_[a.index()].key, pass->places_[b.index()].key);
}

std::set<QueueId, Pass::ServedFirst>& Pass::siblings(QueueId q) {
  const QueueId parent = core_.queues_.get(q).parent;
  return parent.valid() ? place(parent).children : roots_;
}

// What room there is for the requirement, and notes until when; nothing if it cannot be served.
std::optional<Pass::Room> Pass::room_for(RequirementId id) {
  if (claims_) return Room::kFree;
  const std::int64_t margin = core_.room_margin(*pool_, id);
  if (margin >= 0) {
    look_again_after(id, changed_nodes_ + margin + 1);
    return Room::kFree;
  }
  if (core_.room_behind(*pool_, id)) return Room::kBehind;
  if (core_.may_plan(*pool_, id)) return Room::kNone;
  return std::nullopt;
}

bool Pass::open(RequirementId id) {
  const PoolId pool = pool_->state().id;
  const auto room = room_for(id);
  if (!room) return false;
  if (is_open(id)) {
    if (std::exchange(open_[id.index()].room, *room) != *room) look_again(id);
    return true;
  }
  Requirement& requirement = core_.pending_.requirement(id);
  if (id.index() >= open_.size()) open_.resize(id.index() + 1);
  open_[id.index()] = {serial_,
                       *room,
                       requirement.non_preemptible,
                       false,
                       requirement.in(pool).stage > 0,
                       core_.demand_in(requirement, pool),
                       {}};
  if (claims_) {
    const Open& fresh = open_[id.index()];
    open_[id.index()].chances = core_.chances(*pool_, id);
    common_.scattered = common_.scattered || fresh.chances.scattered;
    common_.later_choice = common_.later_choice || fresh.later_choice;
    if (fresh.chances.reclaimable)
      common_.least_reclaim = std::min(common_.least_reclaim, fresh.demand[kGpuResource]);
  }
  ++open_count_;
  const ResourceVector& demand = open_[id.index()].demand;
  for (std::size_t r = 0; r < demand.size(); ++r) {
    most_.at(r) = std::max(most_[r], demand[r]);
    if (!requirement.non_preemptible) continue;
    most_non_preemptible_.at(r) = std::max(most_non_preemptible_[r], demand[r]);
  }
  return true;
}

// It has no room, or is not what it was.
void Pass::close(RequirementId id) {
  open_[id.index()].serial = 0;
  --open_count_;
  look_again(id);
}

// The leaves that would have served it settle anew.
void Pass::look_again(RequirementId id) {
  if (id.index() >= served_by_.size()) return;
  auto& leaves = served_by_[id.index()];
  moved_.insert(moved_.end(), leaves.begin(), leaves.end());
  leaves.clear();
}

// One look ahead per requirement: the earliest that was asked for.
void Pass::look_again_after(RequirementId id, std::int64_t changed) {
  if (id.index() >= next_look_.size()) next_look_.resize(id.index() + 1);
  Look& next = next_look_[id.index()];
  if (next.serial == serial_ && next.at <= changed) return;
  next = {serial_, changed};
  due_.emplace(changed, id);
}

void Pass::close_what_ran_out() {
  while (!due_.empty() && due_.top().first <= changed_nodes_) {
    const auto [at, id] = due_.top();
    due_.pop();
    Look& next = next_look_[id.index()];
    if (next.serial != serial_ || next.at != at) continue;  // an earlier look came between
    next.serial = 0;
    if (is_open(id) && !open(id)) close(id);
  }
}

// Whether a pool that its workloads would rather have may still take them.
bool Pass::held_back(RequirementId id) {
  const Requirement& requirement = core_.pending_.requirement(id);
  const PoolId pool = pool_->state().id;
  for (const Requirement::InPool& other : requirement.pools) {
    if (other.stage >= core_.pending_.requirement(id).in(pool).stage) continue;
    if ((*done_)[other.pool.index()]) continue;
    PoolCore& rather = *core_.pools_[other.pool.index()];
    core_.ensure_ordered(rather);
    if (core_.room_margin(rather, id) >= 0) return true;
  }
  return false;
}

bool Pass::can_start(QueueId leaf, const Head& head) {
  if (!is_open(head.requirement)) return false;
  const Open& requirement = open_[head.requirement.index()];
  if (any_shut_ && !claims_ && core_.pending_.bucket(head.bucket).shut_in == decision_)
    return false;
  if (requirement.later_choice && held_back(head.requirement)) {
    held_back_ = true;
    return false;
  }
  if (claims_) return may_claim(leaf, head);
  if (requirement.room != Room::kFree) {
    const Bucket& bucket = core_.pending_.bucket(head.bucket);
    // Whoever passes a reservation is not held by what it counts at gates.
    if (requirement.room == Room::kBehind && bucket.behind_in != decision_) return true;
    if (requirement.no_start || bucket.planned_in == decision_ ||
        !core_.may_plan(*pool_, head.requirement)) {
      return false;
    }
  }
  if (gate_open(leaf, requirement, Reserved::kCounts)) return true;
  return requirement.room == Room::kFree && !pool_->timeline.reservations().empty() &&
         core_.pending_.bucket(head.bucket).behind_in != decision_ &&
         gate_open(leaf, requirement, Reserved::kDoesNot);
}

bool Pass::gate_open(QueueId leaf, const Open& requirement, Reserved reserved) const {
  const GateRequest gate{pool_->state().id, leaf, &requirement.demand, requirement.non_preemptible,
                         reserved == Reserved::kDoesNot};
  return gates_open(core_.queues_, core_.resources_, gate, core_.now_, nullptr);
}

// Whether what is reserved stands in the way of the head, as room or at a gate.
bool Pass::behind(QueueId leaf, const Head& head) const {
  if (claims_) return false;
  const Open& requirement = open_[head.requirement.index()];
  return requirement.room != Room::kFree || (!pool_->timeline.reservations().empty() &&
                                             !gate_open(leaf, requirement, Reserved::kCounts));
}

const Core::Standing& Pass::standing(QueueId leaf) {
  Place& p = place(leaf);
  if (!p.standing) p.standing = core_.standing(*pool_, leaf);
  return *p.standing;
}

// Whether no head of the leaf has a claim, told by the first of them, which none has a priority
// above, and by what open requirements have in common.
bool Pass::none_may_claim(QueueId leaf, const Head& first) {
  if (common_.scattered || common_.later_choice) return false;
  const Core::Standing& s = standing(leaf);
  if (!s.gates_open) return true;
  const bool reclaims = common_.least_reclaim <= std::max<std::int64_t>(0, s.gpu_below_share);
  return !reclaims && -first.key.minus_priority <= s.lowest_priority;
}

// What is cheap to know comes first: most heads have no claim, and to look at their buckets would
// cost more than all else.
bool Pass::may_claim(QueueId leaf, const Head& head) {
  const Open& requirement = open_[head.requirement.index()];
  const Core::Standing& s = standing(leaf);
  if (!s.gates_open) return false;
  // In a later pool of its list its demand is not in the shares yet (7.1.d).
  const std::int64_t gpu = requirement.demand[kGpuResource];
  const bool reclaims = (requirement.later_choice && core_.options_.reclaim) ||
                        (requirement.chances.reclaimable && (gpu == 0 || gpu <= s.gpu_below_share));
  // Nobody of the bucket claims with more than the head is served with (7.2.a).
  const bool preempts = -head.key.minus_priority > s.lowest_priority;
  if (!requirement.chances.scattered && !reclaims && !preempts) return false;
  if (!core_.within_non_preemptible_quota(*pool_, leaf, requirement.demand,
                                          requirement.non_preemptible)) {
    return false;
  }
  // What was taken withdrew what its workload waited for: such a head is settled anew.
  const Bucket& bucket = core_.pending_.bucket(head.bucket);
  if (bucket.entries.empty() || *bucket.entries.begin() != head.key) return false;
  bool moves = requirement.chances.scattered;
  if (moves && core_.moves_pause(*pool_, head.requirement)) {
    moves = false;
    const PoolId id = pool_->state().id;
    core_.put_off(*pool_, head.bucket,
                  core_.pending_.requirement(head.requirement).in(id).no_move_before);
  }
  const std::int64_t priority = core_.claim_priority(*pool_, head);
  if (!moves && !reclaims && priority <= s.lowest_priority) return false;
  if (bucket.claimed_at == pool_->claims_version && priority <= bucket.claimed_with) return false;
  // Where many claims fail, those that failed before wait for their turn.
  if (failed_claims_ >= kMostFailedClaims && bucket.claimed_at != UINT64_MAX &&
      (pool_->turn + head.bucket.index()) % kClaimTurns != 0) {
    core_.put_off(*pool_, head.bucket, core_.now_ + kPutOff);
    return false;
  }
  return true;
}

// A bucket that came up: its leaf has to be settled.
void Pass::offer(BucketId id) {
  const Bucket& bucket = core_.pending_.bucket(id);
  // An id in a list may have been given back since.
  if (bucket.entries.empty() || bucket.pool != pool_->state().id) return;
  if (!is_open(bucket.requirement) && !open(bucket.requirement)) return;
  Place& leaf = place(bucket.queue);
  const Head head{*bucket.entries.begin(), id, bucket.requirement};
  if (leaf.from && head < *leaf.from) leaf.from = head;
  if (scope_ == Scope::kFresh &&
      std::find(leaf.fresh.begin(), leaf.fresh.end(), id) == leaf.fresh.end())
    leaf.fresh.push_back(id);
  moved_.push_back(bucket.queue);
}

// Who of a bucket is served next: its head; where only a reservation is left to be made, the first
// that has none, which stands at its own place in the order among the heads of other buckets.
std::optional<Head> Pass::next_of(const Head& head) {
  if (claims_) return head;
  Bucket& bucket = core_.pending_.bucket(head.bucket);
  const Room room = open_[head.requirement.index()].room;
  const bool plans =
      room == Room::kNone || (room == Room::kBehind && bucket.behind_in == decision_);
  if (!plans) return head;
  if (const EntryKey* key = core_.first_without_reservation(bucket))
    return Head{*key, head.bucket, head.requirement};
  bucket.planned_in = decision_;
  return std::nullopt;
}

std::optional<Head> Pass::first_of_all(QueueId leaf) {
  const auto& queues = core_.pending_.queues_in(pool_->state().id);
  if (leaf.index() >= queues.size()) return std::nullopt;
  const auto& heads = queues[leaf.index()].heads;
  if (claims_ && !heads.empty() && none_may_claim(leaf, *heads.begin())) return std::nullopt;
  Place& p = place(leaf);
  std::optional<Head> first;
  std::optional<Head> from;
  for (auto it = p.from ? heads.lower_bound(*p.from) : heads.begin(); it != heads.end(); ++it) {
    if (first && *first < *it) break;
    if (!can_start(leaf, *it)) continue;
    const auto next = next_of(*it);
    if (!next) continue;
    if (!from) from = *it;
    if (!first || *next < *first) first = next;
  }
  if (from) p.from = from;
  return first;
}

std::optional<Head> Pass::first_of_fresh(QueueId leaf) {
  std::optional<Head> first;
  for (const BucketId id : place(leaf).fresh) {
    const Bucket& bucket = core_.pending_.bucket(id);
    if (bucket.entries.empty() || bucket.pool != pool_->state().id) continue;  // given back since
    const Head head{*bucket.entries.begin(), id, bucket.requirement};
    if ((first && *first < head) || !can_start(leaf, head)) continue;
    const auto next = next_of(head);
    if (next && (!first || *next < *first)) first = next;
  }
  return first;
}

// Finds what the leaf serves next.
void Pass::settle(QueueId leaf) {
  Place& p = place(leaf);
  p.standing.reset();
  p.head = scope_ == Scope::kFresh ? first_of_fresh(leaf) : first_of_all(leaf);
  if (!p.head) return;
  const RequirementId id = p.head->requirement;
  if (id.index() >= served_by_.size()) served_by_.resize(id.index() + 1);
  auto& leaves = served_by_[id.index()];
  if (leaves.empty()) noted_.push_back(id);
  if (leaves.empty() || leaves.back() != leaf) leaves.push_back(leaf);
}

// Settles the leaves that moved, and restores the order among them and among their ancestors: of
// queues of one depth each once, and children before parents, whose keys follow their best child.
void Pass::settle_moved() {
  const auto note = [this](QueueId q) {
    Place& p = place(q);
    if (p.noted) return false;
    p.noted = true;
    const auto depth = static_cast<std::size_t>(core_.queues_.get(q).depth);
    if (depth >= by_depth_.size()) by_depth_.resize(depth + 1);
    by_depth_[depth].push_back(q);
    return true;
  };
  for (const QueueId leaf : moved_) {
    if (note(leaf)) settle(leaf);
  }
  moved_.clear();
  for (std::size_t depth = by_depth_.size(); depth-- > 0;) {
    for (const QueueId q : by_depth_[depth]) {
      place(q).noted = false;
      list(q);
      const QueueId parent = core_.queues_.get(q).parent;
      if (parent.valid()) note(parent);
    }
    by_depth_[depth].clear();
  }
}

// Puts a queue where it belongs among its siblings.
void Pass::list(QueueId q) {
  Place& p = place(q);
  if (!p.touched) {
    p.touched = true;
    touched_.push_back(q);
  }
  auto& among = siblings(q);
  if (p.listed) among.erase(p.at);
  p.listed = p.head || !p.children.empty();
  if (!p.listed) return;
  p.demand = p.head ? open_[p.head->requirement.index()].demand : place(*p.children.begin()).demand;
  p.key = queue_key(core_.queues_, pool_->state().id, q, p.demand, pool_->state().capacity);
  p.at = among.insert(q).first;
}

// Whether the greatest start that is still open would not pass the queue's gates.
bool Pass::is_tight(QueueId q) {
  const PoolId pool = pool_->state().id;
  const QueueLedger& ledger = core_.queues_.ledger(pool, q);
  for (std::size_t r = 0; r < most_.size(); ++r) {
    const Entitlement& e = core_.queues_.entitlement(pool, q, r);
    const std::int64_t held = ledger.allocated[r] + ledger.reserved[r];
    if (e.limit != kUnlimited && most_[r] > 0 && held + most_[r] > e.limit) return true;
    const std::int64_t np = most_non_preemptible_[r];
    const std::int64_t held_np = ledger.non_preemptible[r] + ledger.reserved_non_preemptible[r];
    if (e.quota != kUnlimited && np > 0 && held_np + np > e.quota) return true;
  }
  return false;
}

void Pass::collect_shut(QueueId q) {
  const Place& p = place(q);
  if (p.head && !can_start(q, *p.head)) moved_.push_back(q);
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

// `asked`: requirements of all that the started workload waited for. They may be gone, and their
// ids those of others.
void Pass::after_start(QueueId leaf, const std::vector<RequirementId>& asked) {
  if (claims_) {
    // Whoever lost something is looked at again: it holds less, and waits.
    for (const QueueId q : core_.lost_something_) moved_.push_back(q);
    core_.lost_something_.clear();
  } else {
    changed_nodes_ += std::ssize(std::get<Started>(core_.decisions_.back()).tasks);
  }
  close_what_ran_out();
  for (const RequirementId id : asked) {
    if (!is_open(id)) continue;
    close(id);
    const Requirement::InPool* in = core_.pending_.requirement(id).find(pool_->state().id);
    if (in && !in->buckets.empty()) open(id);
  }
  // What the workload wants next joins the pass; it may fit, too, which is not asked among claims.
  const auto fresh = core_.pending_.take_fresh(pool_->state().id);
  for (const BucketId id : fresh) offer(id);
  if (claims_) unserved_.insert(unserved_.end(), fresh.begin(), fresh.end());
  if (open_count_ > 0) follow_up_gates(leaf);
}

// Past reservations, or with one of its own: who finds no free room.
void Pass::serve_behind(QueueId leaf, const Head& head) {
  Bucket& bucket = core_.pending_.bucket(head.bucket);
  if (open_[head.requirement.index()].room != Room::kNone && bucket.behind_in != decision_) {
    for (const WorkloadId id : core_.who_may_pass(*pool_, bucket)) {
      const auto asked = waits_for(id);
      if (core_.attempt_behind(*pool_, head.bucket, id) != Core::Attempt::kStarted) continue;
      after_start(leaf, asked);
      return;
    }
    bucket.behind_in = decision_;
    return;
  }
  const Core::Planned planned = core_.reserve(*pool_, head.bucket);
  if (planned == Core::Planned::kNoStart) {
    open_[head.requirement.index()].no_start = true;
    look_again(head.requirement);
  }
  if (planned == Core::Planned::kNotThis) bucket.planned_in = decision_;
  if (planned != Core::Planned::kReserved) return;
  // What is kept is not free for those behind, and counts at their gates.
  changed_nodes_ += std::ssize(pool_->timeline.reservations().back().tasks);
  close_what_ran_out();
  if (open_count_ > 0) follow_up_gates(leaf);
}

std::vector<RequirementId> Pass::waits_for(WorkloadId id) const {
  std::vector<RequirementId> out;
  for (const Entry& entry : core_.workloads_.get(id).entries) out.push_back(entry.requirement);
  return out;
}

void Pass::clear() {
  for (const QueueId q : touched_) place(q) = Place(this);
  for (const RequirementId id : noted_) served_by_[id.index()].clear();
  touched_.clear();
  noted_.clear();
  roots_.clear();
  moved_.clear();
  due_ = {};
  open_count_ = 0;
  changed_nodes_ = 0;
  held_back_ = false;
  failed_claims_ = 0;
  common_ = {};
  most_ = ResourceVector{};
  most_non_preemptible_ = ResourceVector{};
}

// The leaves that may have something to serve.
void Pass::offer_all() {
  const PoolId id = pool_->state().id;
  const std::vector<RequirementId>& requirements = core_.pending_.requirements_in(id);
  std::size_t buckets = 0;
  for (const RequirementId r : requirements) {
    if (open(r)) buckets += core_.pending_.requirement(r).in(id).buckets.size();
  }
  const auto& queues = core_.pending_.queues_in(id);
  if (buckets >= queues.size()) {
    for (std::size_t q = 0; q < queues.size(); ++q) {
      if (!queues[q].heads.empty()) moved_.emplace_back(q);
    }
    return;
  }
  for (const RequirementId r : requirements) {
    if (!is_open(r)) continue;
    for (const BucketId b : core_.pending_.requirement(r).in(id).buckets)
      moved_.push_back(core_.pending_.bucket(b).queue);
  }
}

bool Pass::run(PoolCore& pool, Scope scope, Claims claims, const std::vector<BucketId>& fresh,
               const std::vector<bool>& done) {
  pool_ = &pool;
  scope_ = scope;
  claims_ = claims == Claims::kYes;
  done_ = &done;
  ++serial_;
  if (places_.size() < core_.queues_.size()) places_.resize(core_.queues_.size(), Place(this));
  if (scope == Scope::kFresh) {
    for (const BucketId b : fresh) offer(b);
  } else {
    offer_all();
  }
  if (open_count_ > 0) core_.divide(pool);
  while (open_count_ > 0) {
    settle_moved();
    if (roots_.empty()) break;
    QueueId leaf = *roots_.begin();
    while (!place(leaf).children.empty()) leaf = *place(leaf).children.begin();
    const Head head = *place(leaf).head;
    moved_.push_back(leaf);
    if (behind(leaf, head)) {
      serve_behind(leaf, head);
      continue;
    }
    std::vector<RequirementId> asked = waits_for(head.key.workload);
    auto outcome = core_.attempt(pool, head.bucket, head.key.workload);
    if (claims_ && outcome != Core::Attempt::kStarted) {
      Duration shortest = kForGood;
      bool ran_out = false;
      for (const WorkloadId id : core_.claimants(pool, core_.pending_.bucket(head.bucket))) {
        asked = waits_for(id);
        shortest = std::min(shortest, core_.planned_runtime(id));
        outcome = core_.take_back(pool, head.bucket, id);
        if (outcome == Core::Attempt::kStarted) break;
        ran_out = ran_out || outcome == Core::Attempt::kRanOut;
      }
      if (outcome != Core::Attempt::kStarted) {
        Bucket& bucket = core_.pending_.bucket(head.bucket);
        bucket.claimed_at = pool.claims_version;
        bucket.claimed_with = core_.claim_priority(pool, head);
        bucket.claimed_for = shortest;
        bucket.claim_ran_out = ran_out;
        ++failed_claims_;
        continue;
      }
    }
    switch (outcome) {
      case Core::Attempt::kStarted:
        after_start(leaf, asked);
        break;
      case Core::Attempt::kNoRoom:
        core_.pending_.requirement(head.requirement).in(pool.state().id).failed_at =
            pool.state().release_version;
        if (!open(head.requirement)) close(head.requirement);
        break;
      case Core::Attempt::kRanOut:  // of claims alone
      case Core::Attempt::kGateShut:
        // At what it would really be charged (2.3.b): not tried again now.
        core_.pending_.bucket(head.bucket).shut_in = decision_;
        any_shut_ = true;
        break;
    }
  }
  for (const BucketId id : unserved_) core_.pending_.renew(pool.state().id, id);
  unserved_.clear();
  const bool held_back = held_back_;
  clear();
  return held_back;
}

}  // namespace fairlead::sched
