// The uniform cluster of Muri's experiments, and its jobs as jobs of a trace.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "model/cluster.h"
#include "sim/trace/job.h"
#include "sim/trace/muri.h"

namespace fairlead::sim {

// `nodes` equal nodes with `gpus_per_node` devices of one class and more CPU than anyone asks.
ClusterSpec uniform_cluster(std::int64_t nodes, std::int64_t gpus_per_node);

// Jobs of at most `gpus_per_node` are one task; larger ones a gang over whole nodes.
// Error: kInvalidArgument, naming the first job that asks for more GPUs than there are.
Result<std::vector<TraceJob>> muri_trace(const std::vector<MuriJob>& jobs, std::int64_t nodes,
                                         std::int64_t gpus_per_node);

}  // namespace fairlead::sim
