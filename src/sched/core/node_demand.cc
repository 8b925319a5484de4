// Which nodes would serve what waits: what an autoscaler asks.
#include <algorithm>
#include <map>
#include <utility>

#include "sched/core/core.h"
#include "sched/order/service_line.h"
#include "sched/place/fit.h"

namespace fairlead::sched {
namespace {

bool same_kind(const NodeState& a, const NodeState& b) {
  return a.spec.node_type == b.spec.node_type && a.spec.labels == b.spec.labels &&
         a.spec.taints == b.spec.taints && a.empty == b.empty;
}

struct Opened {  // a node that is not there yet
  std::size_t kind = 0;
  NodeRoom room;
};

}  // namespace

// In the service order each takes room on nodes that were added for those before it, or adds the
// smallest kind of node that would hold its task.
std::vector<NodeDemandView> Core::node_demand() {
  constexpr std::size_t kMostKinds = 64;
  constexpr std::int64_t kMostTasks = 10'000;
  std::vector<NodeDemandView> out;
  for (auto& pool : pools_) {
    const PoolId pool_id = pool->state().id;
    if (pending_.requirements_in(pool_id).empty()) continue;
    ensure_ordered(*pool);
    std::vector<const NodeState*> kinds;
    for (const NodeId id : pool->members) {
      const NodeState& node = nodes_[id.index()];
      const bool known = std::any_of(kinds.begin(), kinds.end(),
                                     [&](const NodeState* kind) { return same_kind(*kind, node); });
      if (!known && kinds.size() < kMostKinds) kinds.push_back(&node);
    }
    std::stable_sort(kinds.begin(), kinds.end(), [](const NodeState* a, const NodeState* b) {
      const auto size = [](const NodeState* n) {
        return std::pair(n->empty.total_gpu_milli(), n->empty.cpu);
      };
      return size(a) < size(b);
    });
    const auto kind_for = [&](const TaskClass& task) {
      return std::find_if(kinds.begin(), kinds.end(), [&](const NodeState* kind) {
        return static_filter(task, *kind) == Filter::kFits &&
               choose(task, kind->empty, DeviceChoice::kBestFit).has_value();
      });
    };
    const auto stands = [&](const Bucket& bucket) {
      Requirement& requirement = pending_.requirement(bucket.requirement);
      if (requirement.kind != EntryKind::kGang) return false;
      for (const auto& [task_class, n] : requirement.needs) {
        if (kind_for(classes_.get(task_class)) == kinds.end()) return false;
      }
      const GateRequest gate{pool_id, bucket.queue, &demand_in(requirement, pool_id),
                             requirement.non_preemptible, true};
      return gates_open(queues_, resources_, gate, now_, nullptr);
    };
    const auto demand_of = [&](RequirementId id) -> const ResourceVector& {
      return demand_in(pending_.requirement(id), pool_id);
    };
    std::vector<Opened> opened;
    std::map<TaskClassId, std::size_t> full;  // opened nodes before it hold no more of the class
    std::map<std::size_t, NodeDemandView> by_kind;
    ServiceLine line(queues_, pending_, pool_id, pool->state().capacity, demand_of, stands, now_);
    std::int64_t tasks = 0;
    while (const auto head = line.next()) {
      std::map<std::size_t, std::int64_t> used;  // kinds: tasks of this workload
      for (const auto& [task_class, n] : pending_.requirement(head->requirement).needs) {
        const TaskClass& task = classes_.get(task_class);
        for (std::int64_t i = 0; i < n; ++i) {
          std::size_t& first = full[task_class];
          while (first < opened.size() &&
                 (static_filter(task, *kinds[opened[first].kind]) != Filter::kFits ||
                  room_fit(task, opened[first].room).slots == 0)) {
            ++first;
          }
          auto place = opened.begin() + static_cast<std::ptrdiff_t>(first);
          if (place == opened.end()) {
            const auto kind = static_cast<std::size_t>(kind_for(task) - kinds.begin());
            opened.push_back({kind, kinds[kind]->empty});
            ++by_kind[kind].nodes;
            place = std::prev(opened.end());
          }
          const auto placement = choose(task, place->room, DeviceChoice::kBestFit);
          place->room.take(*placement, task.host_claim(), task.extended);
          ++used[place->kind];
        }
        tasks += n;
      }
      for (const auto& [kind, n] : used) {
        ++by_kind[kind].workloads;
        by_kind[kind].tasks += n;
      }
      if (tasks >= kMostTasks) break;
    }
    for (auto& [kind, view] : by_kind) {
      view.pool = pool->state().spec.name;
      view.like = kinds[kind]->spec.name;
      out.push_back(std::move(view));
    }
  }
  return out;
}

}  // namespace fairlead::sched
