// The HTML report of a replay.
#pragma once

#include <string>

#include "sim/report/comparison.h"
#include "sim/report/page.h"
#include "sim/report/summary.h"

namespace fairlead::sim {

// `settings`: what was replayed and how, enough to do it again. An empty comparison is left out.
std::string replay_page(const std::string& title, const KeyValues& settings,
                        const ReplayResult& result, const Summary& summary,
                        const Comparison& comparison = {});

}  // namespace fairlead::sim
