// The published simulator of Muri (SIGCOMM'22), its rules to the letter, its placements by the
// production core: srtf, srsf and tiresias as their authors ran them.
//
// At every event (an arrival, a completion, a demotion) each running job progresses by
// max(Δt − o, 0), o being its start overhead, charged again at every event; then everything is
// requeued and the core places in order of the policy, first fit, skipping what does not fit. The
// next completion is projected without overhead. Completions leave before arrivals of the same
// instant enter. Tiresias-L counts GPUs only (one node that has them all), keeps three lists, and
// demotes at 3,250 and 7,200 GPU-seconds of executed time; a demotion strictly before the next
// arrival or completion is an event of its own; after placing, those that run come first in their
// list. Times are whole milliseconds.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "sim/cluster/progress.h"
#include "sim/replay/policy.h"
#include "sim/replay/result.h"
#include "sim/trace/muri.h"

namespace fairlead::sim {

// Error: kInvalidArgument if the policy is not srtf, srsf or tiresias, or a job is larger than the
// cluster.
Result<ReplayResult> replay_as_published(const std::vector<MuriJob>& jobs, std::int64_t nodes,
                                         std::int64_t gpus_per_node, const ServicePolicy& policy,
                                         const Progress& progress = {});

}  // namespace fairlead::sim
