// Task classes: one per distinct (request, constraints), shared by every task that asks the same.
//
// All that placement asks of a task is here in compiled form, so that fits and scores are cached
// per (class, node) and not per task.
//
// Shapes hold classes. One that nothing holds is kept for a while, so that a request that comes
// again finds its indices; then retire() ends its use, and its id is used again unless the mix of
// requests still remembers it. Cost: O(1) beside the map of requests.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
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

class TaskClasses;

struct TaskClass {
  TaskClassId id;
  TaskClasses* table = nullptr;  // that it belongs to
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

  // Classes that nothing holds and that are kept with their indices.
  static constexpr std::size_t kKeptUnused = 64;

  // Stays valid up to the next retire(), and while it is held. `fresh`: it was not there before.
  TaskClassId intern(const TaskRequest& request, const Constraints& constraints,
                     bool* fresh = nullptr);
  const TaskClass& get(TaskClassId id) const { return classes_[id.index()]; }
  std::size_t slots() const { return classes_.size(); }  // ids lie below; check alive()
  std::size_t size() const { return by_key_.size(); }
  bool alive(TaskClassId id) const { return uses_[id.index()].alive; }

  void hold(TaskClassId id);
  void release(TaskClassId id);
  std::int64_t holds(TaskClassId id) const { return uses_[id.index()].holds; }
  // The same for the mix of requests, which needs no index.
  void remember(TaskClassId id);
  void forget(TaskClassId id);
  std::int64_t remembered(TaskClassId id) const { return uses_[id.index()].remembered; }

  // Ends the use of classes that nothing holds, but for the last kKeptUnused: the caller drops
  // their indices. Longest unused first.
  std::vector<TaskClassId> retire();
  // Frees a class that was made for a trial. Requires: nothing holds it, and its indices are gone.
  void discard(TaskClassId id);

  // The same class confined to devices of the named classes, of those it allows.
  TaskClassId confined(TaskClassId id, const std::vector<std::string>& device_classes);

  // Device classes were added: extends on_device of every class.
  void refresh();

 private:
  using Key = std::pair<TaskRequest, Constraints>;
  struct Use {
    bool alive = false;
    std::int64_t holds = 0;
    std::int64_t remembered = 0;
    bool kept = false;  // stands in unused_
    std::list<TaskClassId>::iterator place;
  };
  void compile_devices(TaskClass& task) const;
  void keep(TaskClassId id);
  void unkeep(TaskClassId id);
  void free(TaskClassId id);

  ResourceNames& resources_;
  const DeviceClasses& devices_;
  std::map<Key, TaskClassId> by_key_;
  std::deque<TaskClass> classes_;  // references stay valid
  std::vector<Use> uses_;
  std::list<TaskClassId> unused_;  // longest unused first
  std::vector<TaskClassId> free_;
};

}  // namespace fairlead::sched
