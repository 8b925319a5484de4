// The published node-choice policies, kept to compare against (rule: the same core places for all).
//
// bestfit, dotprod: as evaluated in FGD, "Beware of Fragmentation" (USENIX ATC'23), integer scores
// 0…100. fgd: fragmentation gradient descent of the same paper, section 4. firstfit: the first node
// in the pool's order. random: a uniform feasible node and device.
#pragma once

#include <memory>

#include "sched/place/scorer.h"

namespace fairlead::sched {

std::unique_ptr<Scorer> make_random_scorer();
std::unique_ptr<Scorer> make_first_fit_scorer();
std::unique_ptr<Scorer> make_best_fit_scorer();
std::unique_ptr<Scorer> make_dot_product_scorer();
std::unique_ptr<Scorer> make_fgd_scorer();

}  // namespace fairlead::sched
