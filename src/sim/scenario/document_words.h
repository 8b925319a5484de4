// Words of scenario documents for the values of closed sets.
#pragma once

#include <utility>

#include "model/cluster_reader.h"
#include "sim/scenario/scenario.h"

namespace fairlead::sim::words {

inline constexpr Choice<ExpectedState> kExpectedStates[] = {
    {"running", ExpectedState::kRunning}, {"pending", ExpectedState::kPending},
    {"refused", ExpectedState::kRefused}, {"finished", ExpectedState::kFinished},
    {"failed", ExpectedState::kFailed},   {"gone", ExpectedState::kGone}};

// What workloads share, or not: true is a device.
inline constexpr Choice<bool> kSharedThings[] = {{"device", true}, {"node", false}};

// The field of a document and the figure of the language.
inline constexpr std::pair<const char*, const char*> kFigures[] = {
    {"allocated", "allocated"}, {"nonPreemptible", "non-preemptible"},
    {"requested", "requested"}, {"fairShare", "fair-share"},
    {"quota", "quota"},         {"limit", "limit"},
    {"capacity", "capacity"}};

}  // namespace fairlead::sim::words
