// One pass over a pool: starts what can start, in service order (rule 4), until nothing more can.
//
// Queues with something to serve form a tree of ordered sets; the key of a queue is that of the
// workload it would serve next (4.1.b). What a start takes away is followed up at once: a
// requirement that finds no room any more, or a queue whose gate shuts, leaves the order, and the
// queues that would have served it are keyed anew. So each choice is that of rule 4 over all that
// can still start.
//
// A requirement is known to have room until as many nodes have changed as could use that room up,
// so that a start does not ask for every class again.
//
// What finds no room may find some behind reservations that it need not mind; and of what finds
// none at all, the first in the order get reservations (9.2), before anybody behind them is tried.
//
// Cost: O(requirements) to set up, O(queues × log queues) for those that have an open requirement;
// per start O(depth × log siblings) for its queue and for each queue whose next workload it rules
// out. Only fresh buckets are looked at when nothing was released. With claims, for each that is
// looked at a search for victims (evict/taker.h), of which those that fail cost most: after
// kMostFailedClaims of them in a pass, those that failed before take turns (7.6.b).
#pragma once

#include <optional>
#include <queue>
#include <set>
#include <vector>

#include "sched/core/core.h"

namespace fairlead::sched {

class Pass {
 public:
  explicit Pass(Core& core) : core_(core), roots_(ServedFirst{this}) {}

  // A new decision: what a gate kept out at its real charge may be tried again.
  void begin() {
    ++decision_;
    any_shut_ = false;
  }

  enum class Scope : std::uint8_t {
    kFresh,  // what came up since the last pass, which left nothing that could start
    kAll,    // all that waits for the pool
  };
  // Whether what finds no free room may take something back (7).
  enum class Claims : bool { kNo, kYes };

  // Tries what waits for the pool. A workload is held back while a pool that it would rather have
  // has room for it and no pass behind it (`done`); true if that happened. Started tasks are added
  // to the core's decisions.
  bool run(PoolCore& pool, Scope scope, Claims claims, const std::vector<BucketId>& fresh,
           const std::vector<bool>& done);

 private:
  struct ServedFirst {
    const Pass* pass;
    bool operator()(QueueId a, QueueId b) const;
  };
  struct Place {  // one queue of the tree in this pass
    explicit Place(const Pass* pass) : children(ServedFirst{pass}) {}
    std::optional<Head> head;                     // leaves: what is served next
    std::optional<Head> from;                     // leaves: nothing before it can start
    std::vector<BucketId> fresh;                  // leaves: what to look at, unless all
    std::set<QueueId, ServedFirst> children;      // others: those that have something to serve
    std::set<QueueId, ServedFirst>::iterator at;  // in its parent's set, if listed
    std::optional<Core::Standing> standing;       // leaves: of claims
    QueueKey key;
    ResourceVector demand;  // of the workload it would serve next
    bool listed = false;    // is in its parent's set
    bool touched = false;
    bool noted = false;  // to be put in order
  };

  enum class Room : std::uint8_t {
    kFree,
    kBehind,  // behind reservations
    kNone,    // but a reservation may be made
  };
  // What a pass knows of a requirement that is served.
  struct Open {
    std::uint64_t serial = 0;  // of the pass
    Room room = Room::kFree;
    bool non_preemptible = false;
    bool no_start = false;      // a search for a start was in vain
    bool later_choice = false;  // there are pools that it would rather have
    ResourceVector demand;
    Core::Chances chances;  // of a claim
  };

  bool open(RequirementId id);
  bool is_open(RequirementId id) const {
    return id.index() < open_.size() && open_[id.index()].serial == serial_;
  }
  std::optional<Room> room_for(RequirementId id);
  void close(RequirementId id);
  void look_again(RequirementId id);
  enum class Reserved : bool { kCounts, kDoesNot };
  bool gate_open(QueueId leaf, const Open& requirement, Reserved reserved) const;
  bool behind(QueueId leaf, const Head& head) const;
  void serve_behind(QueueId leaf, const Head& head);
  std::vector<RequirementId> waits_for(WorkloadId id) const;
  void look_again_after(RequirementId id, std::int64_t changed);
  void close_what_ran_out();
  bool can_start(QueueId leaf, const Head& head);
  bool held_back(RequirementId id);
  bool may_claim(QueueId leaf, const Head& head);
  bool none_may_claim(QueueId leaf, const Head& first);
  const Core::Standing& standing(QueueId leaf);
  void offer(BucketId id);
  void settle(QueueId leaf);
  std::optional<Head> next_of(const Head& head);
  std::optional<Head> first_of_all(QueueId leaf);
  std::optional<Head> first_of_fresh(QueueId leaf);
  void settle_moved();
  void list(QueueId q);
  void follow_up_gates(QueueId leaf);
  bool is_tight(QueueId q);
  void collect_shut(QueueId q);
  void after_start(QueueId leaf, const std::vector<RequirementId>& asked);
  void offer_all();
  void clear();
  Place& place(QueueId q) { return places_[q.index()]; }
  std::set<QueueId, ServedFirst>& siblings(QueueId q);

  Core& core_;
  PoolCore* pool_ = nullptr;
  const std::vector<bool>* done_ = nullptr;
  Scope scope_ = Scope::kAll;
  bool claims_ = false;
  bool held_back_ = false;
  bool any_shut_ = false;  // a gate shut at a real charge
  std::uint64_t decision_ = 0;
  std::uint64_t serial_ = 0;  // of this pass: marks what it found open

  std::vector<Open> open_;  // by RequirementId
  std::int64_t open_count_ = 0;
  // The first so many claims that fail in a pass are always looked at.
  static constexpr std::int64_t kMostFailedClaims = 64;
  static constexpr std::uint64_t kClaimTurns = 16;
  std::int64_t failed_claims_ = 0;
  std::int64_t changed_nodes_ = 0;
  // When to look again whether there is room: (changed nodes, requirement).
  using Due = std::pair<std::int64_t, RequirementId>;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  struct Look {
    std::uint64_t serial = 0;  // of the pass, if one is due
    std::int64_t at = 0;
  };
  std::vector<Look> next_look_;                  // by requirement
  std::vector<std::vector<QueueId>> served_by_;  // by requirement: leaves that had it as their head
  std::vector<RequirementId> noted_;             // those with an entry there
  // Of claims: what the requirements opened so far have in common, so that the heads of a leaf for
  // which none of it will do are not looked at one by one.
  struct Common {
    bool scattered = false;                  // 7.3: one of them may be what only lies scattered
    bool later_choice = false;               // one of them has pools that it would rather have
    std::int64_t least_reclaim = INT64_MAX;  // GPU of the smallest that may be reclaimed for
  } common_;
  // The greatest amounts that one start of an open requirement asks for; of non-preemptible ones.
  ResourceVector most_;
  ResourceVector most_non_preemptible_;

  std::vector<Place> places_;
  std::set<QueueId, ServedFirst> roots_;
  std::vector<QueueId> touched_;
  std::vector<QueueId> moved_;                  // leaves to settle again
  std::vector<BucketId> unserved_;              // came up among claims
  std::vector<std::vector<QueueId>> by_depth_;  // queues to put in order
};

}  // namespace fairlead::sched
