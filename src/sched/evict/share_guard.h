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

#include "sched/state/queue_tree.h"

namespace fairlead::sched {

// A set of resources by index: those that a claimant lacks on some node.
class ResourceSet {
 public:
  void add(std::size_t resource) { bits_ |= std::uint64_t{1} << resource; }
  void add(ResourceSet other) { bits_ |= other.bits_; }
  bool has(std::size_t resource) const { return resource < 64 && (bits_ >> resource & 1) != 0; }
  bool empty() const { return bits_ == 0; }
  friend bool operator==(ResourceSet, ResourceSet) = default;

 private:
  std::uint64_t bits_ = 0;
};

class ShareGuard {
 public:
  ShareGuard(const QueueTree& tree, PoolId pool, QueueId claimant, const ResourceVector& demand);

  // Whether there is a queue that it may claim from, as far as its own share goes.
  bool entitled() const { return reach_ > 0; }
  // Whether the victim is compared where the claimant is entitled, and `amounts` give something of
  // what is lacking that is not all its queues' own.
  bool reaches(QueueId victim, const ResourceVector& amounts, ResourceSet lacking) const;
  // Whether the victim's queues keep their shares of the resources that it gives. As the ledgers
  // stand: what is chosen to go is taken off them before the next question.
  bool keeps(QueueId victim, const ResourceVector& amounts, ResourceSet resources) const;
  // The same of what is taken off the ledgers already.
  bool kept(QueueId victim, const ResourceVector& amounts, ResourceSet resources) const;

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
