#include "sched/state/task_class.h"

#include <algorithm>

#include "base/check.h"
#include "base/wide.h"

namespace fairlead::sched {

ClassId DeviceClasses::define(const DeviceClass& device_class) {
  const auto it = by_name_.find(device_class.name);
  if (it != by_name_.end()) return it->second;
  const ClassId id(classes_.size());
  classes_.push_back(device_class);
  by_name_.emplace(device_class.name, id);
  return id;
}

const DeviceClass* DeviceClasses::find(const std::string& name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : &classes_[it->second.index()];
}

ClassId DeviceClasses::id(const std::string& name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? ClassId{} : it->second;
}

std::int64_t device_mib(const TaskClass& task, const DeviceClass& device) {
  switch (task.gpu_kind) {
    case GpuRequestKind::kNone:
      return 0;
    case GpuRequestKind::kDevices:
      return device.memory.value;
    case GpuRequestKind::kPortion:
      return mul_div_floor(task.milli, device.memory.value, kMilli);
    case GpuRequestKind::kMemory:
      return task.mib;
    case GpuRequestKind::kMig: {
      const std::int32_t profile = mig_profile_index(task, device);
      if (profile < 0) return 0;
      return device.mig_profiles[static_cast<std::size_t>(profile)].memory.value;
    }
  }
  return 0;
}

std::int64_t gpu_charge_milli(const TaskClass& task, const DeviceClass& device) {
  switch (task.gpu_kind) {
    case GpuRequestKind::kNone:
      return 0;
    case GpuRequestKind::kDevices:
    case GpuRequestKind::kPortion:
      return task.milli * task.gpu_count;
    case GpuRequestKind::kMemory:
      return mul_div_ceil(kMilli, task.mib, device.memory.value) * task.gpu_count;
    case GpuRequestKind::kMig: {
      const std::int32_t profile = mig_profile_index(task, device);
      if (profile < 0 || device.mig_compute_slices == 0) return 0;
      return mul_div_floor(kMilli,
                           device.mig_profiles[static_cast<std::size_t>(profile)].compute_slices,
                           device.mig_compute_slices) *
             task.gpu_count;
    }
  }
  return 0;
}

std::int32_t mig_profile_index(const TaskClass& task, const DeviceClass& device) {
  for (std::size_t p = 0; p < device.mig_profiles.size(); ++p) {
    if (device.mig_profiles[p].name == task.request.gpu.mig_profile)
      return static_cast<std::int32_t>(p);
  }
  return -1;
}

TaskClassId TaskClasses::intern(const TaskRequest& request, const Constraints& constraints,
                                bool* fresh) {
  const TaskClassId next = free_.empty() ? TaskClassId(classes_.size()) : free_.back();
  const auto [it, inserted] = by_key_.try_emplace({request, constraints}, next);
  if (fresh) *fresh = inserted;
  if (!inserted) {
    if (holds(it->second) == 0) keep(it->second);
    return it->second;
  }
  TaskClass task;
  task.id = it->second;
  task.table = this;
  task.request = request;
  task.constraints = constraints;
  task.gpu_kind = request.gpu.kind;
  task.gpu_count = request.gpu.none() ? 0 : request.gpu.count;
  if (request.gpu.kind == GpuRequestKind::kDevices) task.milli = kMilli;
  if (request.gpu.kind == GpuRequestKind::kPortion) task.milli = request.gpu.portion.value;
  if (request.gpu.kind == GpuRequestKind::kMemory) task.mib = request.gpu.memory.value;
  task.cpu = request.cpu.value;
  task.memory = request.memory.value;
  for (const auto& [name, amount] : request.extended) {
    if (amount > 0) task.extended.emplace_back(resources_.intern(name).index(), amount);
  }
  task.numa_required = request.numa == NumaPolicy::kRequired && task.needs_gpu() && task.cpu > 0;
  compile_devices(task);
  if (free_.empty()) {
    classes_.push_back(std::move(task));
    uses_.emplace_back();
  } else {
    free_.pop_back();
    classes_[next.index()] = std::move(task);
  }
  uses_[next.index()].alive = true;
  keep(next);
  return next;
}

// Puts it behind the others that are unused.
void TaskClasses::keep(TaskClassId id) {
  unkeep(id);
  Use& use = uses_[id.index()];
  use.place = unused_.insert(unused_.end(), id);
  use.kept = true;
}

void TaskClasses::unkeep(TaskClassId id) {
  Use& use = uses_[id.index()];
  if (use.kept) unused_.erase(use.place);
  use.kept = false;
}

void TaskClasses::free(TaskClassId id) {
  TaskClass& task = classes_[id.index()];
  by_key_.erase({task.request, task.constraints});
  task = TaskClass{};
  uses_[id.index()] = Use{};
  free_.push_back(id);
}

void TaskClasses::hold(TaskClassId id) {
  FAIRLEAD_CHECK(alive(id), "what is held is there");
  if (uses_[id.index()].holds++ == 0) unkeep(id);
}

void TaskClasses::release(TaskClassId id) {
  FAIRLEAD_CHECK(holds(id) > 0, "what is released was held");
  if (--uses_[id.index()].holds == 0) keep(id);
}

void TaskClasses::remember(TaskClassId id) {
  FAIRLEAD_CHECK(alive(id), "what is remembered is there");
  ++uses_[id.index()].remembered;
}

void TaskClasses::forget(TaskClassId id) {
  Use& use = uses_[id.index()];
  FAIRLEAD_CHECK(use.remembered > 0, "what is forgotten was remembered");
  if (--use.remembered == 0 && use.holds == 0 && !use.kept) free(id);
}

std::vector<TaskClassId> TaskClasses::retire() {
  std::vector<TaskClassId> out;
  while (unused_.size() > kKeptUnused) {
    const TaskClassId id = unused_.front();
    unkeep(id);
    out.push_back(id);
    if (remembered(id) == 0) free(id);
  }
  return out;
}

void TaskClasses::discard(TaskClassId id) {
  FAIRLEAD_CHECK(holds(id) == 0, "a trial is held by nobody");
  unkeep(id);
  if (remembered(id) == 0) free(id);
}

TaskClassId TaskClasses::confined(TaskClassId id, const std::vector<std::string>& device_classes) {
  const TaskClass& task = get(id);
  Constraints constraints = task.constraints;
  constraints.device_classes.clear();
  for (const std::string& name : device_classes) {
    const ClassId c = devices_.id(name);
    if (c.valid() && task.on_device[c.index()].allowed) constraints.device_classes.push_back(name);
  }
  // An empty list would mean every class.
  if (constraints.device_classes.empty()) constraints.device_classes.emplace_back();
  return intern(task.request, constraints);
}

void TaskClasses::refresh() {
  for (TaskClass& task : classes_) {
    if (task.table) compile_devices(task);
  }
}

void TaskClasses::compile_devices(TaskClass& task) const {
  for (std::size_t c = task.on_device.size(); c < devices_.size(); ++c) {
    const DeviceClass& device = devices_.get(ClassId(c));
    OnDevice on;
    on.device_class = &device;
    on.mib = device_mib(task, device);
    on.charge_milli = gpu_charge_milli(task, device);
    on.mig_profile = mig_profile_index(task, device);
    const auto& named = task.constraints.device_classes;
    on.allowed = named.empty() || std::find(named.begin(), named.end(), device.name) != named.end();
    if (task.gpu_kind == GpuRequestKind::kMig && on.mig_profile < 0) on.allowed = false;
    if (task.gpu_kind == GpuRequestKind::kMemory && on.mib > device.memory.value)
      on.allowed = false;
    task.on_device.push_back(on);
  }
}

}  // namespace fairlead::sched
