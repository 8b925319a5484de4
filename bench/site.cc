#include "site.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>
#include <utility>

#include "base/check.h"

namespace fairlead::bench {
namespace {

constexpr std::int64_t kQueuesPerDepartment = 50;
constexpr std::int64_t kGiB = std::int64_t{1} << 30;

NodeSpec node_spec(std::int64_t i) {
  NodeSpec node;
  node.name = "node-" + std::to_string(i);
  node.cpu = MilliCpu(96'000);
  node.memory = Bytes(1024 * kGiB);
  node.numa = {{MilliCpu(48'000)}, {MilliCpu(48'000)}};
  node.topology = {"rack-" + std::to_string(i / kNodesPerRack)};
  for (std::int64_t d = 0; d < kDevicesPerNode; ++d) {
    DeviceSpec device;
    device.id = "gpu-" + std::to_string(d);
    device.device_class = "H100-80GB";
    device.numa = d < kDevicesPerNode / 2 ? 0 : 1;
    node.devices.push_back(std::move(device));
  }
  return node;
}

}  // namespace

std::int64_t resident_bytes() {
  long total = 0;
  long resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (!file) return 0;
  const int read = std::fscanf(file, "%ld %ld", &total, &resident);
  std::fclose(file);
  return read == 2 ? std::int64_t{resident} * sysconf(_SC_PAGESIZE) : 0;
}

WorkloadSpec gang(std::string name, std::string queue, std::int64_t milli_per_task,
                  std::int32_t tasks) {
  WorkloadSpec spec;
  spec.name = std::move(name);
  spec.queue = std::move(queue);
  RoleSpec role;
  role.count = tasks;
  role.min = tasks;
  if (milli_per_task < kMilli) {
    role.request.gpu.kind = GpuRequestKind::kPortion;
    role.request.gpu.count = 1;
    role.request.gpu.portion = MilliGpu(milli_per_task);
  } else {
    role.request.gpu.kind = GpuRequestKind::kDevices;
    role.request.gpu.count = static_cast<std::int32_t>(milli_per_task / kMilli);
  }
  role.request.cpu = MilliCpu(4 * milli_per_task);
  role.request.memory = Bytes(milli_per_task * (kGiB / 100));
  spec.roles.push_back(std::move(role));
  return spec;
}

Site::Site(const SiteScale& scale) : scale_(scale) {
  sched::SchedulerOptions options;
  options.reclaim = options.preempt = options.consolidate = scale.taking_back;
  auto scheduler = sched::Scheduler::create(options);
  FAIRLEAD_CHECK(scheduler.has_value(), "default options are valid");
  scheduler_ = std::make_unique<sched::Scheduler>(std::move(*scheduler));
  make_mix();
  memory_.before = resident_bytes();
  tell(sched::TopologyDefined{{"rack"}});
  tell(sched::DeviceClassDefined{*known_device_class("H100-80GB")});
  for (std::int64_t i = 0; i < scale.nodes; ++i) tell(sched::NodeUpserted{node_spec(i)});
  memory_.nodes = resident_bytes();
  for (std::int64_t i = 0; i < scale.queues; ++i) {
    if (i % kQueuesPerDepartment == 0) {
      QueueSpec department;
      department.name = "department-" + std::to_string(i / kQueuesPerDepartment);
      const std::int64_t share = scale.nodes * kDevicesPerNode * kMilli * kQueuesPerDepartment;
      department.pools["default"]["gpu"].quota = share / std::max(scale.queues, std::int64_t{1});
      tell(sched::QueueUpserted{department});
    }
    tell(sched::QueueUpserted{queue(i)});
  }
  memory_.queues = resident_bytes();
}

QueueSpec Site::queue(std::int64_t i) const {
  QueueSpec spec;
  spec.name = queue_name(i);
  spec.parent = "department-" + std::to_string(i / kQueuesPerDepartment);
  Entitlement& gpu = spec.pools["default"]["gpu"];
  gpu.quota = scale_.nodes * kDevicesPerNode * kMilli / scale_.queues;
  gpu.over_quota_weight = 1000 + 500 * (i % 3);
  return spec;
}

// Shares by what public traces show: most ask one device or less, few ask whole nodes, and the few
// large gangs hold much. About 1.3 devices a workload.
void Site::make_mix() {
  const std::vector<Shape> sizes = {
      {250, 1, 120, "", 4}, {500, 1, 220, "", 4},   {1000, 1, 460, "", 4}, {2000, 1, 120, "", 4},
      {4000, 1, 45, "", 4}, {8000, 1, 20, "", 4},   {8000, 2, 5, "", 4},   {8000, 4, 2, "rack", 4},
      {1000, 8, 4, "", 4},  {1000, 4, 4, "rack", 4}};
  for (const Shape& size : sizes) {
    for (const std::int64_t cpu : {2, 4, 6, 8}) {
      Shape shape = size;
      shape.cpu_per_device = cpu;
      mix_.push_back(shape);
    }
    Shape pinned = size;
    pinned.non_preemptible = true;
    mix_.push_back(pinned);
  }
  mix_[41].min = 4;  // eight wanted, four will do
  for (const Shape& shape : mix_) mix_weight_ += shape.weight;
}

WorkloadSpec Site::workload_of(const Shape& shape) {
  const auto queue = static_cast<std::int64_t>(
      rng_.below(static_cast<std::uint64_t>(std::max(scale_.queues, std::int64_t{1}))));
  WorkloadSpec spec =
      gang("w-" + std::to_string(next_name_++), queue_name(queue), shape.milli, shape.tasks);
  RoleSpec& role = spec.roles.front();
  role.request.cpu = MilliCpu(shape.cpu_per_device * shape.milli);
  role.topology.within = shape.within;
  if (shape.min > 0) role.min = shape.min;
  if (shape.non_preemptible) {
    spec.preemptibility = Preemptibility::kNonPreemptible;
    spec.priority = 100;
  }
  return spec;
}

WorkloadSpec Site::next_workload() {
  auto drawn = static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(mix_weight_)));
  for (const Shape& shape : mix_) {
    drawn -= shape.weight;
    if (drawn < 0) return workload_of(shape);
  }
  return workload_of(mix_.back());
}

void Site::tell(const sched::Event& event) {
  now_ = now_ + milliseconds(1);
  const auto done = scheduler_->apply(now_, event);
  if (!done) std::fprintf(stderr, "%s\n", done.error().text().c_str());
  FAIRLEAD_CHECK(done.has_value(), "the site's events are accepted");
}

std::int64_t Site::decide() {
  std::int64_t count = 0;
  for (const sched::Decision& decision : scheduler_->decide(now_)) {
    if (const auto* stopped = std::get_if<sched::Stopped>(&decision)) {
      std::erase(running_, scheduler_->workload_name(stopped->workload));
      continue;
    }
    const auto* started = std::get_if<sched::Started>(&decision);
    if (!started) continue;
    ++count;
    if (!started->growth && started->tasks.size() == 1)
      running_.push_back(scheduler_->workload_name(started->workload));
  }
  return count;
}

void Site::fill() {
  for (const Shape& shape : mix_) tell(sched::WorkloadSubmitted{workload_of(shape)});
  memory_.indices = resident_bytes();
  // As many as fill the devices, and those that shall wait.
  const std::int64_t fillers = scale_.nodes * 6;
  for (std::int64_t i = 0; i < fillers + scale_.pending; ++i)
    tell(sched::WorkloadSubmitted{next_workload()});
  memory_.submitted = next_name_;
  memory_.pending = resident_bytes();
  decide();
  memory_.running = resident_bytes();
  const auto waiting = [&] { return static_cast<std::int64_t>(scheduler_->pending_count()); };
  for (int tries = 0; waiting() < scale_.pending && tries < 100; ++tries) {
    for (std::int64_t i = waiting(); i < scale_.pending; ++i)
      tell(sched::WorkloadSubmitted{next_workload()});
    decide();
  }
}

sched::TaskEnded Site::end_one() {
  FAIRLEAD_CHECK(!running_.empty(), "something runs");
  const auto at = static_cast<std::size_t>(rng_.below(running_.size()));
  std::swap(running_[at], running_.back());
  sched::TaskEnded event;
  event.workload = std::move(running_.back());
  event.role = "worker";
  running_.pop_back();
  return event;
}

std::int64_t Site::counter(const std::string& name) const {
  for (const auto& [key, value] : scheduler_->counters()) {
    if (key == name) return value;
  }
  return 0;
}

}  // namespace fairlead::bench
