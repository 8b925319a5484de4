// All that waits for a pool, in the order in which it would be served if there were room for all
// of it (4.1, 4.2): each is charged to its queues before the next is chosen.
//
// Nothing has changed once it is gone. Cost: next() O(depth × (resources + log siblings)) + O(log
// buckets of the queue); making it O(buckets × log buckets).
#pragma once

#include <functional>
#include <optional>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "sched/order/pending.h"
#include "sched/order/service_order.h"

namespace fairlead::sched {

class ServiceLine {
 public:
  // What one start of a requirement asks for in the pool.
  using DemandOf = std::function<const ResourceVector&(RequirementId)>;
  // Whether a bucket stands in the line at all.
  using Stands = std::function<bool(const Bucket&)>;

  ServiceLine(QueueTree& tree, PendingSet& pending, PoolId pool, const ResourceVector& capacity,
              DemandOf demand_of, const Stands& stands, Instant now);
  ServiceLine(const ServiceLine&) = delete;
  ServiceLine& operator=(const ServiceLine&) = delete;
  ~ServiceLine();

  std::optional<Head> next();

 private:
  struct Waiting {  // one bucket, from an entry on
    std::set<EntryKey>::const_iterator at;
    BucketId bucket;
  };
  struct Later {
    bool operator()(const Waiting& a, const Waiting& b) const { return *b.at < *a.at; }
  };
  struct ServedFirst {
    const ServiceLine* line;
    bool operator()(QueueId a, QueueId b) const {
      return served_before(line->places_[a.index()].key, line->places_[b.index()].key);
    }
  };
  struct Place {
    explicit Place(const ServiceLine* line) : children(ServedFirst{line}) {}
    std::priority_queue<Waiting, std::vector<Waiting>, Later> waiting;  // leaves
    std::set<QueueId, ServedFirst> children;
    QueueKey key;
    ResourceVector demand;  // of what it would serve next
    bool listed = false;
    ResourceVector charged;  // leaves: by this line
  };
  Place& place(QueueId q) { return places_[q.index()]; }
  std::set<QueueId, ServedFirst>& siblings(QueueId q);
  void settle(QueueId leaf);

  QueueTree& tree_;
  PendingSet& pending_;
  PoolId pool_;
  const ResourceVector& capacity_;
  DemandOf demand_of_;
  Instant now_;
  std::vector<Place> places_;
  std::set<QueueId, ServedFirst> roots_;
  std::vector<QueueId> leaves_;
};

}  // namespace fairlead::sched
