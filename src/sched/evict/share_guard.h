// Which queues may lose what to a claimant of another queue, and whether it may claim at all (7.1).
//
// A claimant is entitled at a level of the tree if its queue there, with the claim, stays within
// its fair share in every resource asked. It is compared with a victim at the children of their
// lowest common ancestor, and at every level below; a queue may lose a resource that the claimant
// lacks as long as it keeps its fair share of it. A queue whose quota of a resource is unlimited is
// never above its share of it (7.1.b).
//
// Cost: O(depth × resources) per question.
#pragma once

#include <cstdint>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "sched/state/queue_tree.h"

namespace fairlead::sched {

// A set of resources by index: those that a claimant lacks on some node.
class ResourceSet {
 public:
  void add(std::size_t resource) {
    if (resource / kBits >= words_.size()) words_.resize(resource / kBits + 1, 0);
    words_[resource / kBits] |= std::uint64_t{1} << resource % kBits;
  }
  void add(const ResourceSet& other) {
    if (other.words_.size() > words_.size()) words_.resize(other.words_.size(), 0);
    for (std::size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
  }
  bool has(std::size_t resource) const {
    return resource / kBits < words_.size() &&
           (words_[resource / kBits] >> resource % kBits & 1) != 0;
  }
  bool empty() const { return words_.empty(); }
  // No set has a word of zeros at its end: nothing is ever removed.
  friend bool operator==(const ResourceSet&, const ResourceSet&) = default;

 private:
  static constexpr std::size_t kBits = 64;
  boost::container::small_vector<std::uint64_t, 1> words_;
};

class ShareGuard {
 public:
  ShareGuard(const QueueTree& tree, PoolId pool, QueueId claimant, const ResourceVector& demand);

  // Whether there is a queue that it may claim from, as far as its own share goes.
  bool entitled() const { return reach_ > 0; }
  // Whether it may claim from that queue, as far as its own share goes.
  bool may_claim_from(QueueId victim) const {
    QueueId below;
    return meeting(victim, below) < reach_;
  }
  // Whether the victim is compared where the claimant is entitled, and `amounts` give something of
  // what is lacking that is not all its queues' own.
  bool reaches(QueueId victim, const ResourceVector& amounts, const ResourceSet& lacking) const;
  // Whether the ledgers hold `amounts` still, or they were taken off already.
  enum class Ledgers : bool { kBefore, kAfter };
  // Whether the victim's queues keep their shares of those of the resources that `amounts` give.
  bool keeps(QueueId victim, const ResourceVector& amounts, const ResourceSet& resources,
             Ledgers ledgers = Ledgers::kBefore) const;

  // The victim's ancestor, or itself, that lies just below the lowest common ancestor.
  QueueId compared(QueueId victim) const;

 private:
  // Position on the claimant's path of the queue just below the lowest common ancestor; its size
  // if the two have none.
  std::size_t meeting(QueueId victim, QueueId& below) const;

  const QueueTree& tree_;
  PoolId pool_;
  std::vector<QueueId> path_;  // the claimant's queue and its ancestors
  std::size_t reach_ = 0;      // levels from the leaf up at which it is entitled
};

}  // namespace fairlead::sched
