// What `fairlead whatif` prints (docs/replay.md has the meaning and unit of every field).
#pragma once

#include <string>

#include "sim/report/page.h"
#include "sim/whatif/comparison.h"

namespace fairlead::cli {

std::string whatif_table(const sim::WhatIfComparison& comparison);
std::string whatif_json(const sim::KeyValues& settings, const sim::WhatIfComparison& comparison);

}  // namespace fairlead::cli
