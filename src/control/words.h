// The words of the API for each closed set.
#pragma once

#include "control/entities.h"
#include "model/object_reader.h"

namespace fairlead::control::words {

inline constexpr Choice<Phase> kPhases[] = {
    {"pending", Phase::kPending},     {"starting", Phase::kStarting},
    {"running", Phase::kRunning},     {"frozen", Phase::kFrozen},
    {"stopping", Phase::kStopping},   {"suspended", Phase::kSuspended},
    {"succeeded", Phase::kSucceeded}, {"failed", Phase::kFailed},
    {"timed-out", Phase::kTimedOut},  {"deleting", Phase::kDeleting}};

inline constexpr Choice<Desired> kDesired[] = {{"running", Desired::kRunning},
                                               {"frozen", Desired::kFrozen},
                                               {"suspended", Desired::kSuspended},
                                               {"deleted", Desired::kDeleted}};

inline constexpr Choice<TaskPhase> kTaskPhases[] = {
    {"starting", TaskPhase::kStarting},   {"running", TaskPhase::kRunning},
    {"frozen", TaskPhase::kFrozen},       {"stopping", TaskPhase::kStopping},
    {"succeeded", TaskPhase::kSucceeded}, {"failed", TaskPhase::kFailed},
    {"stopped", TaskPhase::kStopped},     {"lost", TaskPhase::kLost}};

inline constexpr Choice<AttemptState> kAttemptStates[] = {{"waiting", AttemptState::kWaiting},
                                                          {"starting", AttemptState::kStarting},
                                                          {"running", AttemptState::kRunning},
                                                          {"stopping", AttemptState::kStopping}};

}  // namespace fairlead::control::words
