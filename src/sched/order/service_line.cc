#include "sched/order/service_line.h"

namespace fairlead::sched {

ServiceLine::ServiceLine(QueueTree& tree, PendingSet& pending, PoolId pool,
                         const ResourceVector& capacity, DemandOf demand_of, const Stands& stands,
                         Instant now)
    : tree_(tree),
      pending_(pending),
      pool_(pool),
      capacity_(capacity),
      demand_of_(std::move(demand_of)),
      now_(now),
      places_(tree.size(), Place(this)),
      roots_(ServedFirst{this}) {
  const auto& queues = pending.queues_in(pool);
  for (std::size_t q = 0; q < queues.size(); ++q) {
    const QueueId leaf(q);
    for (const Head& head : queues[q].heads) {
      const Bucket& bucket = pending.bucket(head.bucket);
      if (stands(bucket)) place(leaf).waiting.push({bucket.entries.begin(), head.bucket});
    }
    if (place(leaf).waiting.empty()) continue;
    leaves_.push_back(leaf);
    settle(leaf);
  }
}

ServiceLine::~ServiceLine() {
  for (const QueueId leaf : leaves_)
    tree_.charge(pool_, leaf, place(leaf).charged, -1, false, 0, now_);
}

std::set<QueueId, ServiceLine::ServedFirst>& ServiceLine::siblings(QueueId q) {
  const QueueId parent = tree_.get(q).parent;
  return parent.valid() ? place(parent).children : roots_;
}

// Puts the leaf and its ancestors where they belong. A queue's key changes only outside of its set.
void ServiceLine::settle(QueueId leaf) {
  for (QueueId q = leaf; q.valid(); q = tree_.get(q).parent) {
    if (place(q).listed) siblings(q).erase(q);
    place(q).listed = false;
  }
  for (QueueId q = leaf; q.valid(); q = tree_.get(q).parent) {
    Place& p = place(q);
    if (q == leaf) {
      if (p.waiting.empty()) continue;
      p.demand = demand_of_(pending_.bucket(p.waiting.top().bucket).requirement);
    } else {
      if (p.children.empty()) continue;
      p.demand = place(*p.children.begin()).demand;
    }
    p.key = queue_key(tree_, pool_, q, p.demand, capacity_);
    p.listed = siblings(q).insert(q).second;
  }
}

std::optional<Head> ServiceLine::next() {
  if (roots_.empty()) return std::nullopt;
  QueueId leaf = *roots_.begin();
  while (!place(leaf).children.empty()) leaf = *place(leaf).children.begin();
  Place& p = place(leaf);
  Waiting waiting = p.waiting.top();
  p.waiting.pop();
  const Bucket& bucket = pending_.bucket(waiting.bucket);
  const Head head{*waiting.at, waiting.bucket, bucket.requirement};
  if (++waiting.at != bucket.entries.end()) p.waiting.push(waiting);
  const ResourceVector& demand = demand_of_(bucket.requirement);
  tree_.charge(pool_, leaf, demand, 1, false, 0, now_);
  p.charged.add(demand);
  settle(leaf);
  return head;
}

}  // namespace fairlead::sched
