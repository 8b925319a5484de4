// Read-only views of the core's state by name, for people and reports. Not for hot paths.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/units.h"

namespace fairlead::sched {

enum class WorkloadState : std::uint8_t { kPending, kRunning };

struct TaskView {
  std::string role;
  std::int32_t index = 0;
  bool running = false;
  std::string node;
  std::vector<std::string> devices;  // ids
  std::vector<std::int64_t> milli;   // per device
  std::vector<std::int64_t> mib;     // per device
  std::vector<std::int32_t> mig_start;
  std::vector<std::int32_t> cpu_cells;
};

// What is kept for a workload that waits (9.2).
struct ReservationView {
  std::string pool;
  Instant start;                   // it starts then at the latest, unless something happens outside
  Instant promised;                // the start that was promised first
  bool declared = true;            // all runtimes that this rests on are declared maxima
  std::vector<std::string> nodes;  // by name
  std::int64_t tasks = 0;
};

struct WorkloadView {
  std::string name;
  std::string queue;
  std::string pool;  // where it runs; empty while pending
  WorkloadState state = WorkloadState::kPending;
  std::int32_t running = 0;  // tasks
  std::int32_t wanted = 0;   // tasks wanted now, the running ones included
  std::int32_t succeeded = 0;
  std::int32_t failures = 0;
  Instant submitted;
  std::optional<ReservationView> reservation;
  std::vector<TaskView> tasks;  // running ones, by role and index
};

// Amounts by resource name, in the resource's unit.
using Amounts = std::map<std::string, std::int64_t>;

struct QueueView {
  std::string name;
  std::string parent;
  Amounts allocated;
  Amounts non_preemptible;
  Amounts requested;  // allocated + pending demand
  Amounts fair_share;
  Amounts quota;
  Amounts limit;
};

struct DeviceView {
  std::string id;
  std::string device_class;
  bool healthy = true;
  std::int64_t free_milli = 0;
  std::int64_t free_mib = 0;
  std::vector<std::string> holders;  // workloads
};

struct NodeView {
  std::string name;
  std::string pool;
  bool ready = true;
  bool schedulable = true;
  std::int64_t free_cpu_milli = 0;
  std::int64_t free_memory = 0;
  Amounts free_extended;
  std::vector<DeviceView> devices;
};

struct PoolView {
  std::string name;
  Amounts capacity;  // of ready, schedulable nodes and healthy devices
  Amounts allocated;
};

// Nodes that a person keeps (9.3).
struct KeptView {
  std::string name;
  std::string pool;
  Instant from;
  Instant until;
  std::vector<std::string> nodes;
  std::vector<std::string> queues;  // who may use them
};

// Nodes that would serve what waits with its gates open, beside those there are: so many like this
// one, for so many workloads and tasks of theirs.
struct NodeDemandView {
  std::string pool;
  std::string like;
  std::int64_t nodes = 0;
  std::int64_t workloads = 0;
  std::int64_t tasks = 0;
};

}  // namespace fairlead::sched
