// Nodes that people keep for a time (9.3).
#include <algorithm>

#include "base/nearest.h"
#include "sched/core/checks.h"
#include "sched/core/core.h"

namespace fairlead::sched {
namespace {

std::string nearest_cure(const std::string& name, const std::vector<std::string>& known) {
  const std::string near = nearest_name(name, known);
  return near.empty() ? std::string() : "did you mean '" + near + "'?";
}

}  // namespace

// 9.3
Result<void> Core::on(const ReservationUpserted& e) {
  const ReservationSpec& spec = e.reservation;
  FAIRLEAD_TRY(check_reservation(spec));
  const std::string what = "reservation '" + spec.name + "'";
  if (spec.until <= now_) {
    return fail(ErrorCode::kInvalidArgument,
                what + " ended at " + to_rfc3339(spec.until) + "; it is " + to_rfc3339(now_),
                "state a later end, or remove it");
  }
  if (spec.until - now_ > kPlanHorizon) {
    return fail(ErrorCode::kOutOfRange,
                what + " ends at " + to_rfc3339(spec.until) + ", more than 100 years from now");
  }
  Reservation r;
  r.name = spec.name;
  r.start = r.promised = spec.from;
  r.end = spec.until;
  PoolId pool_id;
  for (const std::string& name : spec.nodes) {
    const auto node = node_by_name_.find(name);
    if (node == node_by_name_.end()) {
      return fail(ErrorCode::kNotFound, what + ": no node is named '" + name + "'",
                  nearest_cure(name, node_names()));
    }
    const PoolId of_node = nodes_[node->second.index()].pool;
    if (pool_id.valid() && pool_id != of_node) {
      return fail(ErrorCode::kInvalidArgument,
                  what + ": node '" + name + "' is of pool '" + pool_name(of_node) +
                      "', those before it are of pool '" + pool_name(pool_id) + "'",
                  "make one reservation for each pool");
    }
    pool_id = of_node;
    r.nodes.push_back(node->second);
  }
  std::sort(r.nodes.begin(), r.nodes.end());
  r.nodes.erase(std::unique(r.nodes.begin(), r.nodes.end()), r.nodes.end());
  for (const std::string& name : spec.queues) {
    const QueueId queue = queues_.find(name);
    if (!queue.valid()) {
      return fail(ErrorCode::kNotFound, what + ": no queue is named '" + name + "'",
                  nearest_cure(name, queue_names()));
    }
    r.users.push_back(queue);
  }
  (void)on(ReservationRemoved{spec.name});
  PoolCore& pool = *pools_[pool_id.index()];
  pool.timeline.insert(0, std::move(r));  // what people keep comes before what was planned
  note_more_room(pool);
  return {};
}

Result<void> Core::on(const ReservationRemoved& e) {
  for (auto& pool : pools_) {
    const Reservation* r = pool->timeline.named(e.reservation);
    if (!r) continue;
    drop_reservation(*pool, static_cast<std::size_t>(r - pool->timeline.reservations().data()));
    return {};
  }
  return fail(ErrorCode::kNotFound, "no reservation is named '" + e.reservation + "'");
}

// The node is gone, or of another pool: nothing is kept there any more.
void Core::forget_reserved(NodeId node) {
  for (auto& pool : pools_) {
    for (std::size_t i = pool->timeline.reservations().size(); i-- > 0;) {
      Reservation r = pool->timeline.reservations()[i];
      const bool planned = std::any_of(r.tasks.begin(), r.tasks.end(), [&](const PlannedTask& t) {
        return t.placement.node == node;
      });
      if (planned) {
        drop_reservation(*pool, i);
      } else if (std::erase(r.nodes, node) > 0) {
        if (r.nodes.empty()) {
          drop_reservation(*pool, i);
        } else {
          pool->timeline.replace(i, std::move(r));
        }
      }
    }
  }
}

void Core::forget_user(QueueId queue) {
  for (auto& pool : pools_) {
    for (std::size_t i = 0; i < pool->timeline.reservations().size(); ++i) {
      Reservation r = pool->timeline.reservations()[i];
      if (std::erase(r.users, queue) > 0) pool->timeline.replace(i, std::move(r));
    }
  }
}

std::vector<KeptView> Core::kept_by_people() const {
  std::vector<KeptView> out;
  for (const auto& pool : pools_) {
    const std::size_t first = out.size();
    for (const Reservation& r : pool->timeline.reservations()) {
      if (r.workload.valid()) continue;
      KeptView view{r.name, pool->state().spec.name, r.start, r.end, {}, {}};
      for (const NodeId node : r.nodes) view.nodes.push_back(nodes_[node.index()].spec.name);
      for (const QueueId user : r.users) view.queues.push_back(queues_.get(user).spec.name);
      out.push_back(std::move(view));
    }
    std::reverse(out.begin() + static_cast<std::ptrdiff_t>(first),
                 out.end());  // latest stand first
  }
  return out;
}

}  // namespace fairlead::sched
