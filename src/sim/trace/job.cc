#include "sim/trace/job.h"

#include <algorithm>

#include "base/check.h"

namespace fairlead::sim {

std::int64_t job_milli(const TraceJob& job) {
  const GpuRequest& gpu = job.request.gpu;
  std::int64_t per_task = 0;
  if (gpu.kind == GpuRequestKind::kDevices) per_task = kMilli * gpu.count;
  if (gpu.kind == GpuRequestKind::kPortion) per_task = gpu.portion.value * gpu.count;
  return per_task * job.tasks + kMilli * job.last_gpus;
}

void shape_gang(TraceJob& job, std::int64_t gpus, std::int64_t per_node) {
  FAIRLEAD_CHECK(gpus > 0 && per_node > 0, "a gang has devices and nodes have room");
  job.request.gpu.kind = GpuRequestKind::kDevices;
  if (gpus <= per_node) {
    job.request.gpu.count = static_cast<std::int32_t>(gpus);
    return;
  }
  job.kind = WorkloadKind::kDistributed;
  job.request.gpu.count = static_cast<std::int32_t>(per_node);
  job.tasks = static_cast<std::int32_t>(gpus / per_node);
  job.last_gpus = static_cast<std::int32_t>(gpus % per_node);
}

WorkloadSpec workload_of(const TraceJob& job) {
  WorkloadSpec spec;
  spec.name = job.name;
  spec.queue = job.project;
  spec.kind = job.kind;
  spec.priority = job.priority;
  spec.user = job.user;
  RoleSpec role;
  role.count = job.tasks;
  role.min = job.tasks;
  role.request = job.request;
  role.constraints.device_classes = job.device_classes;
  spec.roles.push_back(role);
  if (job.last_gpus > 0) {
    role.name = "last";
    role.count = 1;
    role.min = 1;
    role.request.gpu.count = job.last_gpus;
    spec.roles.push_back(role);
  }
  return spec;
}

void sort_by_submit(std::vector<TraceJob>& jobs) {
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const TraceJob& a, const TraceJob& b) { return a.submit < b.submit; });
}

}  // namespace fairlead::sim
