// The default node choice (rule 6.2): what the request mix can still use of a node afterwards.
//
// loss(class, node) = capacity that the mix could use before − after − what the task itself takes,
//                     + GPU capacity newly stranded for lack of CPU, all in milli-GPU.
// Losses are compared in steps of 128 milli; within a step the strategy decides: binpack takes the
// node left with least free GPU, then the device left with least; spread the opposite. Onto that
// comes a price per GPU model: the share of a model's free capacity that requests pinned to it will
// need; it keeps scarce models for those that cannot go elsewhere.
//
// "Usable capacity" is R − F of FGD (USENIX ATC'23, section 4) with two changes: it ignores models,
// which the price takes care of, and it is computed from two tables over (CPU level, milli level)
// instead of a walk over the mix: O(devices) per score. Until a mix is known (RequestMix::kEnough
// requests) the strategy alone decides.
#pragma once

#include <memory>

#include "model/pool.h"
#include "sched/place/scorer.h"

namespace fairlead::sched {

std::unique_ptr<Scorer> make_default_scorer(const PoolSpec& pool);

}  // namespace fairlead::sched
