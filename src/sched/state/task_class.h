// Task classes: one per distinct (request, constraints), shared by every task that asks the same.
//
// All that placement asks of a task is here in compiled form, so that fits and scores are cached
// per (class, node) and not per task.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/workload.h"
#include "sched/ids.h"
#include "sched/state/interner.h"
#include "sched/state/node_state.h"
#include "sched/state/resource_vector.h"

namespace fairlead::sched {

using ResourceNames = Interner<Id<struct ResourceTag>>;

// What a task of a class would take of a device of one device class.
struct OnDevice {
  const DeviceClass* device_class = nullptr;
  bool allowed = false;  // by the constraints, and the device class offers what is asked
  std::int64_t mib = 0;
  std::int64_t charge_milli = 0;  // whole task, before the exchange rate
  std::int32_t mig_profile = -1;
};

struct TaskClass {
  TaskClassId id;
  TaskRequest request;
  Constraints constraints;
  // Compiled:
  GpuRequestKind gpu_kind = GpuRequestKind::kNone;
  std::int32_t gpu_count = 0;
  std::int64_t milli = 0;  // per device: 1000 for whole ones, the portion, 0 for memory and MIG
  std::int64_t mib = 0;    // per device, memory requests
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
  ExtendedAmounts extended;
  bool numa_required = false;
  std::vector<OnDevice> on_device;  // by ClassId

  bool needs_gpu() const { return gpu_kind != GpuRequestKind::kNone; }
  HostClaim host_claim() const { return {cpu, memory}; }
};

// Device classes known to the core, by ClassId.
class DeviceClasses {
 public:
  ClassId define(const DeviceClass& device_class);
  const DeviceClass* find(const std::string& name) const;
  ClassId id(const std::string& name) const;  // invalid if unknown
  const DeviceClass& get(ClassId id) const { return classes_[id.index()]; }
  std::size_t size() const { return classes_.size(); }

 private:
  std::deque<DeviceClass> classes_;  // references stay valid
  std::map<std::string, ClassId> by_name_;
};

// What a task of `task` takes of a device of `device` (MiB): floor(portion × memory) for a portion,
// so that portions that add up to one device always fit on it (2.6).
std::int64_t device_mib(const TaskClass& task, const DeviceClass& device);

// Quota charge of one task, milli-GPU before the exchange rate: 2.1 whole devices, 2.2 portions,
// 2.3 ceil(1000·M / device memory), 2.5 floor(1000 · compute slices / slices of the device).
std::int64_t gpu_charge_milli(const TaskClass& task, const DeviceClass& device);

// Position of the profile the task asks for among the device class's profiles; -1 if it has none.
std::int32_t mig_profile_index(const TaskClass& task, const DeviceClass& device);

class TaskClasses {
 public:
  TaskClasses(ResourceNames& resources, const DeviceClasses& devices)
      : resources_(resources), devices_(devices) {}

  TaskClassId intern(const TaskRequest& request, const Constraints& constraints);
  const TaskClass& get(TaskClassId id) const { return classes_[id.index()]; }
  std::size_t size() const { return classes_.size(); }

  // The same class confined to devices of the named classes, of those it allows.
  TaskClassId confined(TaskClassId id, const std::vector<std::string>& device_classes);

  // Device classes were added: extends on_device of every class.
  void refresh();

 private:
  using Key = std::pair<TaskRequest, Constraints>;
  void compile_devices(TaskClass& task) const;

  ResourceNames& resources_;
  const DeviceClasses& devices_;
  std::map<Key, TaskClassId> by_key_;
  std::deque<TaskClass> classes_;  // references stay valid
};

}  // namespace fairlead::sched
