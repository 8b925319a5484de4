// Results of the simulator as tables for people and as JSON for programs (docs/simulate.md has the
// meaning and unit of every field).
#pragma once

#include <string>
#include <vector>

#include "sim/gavel/rounds.h"
#include "sim/openb/churn.h"
#include "sim/openb/fill.h"
#include "sim/report/comparison.h"
#include "sim/report/page.h"
#include "sim/report/summary.h"

namespace fairlead::cli {

// What was run: printed above tables and in JSON under "settings".
using Settings = sim::KeyValues;

// `speed`: with decisionsPerSecond, the one number that is not the same in every run.
std::string openb_json(const std::string& policy, const Settings& settings,
                       const std::vector<sim::OpenbRun>& runs, bool speed);
std::string openb_table(const std::string& policy, const std::vector<sim::OpenbRun>& runs,
                        bool speed);

std::string churn_json(const std::string& policy, const Settings& settings,
                       const std::vector<sim::ChurnRun>& runs, bool speed);
std::string churn_table(const std::string& policy, const std::vector<sim::ChurnRun>& runs,
                        bool speed);

std::string gavel_json(const std::string& policy, const Settings& settings,
                       const sim::GavelResult& result);
std::string gavel_table(const std::string& policy, const sim::GavelResult& result);

std::string replay_json(const std::string& policy, const Settings& settings,
                        const sim::ReplayResult& result, const sim::Summary& summary,
                        const sim::Comparison& comparison);
// Finish-time fairness by policy and what quotas promised, after an empty line; "" for none.
std::string comparison_table(const sim::Comparison& comparison);
// The whole summary: totals, waits by size and project, shares.
std::string replay_table(const sim::ReplayResult& result, const sim::Summary& summary);
// One line of totals under a header, as the yardsticks print it.
std::string completion_table(const std::string& policy, const sim::ReplayResult& result,
                             const sim::Summary& summary);

// One line per job, comma-separated.
std::string records_text(const sim::ReplayResult& result);

}  // namespace fairlead::cli
