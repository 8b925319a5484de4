// What even an empty pool could not start, and the nearest request that it could (semantics 10.1).
#include <algorithm>
#include <map>
#include <utility>

#include "sched/explain/explainer.h"
#include "sched/explain/text.h"

namespace fairlead::sched {
namespace {

// Largest value in [1, high) for which `fits` holds, if it holds for smaller ones; 0 if for none.
std::int64_t largest_below(std::int64_t high, const std::function<bool(std::int64_t)>& fits) {
  std::int64_t low = 0;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    if (fits(middle)) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace

std::int64_t Explainer::empty_places(PoolCore& pool, const TaskRequest& request,
                                     const Constraints& constraints) {
  return pool.placement->index(Trial(core_, request, constraints).id()).empty_total();
}

std::optional<Change> Explainer::nearest(PoolCore& pool, const RoleSpec& role) {
  const auto try_request = [&](const TaskRequest& r) {
    return empty_places(pool, r, role.constraints) > 0;
  };
  const auto lowered = [&](const std::string& resource, std::int64_t amount, const TaskRequest& r) {
    Change change{ChangeKind::kLowerRequest, role.name, resource, amount, {}, {}};
    change.text = "ask " + request_text(r) + " per task of " + role.name;
    return change;
  };
  TaskRequest r = role.request;
  const GpuRequest& gpu = role.request.gpu;
  if (gpu.count > 1) {
    const std::int64_t n = largest_below(gpu.count, [&](std::int64_t k) {
      r.gpu.count = static_cast<std::int32_t>(k);
      return try_request(r);
    });
    if (n > 0) {
      r.gpu.count = static_cast<std::int32_t>(n);
      return lowered("gpu", n, r);
    }
    r = role.request;
  }
  if (gpu.kind == GpuRequestKind::kMemory) {
    const std::int64_t mib = largest_below(gpu.memory.value, [&](std::int64_t m) {
      r.gpu.memory = MiB(m);
      return try_request(r);
    });
    if (mib > 0) {
      r.gpu.memory = MiB(mib);
      return lowered("gpu-memory", mib, r);
    }
    r = role.request;
  }
  if (r.cpu.value > 0) {
    r.cpu = MilliCpu(0);
    if (try_request(r)) {
      const std::int64_t cpu = largest_below(role.request.cpu.value, [&](std::int64_t c) {
        r.cpu = MilliCpu(c);
        return try_request(r);
      });
      r.cpu = MilliCpu(cpu);
      return lowered("cpu", cpu, r);
    }
    r = role.request;
  }
  if (r.memory.value > 0) {
    r.memory = Bytes(0);
    if (try_request(r)) {
      const std::int64_t bytes = largest_below(role.request.memory.value, [&](std::int64_t b) {
        r.memory = Bytes(b);
        return try_request(r);
      });
      r.memory = Bytes(bytes);
      return lowered("memory", bytes, r);
    }
    r = role.request;
  }
  for (const auto& [name, amount] : role.request.extended) {
    r.extended.erase(name);
    if (amount > 0 && try_request(r)) {
      const std::int64_t most = largest_below(amount, [&](std::int64_t a) {
        r.extended[name] = a;
        return try_request(r);
      });
      r.extended[name] = most;
      return lowered(name, most, r);
    }
    r = role.request;
  }
  return std::nullopt;
}

std::optional<Reason> Explainer::domain_too_small(PoolCore& pool, const TopologyGoal& topology,
                                                  const Needs& needs, const std::string& subject) {
  const Goal goal = core_.compile(pool, topology);
  if (goal.within == kWholePool) return std::nullopt;
  std::int64_t best = 0;
  std::int64_t asked = 0;
  std::int64_t asked_milli = 0;
  for (const auto& [task_class, n] : needs) {
    asked += n;
    asked_milli +=
        n * core_.classes_.get(task_class).milli * core_.classes_.get(task_class).gpu_count;
  }
  for (const Domain& d : pool.state().domains(goal.within, pool.state().all())) {
    std::int64_t milli = 0;
    for (std::uint32_t s = d.slots.begin; s < d.slots.end && needs.size() > 1; ++s) {
      milli += pool.state().node_at(s).empty.free_gpu_milli();
    }
    // Classes that fit one by one may still be too much together.
    if (needs.size() > 1 && milli < asked_milli) continue;
    std::int64_t held = 0;
    for (const auto& [task_class, n] : needs) {
      const ClassIndex& index = pool.placement->index(task_class);
      std::int64_t places = 0;
      for (std::uint32_t s = d.slots.begin; s < d.slots.end && places < n; ++s)
        places += index.empty_slots_at(s);
      held += std::min(places, n);
    }
    best = std::max(best, held);
    if (best == asked) return std::nullopt;
  }
  Reason reason;
  reason.code = ReasonCode::kNoDomain;
  reason.rule = "6.4";
  reason.never = true;
  reason.pool = pool.state().spec.name;
  reason.subject = topology.within;
  reason.asked = asked;
  reason.available = best;
  reason.text = subject + " asks " + counted(asked, "task") + " within one " + topology.within +
                "; no " + topology.within + " of pool " + reason.pool + " holds more than " +
                std::to_string(best) + " of them even when empty";
  reason.cheapest = Change{
      ChangeKind::kRelaxTopology, subject, {}, 0, {}, "drop 'within: " + topology.within + "'"};
  return reason;
}

std::optional<Reason> Explainer::impossible_in(PoolCore& pool, const Shape& shape,
                                               const WorkloadRecord* w) {
  if (pool.members.empty()) return std::nullopt;
  core_.ensure_ordered(pool);
  const auto least = [&](std::size_t r) {
    return std::max(0, shape.roles[r].min - (w ? w->roles[r].succeeded : 0));
  };
  Needs all;
  for (std::size_t r = 0; r < shape.roles.size(); ++r) {
    const RoleSpec& role = shape.roles[r];
    const std::int64_t n = shape.independent ? 1 : std::max(least(r), w ? 0 : 1);
    const ClassIndex& index = pool.placement->index(shape.classes[r]);
    auto same = std::find_if(all.begin(), all.end(),
                             [&](const auto& need) { return need.first == shape.classes[r]; });
    if (same == all.end()) {
      all.emplace_back(shape.classes[r], 0);
      same = all.end() - 1;
    }
    if (!shape.independent) same->second += least(r);
    const std::int64_t need = std::max(same->second, n);
    if (index.empty_total() >= need) continue;
    Reason reason;
    reason.code = ReasonCode::kNoRoom;
    reason.rule = "6.1";
    reason.never = true;
    reason.pool = pool.state().spec.name;
    reason.subject = role.name;
    reason.asked = need;
    reason.available = index.empty_total();
    if (index.empty_total() > 0) {
      reason.text = "asks " + counted(need, "task") + " of " + request_text(role.request) +
                    "; pool " + reason.pool + " holds " + std::to_string(reason.available) +
                    " even when empty";
      reason.cheapest =
          Change{ChangeKind::kLowerCount,
                 role.name,
                 {},
                 reason.available,
                 {},
                 "ask at most " + counted(reason.available, "task") + " of " + role.name};
    } else {
      reason.text = "no node of pool " + reason.pool + " could ever hold a task of " +
                    request_text(role.request);
      std::map<Filter, std::int64_t> filters;
      for (std::uint32_t s = 0; s < pool.state().slot_count(); ++s) {
        ++filters[empty_fit(index.task(), pool.state().node_at(s)).rejected_by];
      }
      std::string counts;
      for (const auto& [filter, nodes] : filters) {
        reason.filters.push_back({std::string(filter_name(filter)), nodes});
        counts += (counts.empty() ? "" : ", ") + std::to_string(nodes) + " by " +
                  std::string(filter_name(filter));
      }
      reason.text += " (nodes turned away: " + counts + ")";
      reason.cheapest = nearest(pool, role);
    }
    return reason;
  }
  if (shape.independent) return std::nullopt;
  if (auto reason = domain_too_small(pool, shape.topology, all, "the workload")) return reason;
  for (std::size_t r = 0; r < shape.roles.size(); ++r) {
    const RoleSpec& role = shape.roles[r];
    if (w && least(r) == 0) continue;
    const Needs own{{shape.classes[r], least(r)}};
    if (auto reason = domain_too_small(pool, role.topology, own, role.name)) return reason;
    // Which tasks of a segment are still needed is not worth telling.
    if (role.segment_size == 0 || least(r) < role.min) continue;
    const Needs segment{{shape.classes[r], std::min(role.segment_size, std::max(role.min, 1))}};
    if (auto reason =
            domain_too_small(pool, role.segment_topology, segment, "a segment of " + role.name)) {
      return reason;
    }
  }
  return std::nullopt;
}

Result<void> Explainer::check_possible(const Shape& shape, const WorkloadSpec& spec) {
  std::optional<Reason> first;
  for (const std::string& name : shape.pools) {
    auto reason = impossible_in(*core_.pools_[core_.find_pool(name).index()], shape, nullptr);
    if (!reason) return {};
    if (!first) first = std::move(reason);
  }
  Error error;
  error.code = ErrorCode::kImpossible;
  error.field = "roles[" + first->subject + "]";
  error.message = "workload '" + spec.name + "' could never start: " + first->text;
  if (first->cheapest) error.cure = "nearest that fits: " + first->cheapest->text;
  return fail(std::move(error));
}

}  // namespace fairlead::sched
