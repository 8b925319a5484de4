// Dense ids of the core. An id is valid until the thing it names is removed; it may then be reused.
#pragma once

#include "base/quantity.h"

namespace fairlead::sched {

using PoolId = Id<struct PoolIdTag>;
using NodeId = Id<struct NodeIdTag>;
using QueueId = Id<struct QueueIdTag>;
using WorkloadId = Id<struct WorkloadIdTag>;
using ClassId = Id<struct DeviceClassIdTag>;
using TaskClassId = Id<struct TaskClassIdTag>;

}  // namespace fairlead::sched
