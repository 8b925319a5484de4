// The single change that would make room, found by trying: cheapest kind first.
#include <algorithm>

#include "sched/explain/explainer.h"
#include "sched/explain/text.h"

namespace fairlead::sched {
namespace {

constexpr std::int64_t kPortionStep = 10;  // milli-GPU

}  // namespace

// A new submission in its place would lose nothing.
bool Explainer::untouched(const WorkloadRecord& w) {
  return w.running == 0 && std::all_of(w.roles.begin(), w.roles.end(),
                                       [](const RoleProgress& r) { return r.succeeded == 0; });
}

std::optional<Change> Explainer::room_change(PoolCore& pool, const WorkloadRecord& w,
                                             const Requirement& requirement) {
  const GangRequest request = core_.request_for(pool, w, requirement);
  if (auto change = by_uncordon(pool, w, requirement, request)) return change;
  // A change of the workload itself is a new submission: what it has done or holds would be lost.
  bool fresh = untouched(w);
  const Shape& shape = core_.shapes_.get(w.shape);
  for (std::size_t r = 0; r < w.roles.size(); ++r) {
    // A submission is refused if a role is impossible that may stay empty.
    const bool possible = pool.placement->index(shape.classes[r]).empty_total() > 0;
    fresh = fresh && (possible || shape.roles[r].min > 0);
  }
  if (fresh) {
    if (auto change = by_lower_request(pool, w, requirement, request)) return change;
    if (requirement.role < 0) {
      if (auto change = by_lower_count(pool, w, requirement, request)) return change;
    }
    if (auto change = by_relaxed_topology(pool, w, requirement, request)) return change;
  }
  return by_more_nodes(pool, w, requirement, request);
}

std::optional<Change> Explainer::by_uncordon(PoolCore& pool, const WorkloadRecord& w,
                                             const Requirement& requirement,
                                             const GangRequest& request) {
  constexpr int kMostTries = 16;
  int tries = 0;
  for (const NodeId id : pool.members) {
    NodeState& node = core_.nodes_[id.index()];
    if (node.usable()) continue;
    const bool helps =
        std::any_of(request.roles.begin(), request.roles.end(), [&](const GangRole& r) {
          return empty_fit(core_.classes_.get(r.task_class), node).slots > 0;
        });
    if (!helps) continue;
    if (++tries > kMostTries) break;
    const bool ready = node.spec.ready;
    const bool schedulable = node.spec.schedulable;
    node.spec.ready = node.spec.schedulable = true;
    pool.state().retouch(id);
    const bool works = fits(pool, w, requirement, request);
    core_.nodes_[id.index()].spec.ready = ready;
    core_.nodes_[id.index()].spec.schedulable = schedulable;
    pool.state().retouch(id);
    if (works) {
      const std::string verb = ready ? "uncordon node " : "bring back node ";
      return Change{ChangeKind::kUncordon, node.spec.name, {}, 0, {}, verb + node.spec.name};
    }
  }
  return std::nullopt;
}

std::optional<Change> Explainer::by_lower_count(PoolCore& pool, const WorkloadRecord& w,
                                                const Requirement& requirement,
                                                const GangRequest& request) {
  if (request.roles.size() != 1 || request.roles.front().indices.size() < 2) return std::nullopt;
  const GangRole& role = request.roles.front();
  const std::string& name =
      core_.shapes_.get(w.shape).roles[static_cast<std::size_t>(role.role)].name;
  std::size_t low = 0;
  std::size_t high = role.indices.size();
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    GangRequest smaller = request;
    smaller.roles.front().indices.resize(middle);
    (fits(pool, w, requirement, smaller) ? low : high) = middle;
  }
  if (low == 0) return std::nullopt;
  const auto n = static_cast<std::int64_t>(low);
  return Change{
      ChangeKind::kLowerCount, name, {}, n, {}, "start with " + counted(n, "task") + " of " + name};
}

std::optional<Change> Explainer::by_lower_request(PoolCore& pool, const WorkloadRecord& w,
                                                  const Requirement& requirement,
                                                  const GangRequest& request) {
  for (std::size_t i = 0; i < request.roles.size(); ++i) {
    const GangRole& role = request.roles[i];
    const RoleSpec& spec = core_.shapes_.get(w.shape).roles[static_cast<std::size_t>(role.role)];
    const auto works = [&](const TaskRequest& changed) {
      GangRequest smaller = request;
      const Trial trial(core_, changed, spec.constraints);
      smaller.roles[i].task_class = trial.id();
      return fits(pool, w, requirement, smaller);
    };
    // Largest amount below the present one with which it fits; every lesser amount fits then too.
    const auto lowered =
        [&](const std::string& resource, std::int64_t now,
            const std::function<void(TaskRequest&, std::int64_t)>& set) -> std::optional<Change> {
      TaskRequest changed = spec.request;
      std::int64_t low = 0;
      std::int64_t high = now;
      while (high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        set(changed, middle);
        (works(changed) ? low : high) = middle;
      }
      // What a person would write: 0.04 of a GPU, not 0.048.
      if (resource == "gpu-portion" && low > kPortionStep) low -= low % kPortionStep;
      if (low == 0) return std::nullopt;
      set(changed, low);
      return Change{ChangeKind::kLowerRequest,
                    spec.name,
                    resource,
                    low,
                    {},
                    "ask " + request_text(changed) + " per task of " + spec.name};
    };
    std::optional<Change> change;
    const GpuRequest& gpu = spec.request.gpu;
    if (gpu.kind == GpuRequestKind::kPortion) {
      change = lowered("gpu-portion", gpu.portion.value,
                       [](TaskRequest& r, std::int64_t v) { r.gpu.portion = MilliGpu(v); });
    } else if (gpu.kind == GpuRequestKind::kMemory) {
      change = lowered("gpu-memory", gpu.memory.value,
                       [](TaskRequest& r, std::int64_t v) { r.gpu.memory = MiB(v); });
    }
    if (!change && gpu.count > 1) {
      change = lowered("gpu", gpu.count, [](TaskRequest& r, std::int64_t v) {
        r.gpu.count = static_cast<std::int32_t>(v);
      });
    }
    if (!change && spec.request.cpu.value > 0) {
      change = lowered("cpu", spec.request.cpu.value,
                       [](TaskRequest& r, std::int64_t v) { r.cpu = MilliCpu(v); });
    }
    if (!change && spec.request.memory.value > 0) {
      change = lowered("memory", spec.request.memory.value,
                       [](TaskRequest& r, std::int64_t v) { r.memory = Bytes(v); });
    }
    if (change) return change;
  }
  return std::nullopt;
}

std::optional<Change> Explainer::by_relaxed_topology(PoolCore& pool, const WorkloadRecord& w,
                                                     const Requirement& requirement,
                                                     const GangRequest& request) {
  const auto confined = [](const Goal& goal) { return goal.within != kWholePool; };
  if (confined(request.goal)) {
    GangRequest relaxed = request;
    relaxed.goal.within = kWholePool;
    if (fits(pool, w, requirement, relaxed)) {
      const std::string level = core_.shapes_.get(w.shape).topology.within;
      return Change{ChangeKind::kRelaxTopology,
                    w.name,
                    {},
                    0,
                    {},
                    "drop 'within: " + level + "' of " + w.name};
    }
  }
  for (std::size_t i = 0; i < request.roles.size(); ++i) {
    if (!confined(request.roles[i].goal)) continue;
    GangRequest relaxed = request;
    relaxed.roles[i].goal.within = kWholePool;
    if (!fits(pool, w, requirement, relaxed)) continue;
    const RoleSpec& role =
        core_.shapes_.get(w.shape).roles[static_cast<std::size_t>(request.roles[i].role)];
    return Change{ChangeKind::kRelaxTopology,
                  role.name,
                  {},
                  0,
                  {},
                  "drop 'within: " + role.topology.within + "' of role " + role.name};
  }
  return std::nullopt;
}

// Whether the gates admit the request wherever in the pool it lands (2.3.b).
bool Explainer::admits_dearest(PoolCore& pool, const WorkloadRecord& w,
                               const Requirement& requirement, const GangRequest& request) {
  ResourceVector demand;
  for (const GangRole& role : request.roles) {
    demand.add(core_.greatest_charge(pool, role.task_class),
               static_cast<std::int64_t>(role.indices.size()));
  }
  const GateRequest gate{pool.state().id, w.queue, &demand, requirement.non_preemptible};
  return gates_open(core_.queues_, core_.resources_, gate, core_.now_, nullptr);
}

// Empty nodes like one that is there. For one class without goals, as many as the free places lack;
// else as many as hold the whole request, which lie in one domain with the node they are like.
std::optional<Change> Explainer::by_more_nodes(PoolCore& pool, const WorkloadRecord& w,
                                               const Requirement& requirement,
                                               const GangRequest& request) {
  bool plain = request.goal.within == kWholePool;
  std::vector<Level> required{request.goal.within};
  for (const GangRole& role : request.roles) {
    plain = plain && role.goal.within == kWholePool && role.segment_size == 0 &&
            role.pinned.size() == 0;
    required.push_back(role.goal.within);
    if (role.segment_size > 0) required.push_back(role.segment_goal.within);
  }
  std::erase(required, kWholePool);
  // What runs already holds the rest to its domain.
  if (w.running > 0 && !required.empty()) return std::nullopt;
  const bool by_host = std::count(required.begin(), required.end(), pool.state().host_level()) > 0;
  plain = plain && request.roles.size() == 1;
  if (!admits_dearest(pool, w, requirement, request)) return std::nullopt;
  const NodeState* best = nullptr;
  std::int64_t best_count = 0;
  for (const NodeId id : pool.members) {
    const NodeState& node = core_.nodes_[id.index()];
    std::int64_t count = 0;
    for (const GangRole& role : request.roles) {
      const TaskClass& task = core_.classes_.get(role.task_class);
      const std::int64_t each = empty_fit(task, node).slots;
      if (each == 0) {
        count = 0;
        break;
      }
      std::int64_t need = static_cast<std::int64_t>(role.indices.size());
      if (plain) need -= pool.placement->index(role.task_class).slots(request.range);
      count += (need + each - 1) / each;
    }
    if (count <= 0 || (best && count >= best_count)) continue;
    if (by_host && count > 1) continue;
    const bool placed = std::all_of(required.begin(), required.end(), [&](Level level) {
      return pool.state().domain_of(level, node.slot).size() > 0;
    });
    if (!placed) continue;
    best = &node;
    best_count = count;
  }
  if (!best) return std::nullopt;
  return Change{ChangeKind::kAddNodes,
                best->spec.name,
                {},
                best_count,
                {},
                "add " + counted(best_count, "node") + " like " + best->spec.name};
}

}  // namespace fairlead::sched
