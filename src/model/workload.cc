#include "model/workload.h"

#include <array>
#include <utility>

namespace fairlead {
namespace {

constexpr std::array<std::pair<std::string_view, std::int32_t>, 4> kClasses{
    {{"train", 50}, {"build-preemptible", 75}, {"build", 100}, {"inference", 125}}};

constexpr std::int32_t kNonPreemptibleFrom = 100;

}  // namespace

std::optional<std::int32_t> priority_of_class(const std::string& name) {
  for (const auto& [known, priority] : kClasses) {
    if (known == name) return priority;
  }
  return std::nullopt;
}

std::int32_t default_priority(WorkloadKind kind) {
  switch (kind) {
    case WorkloadKind::kWorkspace:
      return 100;
    case WorkloadKind::kInference:
      return 125;
    case WorkloadKind::kTraining:
    case WorkloadKind::kDistributed:
    case WorkloadKind::kExternal:
      break;
  }
  return 50;
}

Preemptibility default_preemptibility(std::int32_t priority) {
  return priority >= kNonPreemptibleFrom ? Preemptibility::kNonPreemptible
                                         : Preemptibility::kPreemptible;
}

}  // namespace fairlead
