// A whole cluster as one document states it: topology levels, classes, pools, nodes, queues, nodes
// that people keep, and the workloads pending or running there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/device.h"
#include "model/node.h"
#include "model/pool.h"
#include "model/queue.h"
#include "model/reservation.h"
#include "model/workload.h"

namespace fairlead {

// Where a running task sits, as a document states it. `devices` are ids of devices of the node;
// empty lets the core choose, which is right for CPU-only tasks and for tests.
struct RunningTask {
  std::string role;
  std::int32_t index = 0;
  std::string node;
  std::vector<std::string> devices;
  std::optional<Instant> started = {};  // if not when the workload started
  friend bool operator==(const RunningTask&, const RunningTask&) = default;
};

// A task that is done and does not start again.
struct SucceededTask {
  std::string role;
  std::int32_t index = 0;
  friend bool operator==(const SucceededTask&, const SucceededTask&) = default;
};

struct WorkloadEntry {
  WorkloadSpec spec;
  Instant submitted;
  std::optional<Instant> started;
  std::vector<RunningTask> running = {};  // empty: pending
  std::vector<SucceededTask> succeeded = {};
  std::int32_t failures = 0;  // of its tasks so far (8.2)
  friend bool operator==(const WorkloadEntry&, const WorkloadEntry&) = default;
};

struct ClusterSpec {
  std::vector<std::string> topology_levels;  // widest first, without the host ("zone", "rack")
  std::vector<DeviceClass> device_classes;
  std::vector<PoolSpec> pools;  // "default" is always there, stated or not
  std::vector<NodeSpec> nodes;
  std::vector<QueueSpec> queues;
  std::vector<ReservationSpec> reservations = {};  // nodes that people keep (9.3)
  std::vector<WorkloadEntry> workloads;
  friend bool operator==(const ClusterSpec&, const ClusterSpec&) = default;
};

}  // namespace fairlead
