// The HTML report of Gavel's experiment.
#pragma once

#include <string>

#include "sim/gavel/rounds.h"
#include "sim/report/page.h"

namespace fairlead::sim {

std::string gavel_page(const std::string& policy, const KeyValues& settings,
                       const GavelResult& result);

}  // namespace fairlead::sim
