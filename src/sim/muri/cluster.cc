#include "sim/muri/cluster.h"

#include <fmt/core.h>

namespace fairlead::sim {

ClusterSpec uniform_cluster(std::int64_t nodes, std::int64_t gpus_per_node) {
  ClusterSpec cluster;
  DeviceClass device_class;
  device_class.name = "gpu";
  device_class.memory = MiB(16'000);
  cluster.device_classes.push_back(device_class);
  cluster.pools.emplace_back();
  for (std::int64_t n = 0; n < nodes; ++n) {
    NodeSpec node;
    node.name = fmt::format("node-{:03}", n);
    node.cpu = MilliCpu(kMilli * 1024);
    node.memory = Bytes(std::int64_t{1} << 40);
    for (std::int64_t d = 0; d < gpus_per_node; ++d) {
      DeviceSpec device;
      device.id = fmt::format("gpu-{}", d);
      device.device_class = device_class.name;
      node.devices.push_back(std::move(device));
    }
    cluster.nodes.push_back(std::move(node));
  }
  return cluster;
}

Result<std::vector<TraceJob>> muri_trace(const std::vector<MuriJob>& jobs, std::int64_t nodes,
                                         std::int64_t gpus_per_node) {
  std::vector<TraceJob> trace;
  for (const MuriJob& job : jobs) {
    if (job.gpus > nodes * gpus_per_node) {
      return fail(ErrorCode::kImpossible,
                  fmt::format("{} asks for {} GPUs; {} nodes of {} have {}", job.name, job.gpus,
                              nodes, gpus_per_node, nodes * gpus_per_node),
                  "replay it on more nodes: --nodes");
    }
    TraceJob out;
    out.name = job.name;
    out.project = "muri";
    out.submit = job.submit;
    out.run_time = job.work;
    shape_gang(out, job.gpus, gpus_per_node);
    trace.push_back(std::move(out));
  }
  return trace;
}

}  // namespace fairlead::sim
