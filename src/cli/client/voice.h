// What is said about a workload: after a submission, and when somebody asks why it waits.
//
// Only what the server said, in few lines; each begins with a word of its own. `now` is the time of
// the answer; `program` is how the person calls us.
#pragma once

#include <string>

#include "base/time.h"
#include "model/document.h"

namespace fairlead::cli {

// "Plan …", "Start …", "Run …", "Next …" of a Workload as POST /workloads answers it.
std::string submission_text(const Value& workload, Instant now, const std::string& program);

// "in 6 to 11 min" of a Start; its own text where it names no times; "" if there is none.
std::string start_text(const Value* start, Instant now);

// "place 3 of 9, in 6 to 11 min" of an Explanation; "" if it says neither.
std::string waiting_text(const Value& explanation, Instant now);

// `explanation` as /explanation answers it, `workload` of the same.
std::string why_text(const Value& workload, const Value& explanation, Instant now);

// "running on n1 since 5m", "failed, exit code 3, 2h ago": the state in a few words.
std::string state_text(const Value& workload, Instant now);

}  // namespace fairlead::cli
