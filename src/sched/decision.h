// Decisions: everything the scheduling core ever says. Engines carry them out; a decision is final
// for the core's own state the moment it is returned. What a stopped task held is given to others
// at once: an engine starts a task when what it holds was really released, which takes as long as
// the notice and grace of those before it (7.8).
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "base/time.h"
#include "model/units.h"
#include "sched/ids.h"

namespace fairlead::sched {

// A part of one device, held by one task (law 5). `milli` and `memory` are what is taken from the
// device; `mig_start` is the first memory slice of a MIG instance, -1 for anything else.
struct DeviceClaim {
  std::uint16_t device = 0;  // position in the node's device list
  std::int16_t mig_start = -1;
  std::int16_t mig_profile = -1;  // position in the device class's profile list
  std::int16_t mig_memory_slices = 0;
  std::int16_t mig_compute_slices = 0;
  MilliGpu milli;
  MiB memory;

  friend bool operator==(const DeviceClaim&, const DeviceClaim&) = default;
};

// CPUs taken from one NUMA cell of the node.
struct CpuClaim {
  std::uint16_t cell = 0;
  MilliCpu cpu;
  friend bool operator==(const CpuClaim&, const CpuClaim&) = default;
};

struct TaskPlacement {
  std::int32_t role = 0;   // position in the workload's role list
  std::int32_t index = 0;  // task of the role
  NodeId node;
  boost::container::small_vector<DeviceClaim, 1> devices;
  boost::container::small_vector<CpuClaim, 1> cpus;
};

struct Started {
  WorkloadId workload;
  PoolId pool;
  bool growth = false;  // false: the gang (or its repair); true: an elastic extra or a later task
  std::vector<TaskPlacement> tasks;
};

enum class StopCause : std::uint8_t {
  kShrunk,      // 8.1: the role's count was lowered
  kNodeShrunk,  // the node no longer has what the task holds; the task waits again
  kReclaimed,   // 7.1: for a workload of another queue; the task waits again
  kPreempted,   // 7.2: for one of the same queue with higher priority; the task waits again
  kMoved,       // 7.3: it starts again elsewhere in the same decision
  kStale,       // 8.3: it ran below its minimum for too long; all of it waits again
};

struct Stopped {
  WorkloadId workload;
  StopCause cause = StopCause::kShrunk;
  std::vector<std::pair<std::int32_t, std::int32_t>> tasks;  // (role, index)
  WorkloadId claimant;                                       // rule 7: for whom
  std::string text;  // rules 7, 8.3: why, with the numbers (10.3)
  // 7.8: what a victim gets between its notice and its end. It goes back to its place in the queue,
  // that of when it was submitted.
  Duration grace;
  Instant submitted;
};

// 8.2: all completions succeeded, or the back-off limit was passed. Also every gang whose tasks
// have all succeeded. The workload is gone from the core afterwards.
struct Finished {
  WorkloadId workload;
  std::string name;
  bool succeeded = true;
};

using Decision = std::variant<Started, Stopped, Finished>;

}  // namespace fairlead::sched
