// The HTML report of openb with departures.
#pragma once

#include <string>
#include <vector>

#include "sim/openb/churn.h"
#include "sim/report/page.h"

namespace fairlead::sim {

std::string churn_page(const std::string& policy, const KeyValues& settings,
                       const std::vector<ChurnRun>& runs);

}  // namespace fairlead::sim
