// How large a scenario has become, and how large it may be.
//
// A line can name ten thousand nodes or a million tasks; what it makes must be held, played and
// verified. Counted is what was ever said, removed or not. Cost: O(1) per event and role.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "sched/event.h"

namespace fairlead::sim {

class ScenarioSize {
 public:
  static constexpr std::int64_t kMostSteps = 1'000'000;
  static constexpr std::int64_t kMostNodes = 20'000;
  static constexpr std::int64_t kMostDevices = 1'000'000;
  static constexpr std::int64_t kMostWorkloads = 100'000;
  static constexpr std::int64_t kMostTasks = 100'000;  // wanted at once

  void note(const sched::Event& event);
  void note_step() { ++steps_; }

  // What must be looked at to verify all of it: nodes, devices, workloads and tasks.
  std::int64_t things() const { return nodes_ + devices_ + workloads_ + tasks_; }

  // kOutOfRange, without a place, once there is more of something than allowed.
  std::optional<Error> excess() const;

 private:
  std::int64_t steps_ = 0;
  std::int64_t nodes_ = 0;
  std::int64_t devices_ = 0;
  std::int64_t workloads_ = 0;
  std::int64_t tasks_ = 0;
};

}  // namespace fairlead::sim
