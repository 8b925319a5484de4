// The HTML report of the openb fill-up.
#pragma once

#include <string>
#include <vector>

#include "sim/openb/fill.h"
#include "sim/report/page.h"

namespace fairlead::sim {

std::string openb_page(const std::string& policy, const KeyValues& settings,
                       const std::vector<OpenbRun>& runs);

}  // namespace fairlead::sim
