// Nodes, queues, pools, classes and workloads as statements, without the verb and the name.
#pragma once

#include <string>

#include "model/cluster.h"

namespace fairlead::sim {

// `levels` are the cluster's topology levels.
std::string node_text(const NodeSpec& node, const std::vector<std::string>& levels);
std::string class_text(const DeviceClass& device_class);
std::string pool_text(const PoolSpec& pool);
std::string queue_text(const QueueSpec& queue);
std::string workload_text(const WorkloadSpec& spec, Instant start);
std::string running_text(const WorkloadEntry& entry, Instant start);
// The settings of a task: "gpu=0.5 cpu=4 …".
std::string request_text(const TaskRequest& request, const Constraints& constraints);

}  // namespace fairlead::sim
