// A what-if as a self-contained HTML page.
#pragma once

#include <string>

#include "sim/report/page.h"
#include "sim/whatif/comparison.h"

namespace fairlead::sim {

std::string whatif_page(const std::string& title, const KeyValues& settings,
                        const WhatIfComparison& comparison);

}  // namespace fairlead::sim
