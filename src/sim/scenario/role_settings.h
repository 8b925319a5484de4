// The settings of a role, shared by submit, running and mix statements.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/workload.h"
#include "sim/scenario/cursor.h"

namespace fairlead::sim {

// Takes the setting if it is one of a role's; false if it is not.
Result<bool> read_role_setting(const Cursor& cursor, const Setting& setting, RoleSpec& role);

// The name under which the setting may be stated once: spellings of one thing have one name. Empty:
// it adds to a list and may be repeated.
std::string role_setting_once(const Setting& setting);

// "2..5" is (2, 5), "5" is (5, 5).
Result<std::pair<std::int32_t, std::int32_t>> parse_role_count(std::string_view text);

// Takes a setting of a topology goal: within, prefer.
bool read_goal_setting(const Setting& setting, std::string_view prefix, TopologyGoal& goal);

const std::vector<std::string>& role_setting_names();

// Affinity terms and tolerations as they are written in one word.
std::string term_text(const MatchTerm& term);
std::string toleration_text(const Toleration& toleration);
std::string_view effect_text(TaintEffect effect);

}  // namespace fairlead::sim
