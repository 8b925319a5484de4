#include "sim/whatif/ahead.h"

#include <algorithm>
#include <set>
#include <utility>

#include "sched/scheduler.h"

namespace fairlead::sim {
namespace {

// In the order in which a server tells them to its own core.
std::vector<sched::Event> events_of(const PresentState& present) {
  std::vector<sched::Event> out;
  ClusterSpec empty = present.cluster;
  empty.workloads.clear();
  for (auto& [at, event] : sched::events_of(empty)) out.push_back(std::move(event));
  for (const sched::RuntimesRestored& one : present.runtimes) out.emplace_back(one);
  std::vector<const WorkloadEntry*> order;
  for (const WorkloadEntry& entry : present.cluster.workloads) order.push_back(&entry);
  std::stable_sort(order.begin(), order.end(), [](const WorkloadEntry* a, const WorkloadEntry* b) {
    return a->submitted < b->submitted;
  });
  for (const WorkloadEntry* entry : order) out.emplace_back(sched::WorkloadAdopted{*entry});
  for (const sched::UsageRestored& one : present.usage) out.emplace_back(one);
  return out;
}

}  // namespace

Result<History> history_ahead(const PresentState& present, Duration length) {
  History out;
  out.recorded = false;
  out.start = present.at;
  out.end = present.at + length;
  FAIRLEAD_ASSIGN(sched::Scheduler core, sched::Scheduler::create(out.header.options));
  for (sched::Event& event : events_of(present)) {
    FAIRLEAD_TRY(core.apply(present.at, event));
    out.items.push_back(
        {present.at, static_cast<std::int64_t>(out.items.size()) + 1, std::move(event)});
  }
  out.items.push_back({present.at, static_cast<std::int64_t>(out.items.size()) + 1, std::nullopt});
  const std::set<std::string> frozen(present.frozen.begin(), present.frozen.end());
  for (const WorkloadEntry& entry : present.cluster.workloads) {
    const std::string& name = entry.spec.name;
    Life& life = out.lives[{name, 1}];
    if (!frozen.contains(name)) life.usual = core.usual_runtime(name);
    if (!life.usual) ++out.unknown;
  }
  return out;
}

}  // namespace fairlead::sim
