#include "sim/scenario/scenario_size.h"

#include <type_traits>
#include <variant>

#include <fmt/format.h>

namespace fairlead::sim {
namespace {

std::int64_t tasks_of(const WorkloadSpec& spec) {
  std::int64_t tasks = 0;
  for (const RoleSpec& role : spec.roles) tasks += role.count;
  return tasks;
}

}  // namespace

void ScenarioSize::note(const sched::Event& event) {
  note_step();
  if (const auto* node = std::get_if<sched::NodeUpserted>(&event)) {
    ++nodes_;
    devices_ += static_cast<std::int64_t>(node->node.devices.size());
  } else if (const auto* submitted = std::get_if<sched::WorkloadSubmitted>(&event)) {
    ++workloads_;
    tasks_ += tasks_of(submitted->workload);
  } else if (const auto* adopted = std::get_if<sched::WorkloadAdopted>(&event)) {
    ++workloads_;
    tasks_ += tasks_of(adopted->entry.spec);
  } else if (const auto* changed = std::get_if<sched::WorkloadChanged>(&event)) {
    for (const sched::RoleChange& role : changed->roles) tasks_ += role.count.value_or(0);
  }
}

std::optional<Error> ScenarioSize::excess() const {
  struct Row {
    const char* what;
    std::int64_t is;
    std::int64_t most;
  };
  for (const Row& row :
       {Row{"steps", steps_, kMostSteps}, Row{"nodes", nodes_, kMostNodes},
        Row{"devices", devices_, kMostDevices}, Row{"workloads", workloads_, kMostWorkloads},
        Row{"tasks at once", tasks_, kMostTasks}}) {
    if (row.is <= row.most) continue;
    return Error{ErrorCode::kOutOfRange,
                 fmt::format("with this the scenario has {} {} in all; allowed are {}", row.is,
                             row.what, row.most),
                 {},
                 {},
                 "make it smaller; for large loads there is fairlead simulate"};
  }
  return std::nullopt;
}

}  // namespace fairlead::sim
