// The default node choice (rule 6.2): what the request mix can still use of a node afterwards.
//
// loss(class, node) = capacity that the mix could use before − after − what the task itself takes,
//                     + GPU capacity newly stranded for lack of CPU, all in milli-GPU.
// Losses are compared in steps of 128 milli. Within a step best fit decides, but only about what
// the task is packed into: a fraction takes the device left with least, several devices the node
// left with least. One whole device, and a task without GPU on a node with GPUs, are packed into
// nothing that the loss does not know: they take the first node in the pool's order. That matters
// once tasks leave. First fit gathers load at the front of the order, and nodes at its end empty;
// best fit follows whoever is fullest at the moment, and no node ever empties (with departures its
// cost has no bound, first fit's has: Li, Tang, Cai, "On dynamic bin packing for resource
// allocation in the cloud", SPAA'14). And a task without GPU on the node with least CPU left
// strands that node's GPUs.
//
// Onto that comes a price per GPU model: the share of a model's free capacity that requests pinned
// to it will need; it keeps scarce models for those that cannot go elsewhere.
//
// "Usable capacity" is R − F of FGD (USENIX ATC'23, section 4) with two changes: it ignores models,
// which the price takes care of, and it is computed from two tables over (CPU level, milli level)
// instead of a walk over the mix: O(devices) per score.
//
// Until a mix is known (RequestMix::kEnough requests) the strategy alone decides: binpack takes the
// node left with least free GPU, a task without GPU the one left with the least share of CPU;
// spread the opposite, with a mix too.
#pragma once

#include <memory>

#include "model/pool.h"
#include "sched/place/scorer.h"

namespace fairlead::sched {

std::unique_ptr<Scorer> make_default_scorer(const PoolSpec& pool);

}  // namespace fairlead::sched
