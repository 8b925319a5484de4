// A small cluster for tests that go through Scheduler: one queue "team", nodes of T4 devices.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "sched/scheduler.h"
#include "sched/testing.h"

namespace fairlead::sched::testing {

struct Cluster {
  Scheduler scheduler;
  Instant now{0};

  explicit Cluster(SchedulerOptions options = {})
      : scheduler(std::move(*Scheduler::create(options))) {
    must(DeviceClassDefined{*known_device_class("T4")});
    must(PoolDefined{PoolSpec{}});
    must(QueueUpserted{queue("team", kUnlimited)});
  }
  Result<void> tell(const Event& event) { return scheduler.apply(now, event); }
  void must(const Event& event) {
    const auto told = tell(event);
    if (!told) check_failed(told.error().message.c_str(), __FILE__, __LINE__, "the event is legal");
  }
  std::vector<Decision> decide() { return scheduler.decide(now); }

  static QueueSpec queue(std::string name, std::int64_t quota, std::int64_t limit = kUnlimited) {
    QueueSpec spec;
    spec.name = std::move(name);
    spec.pools["default"]["gpu"] = {quota, limit, 1'000};
    return spec;
  }
  static NodeSpec node_spec(std::string name, int devices, std::vector<std::string> topology = {}) {
    NodeSpec spec;
    spec.name = std::move(name);
    spec.cpu = MilliCpu(64'000);
    spec.memory = Bytes(512 * kGiB);
    spec.topology = std::move(topology);
    for (int d = 0; d < devices; ++d) {
      DeviceSpec device;
      device.id = "gpu-" + std::to_string(d);
      device.device_class = "T4";
      spec.devices.push_back(device);
    }
    return spec;
  }
  void node(std::string name, int devices, std::vector<std::string> topology = {}) {
    must(NodeUpserted{node_spec(std::move(name), devices, std::move(topology))});
  }
  static WorkloadSpec workload(std::string name, const TaskRequest& request,
                               std::int32_t count = 1) {
    WorkloadSpec spec;
    spec.name = std::move(name);
    spec.queue = "team";
    RoleSpec role;
    role.count = role.min = count;
    role.request = request;
    spec.roles.push_back(std::move(role));
    return spec;
  }
  void submit(std::string name, const TaskRequest& request, std::int32_t count = 1) {
    must(WorkloadSubmitted{workload(std::move(name), request, count)});
  }

  // All that can be seen from outside, as text: to tell that nothing has changed.
  std::string everything() {
    std::string out;
    const auto amounts = [&](const char* what, const Amounts& all) {
      out += std::string(" ") + what;
      for (const auto& [name, amount] : all) out += " " + name + "=" + std::to_string(amount);
    };
    for (const std::string& name : scheduler.pool_names()) {
      const PoolView view = *scheduler.pool(name);
      out += "pool " + name;
      amounts("capacity", view.capacity);
      amounts("allocated", view.allocated);
      for (const std::string& q : scheduler.queue_names()) {
        const QueueView queue_view = *scheduler.queue(q, name);
        out += "\n queue " + q + " of " + queue_view.parent;
        amounts("holds", queue_view.allocated);
        amounts("non-preemptible", queue_view.non_preemptible);
        amounts("asks", queue_view.requested);
        amounts("quota", queue_view.quota);
        amounts("limit", queue_view.limit);
      }
      out += '\n';
    }
    for (const std::string& name : scheduler.node_names()) {
      const NodeView view = *scheduler.node(name);
      out += "node " + name + " in " + view.pool + (view.ready ? "" : " down") +
             (view.schedulable ? "" : " cordoned") + " cpu " + std::to_string(view.free_cpu_milli) +
             " memory " + std::to_string(view.free_memory);
      for (const DeviceView& d : view.devices) {
        out += " " + d.id + (d.healthy ? "" : "!") + ":" + std::to_string(d.free_milli) + "/" +
               std::to_string(d.free_mib);
      }
      out += '\n';
    }
    for (const std::string& name : scheduler.workload_names()) {
      const WorkloadView view = *scheduler.workload(name);
      out += "workload " + name + " of " + view.queue + " in '" + view.pool + "' " +
             std::to_string(view.running) + "/" + std::to_string(view.wanted) + " ok " +
             std::to_string(view.succeeded) + " failed " + std::to_string(view.failures);
      for (const TaskView& t : view.tasks)
        out += " " + t.role + "-" + std::to_string(t.index) + "@" + t.node;
      out += '\n';
    }
    const auto sound = scheduler.verify();
    return out + (sound ? "" : "UNSOUND " + sound.error().message);
  }
};

}  // namespace fairlead::sched::testing
