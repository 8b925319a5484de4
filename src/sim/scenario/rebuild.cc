#include "sim/scenario/rebuild.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/scenario/event_text.h"

namespace fairlead::sim {
namespace {

bool something_reserved(const sched::Scheduler& core) {
  if (!core.kept_by_people().empty()) return true;
  const auto names = core.workload_names();
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const auto view = core.workload(name);
    return view && view->reservation;
  });
}

// Whether it waits for a reason that a new core is not told. `reserved`: something is, and counts
// at gates (9.2.c).
bool outside_the_state(const sched::Scheduler& core, const std::string& name, bool reserved) {
  using enum sched::ReasonCode;
  const auto explanation = core.explain(name);
  if (!explanation) return false;
  return std::any_of(explanation->reasons.begin(), explanation->reasons.end(), [&](const auto& r) {
    return r.code == kBackingOff || r.code == kBudgetSpent || r.code == kSearchRanOut ||
           r.code == kReserved ||
           (reserved && (r.code == kOverLimit || r.code == kNonPreemptibleQuota));
  });
}

// The workload as it stands: what runs is told, the rest waits.
WorkloadEntry entry_of(const sched::WorkloadView& view, const WorkloadSpec& spec, bool may_grow) {
  WorkloadEntry entry;
  entry.spec = spec;
  entry.submitted = view.submitted;
  std::map<std::string, std::int32_t> next;  // role: tasks told so far
  for (const sched::TaskView& task : view.tasks) {
    if (!task.running) continue;
    RunningTask running{task.role, may_grow ? task.index : next[task.role], task.node,
                        task.devices};
    ++next[task.role];
    entry.running.push_back(std::move(running));
  }
  if (!entry.running.empty()) entry.started = view.submitted;
  if (may_grow) return entry;
  // Just what runs, as a workload that wants no more.
  entry.spec.completions = entry.spec.parallelism = 0;
  for (RoleSpec& role : entry.spec.roles) role.count = role.min = next[role.name];
  std::erase_if(entry.spec.roles, [](const RoleSpec& role) { return role.count == 0; });
  return entry;
}

// `patient`: asks for the explanation of everything that waits, to leave out what waits for other
// reasons than the state.
std::vector<std::string> starts_in_copy(const sched::Scheduler& core,
                                        const sched::SchedulerOptions& options,
                                        const Symbols& symbols, Instant now, bool patient) {
  // What rule 7 may take and rule 9 keeps depends on when things started, which a new core does not
  // know.
  sched::SchedulerOptions free_room_only = options;
  free_room_only.plan = free_room_only.reclaim = free_room_only.preempt =
      free_room_only.consolidate = false;
  auto copy = sched::Scheduler::create(free_room_only);
  if (!copy) return {};
  std::vector<std::string> complaints;
  const auto tell = [&](const sched::Event& event) {
    const auto told = copy->apply(now, event);
    if (!told) complaints.push_back(event_text(event) + ": " + told.error().text());
  };
  tell(sched::TopologyDefined{symbols.levels});
  for (const auto& [name, device_class] : symbols.classes) {
    tell(sched::DeviceClassDefined{device_class});
  }
  for (const auto& [name, pool] : symbols.pools) tell(sched::PoolDefined{pool});
  for (const std::string& name : core.node_names()) {
    tell(sched::NodeUpserted{symbols.nodes.at(name)});
  }
  for (const std::string& name : core.queue_names()) {
    tell(sched::QueueUpserted{symbols.queues.at(name)});
  }
  const bool reserved = something_reserved(core);
  std::vector<WorkloadSpec> waiting;
  for (const std::string& name : core.workload_names()) {
    const auto view = core.workload(name);
    const WorkloadSpec& spec = symbols.workloads.at(name);
    const bool left_out = patient && outside_the_state(core, name, reserved);
    // How many completions are left is not told to a new core.
    const bool may_grow = !left_out && spec.completions == 0 && view->succeeded == 0;
    if (view->running > 0) {
      tell(sched::WorkloadAdopted{entry_of(*view, spec, may_grow)});
    } else if (!left_out && view->succeeded == 0) {
      waiting.push_back(spec);
    }
  }
  if (!complaints.empty()) return complaints;
  // What could never start now was possible once, and is turned away here.
  for (WorkloadSpec& spec : waiting) {
    static_cast<void>(copy->apply(now, sched::WorkloadSubmitted{std::move(spec)}));
  }
  for (const sched::Decision& decision : copy->decide(now)) {
    complaints.push_back("a new core told the same state decides: " +
                         decision_text(decision, *copy));
  }
  return complaints;
}

}  // namespace

std::vector<std::string> audit_rest(const sched::Scheduler& core,
                                    const sched::SchedulerOptions& options, const Symbols& symbols,
                                    Instant now) {
  // An explanation costs as much as all that runs. Where even with everything nothing starts, none
  // is needed.
  if (starts_in_copy(core, options, symbols, now, false).empty()) return {};
  return starts_in_copy(core, options, symbols, now, true);
}

}  // namespace fairlead::sim
