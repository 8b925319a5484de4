// What `fairlead replay` prints (docs/replay.md has the meaning and unit of every field).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sim/log/replayer.h"

namespace fairlead::cli {

struct ReplayReport {
  std::string file;
  Instant at;                      // where the log was left
  bool ended = false;              // nothing is left of it
  std::vector<std::string> shown;  // lines that --show asked for, if they were not printed already
  std::string why;                 // workload of --why; empty: none
};

// "2h  submitted: train-a": one line per event or decision of a record.
std::vector<std::string> record_lines(const sim::LogRecord& record, Instant start);

// Why the workload waits, or where it runs. Error: kNotFound, with the nearest name.
Result<std::vector<std::string>> why_lines(const std::string& workload,
                                           const sched::Scheduler& core);

// Requires: why_lines() of report.why is no error.
std::string replay_text(const ReplayReport& report, const sim::Replayer& replayer);
std::string replay_json_text(const ReplayReport& report, const sim::Replayer& replayer);

}  // namespace fairlead::cli
