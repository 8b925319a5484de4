// Random ClusterSpecs that are valid and use every field of the format, for property tests.
#pragma once

#include "base/rng.h"
#include "model/cluster.h"

namespace fairlead {

// Same seed, same cluster. `size` bounds the number of nodes, queues and workloads.
ClusterSpec random_cluster(std::uint64_t seed, std::int64_t size);

}  // namespace fairlead
