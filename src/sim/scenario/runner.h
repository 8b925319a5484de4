// Plays a scenario through the production core and reports what did not come out as expected.
//
// After every step the core's own verification runs (invariants I1, I2, I3, I11), and a second
// decision at rest must be empty: each scenario checks these too. A large scenario is verified in
// growing intervals (pace.h) and at its end. Same scenario, same report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/log/recorder.h"
#include "sim/scenario/scenario.h"

namespace fairlead::sim {

struct RunOptions {
  bool trace = false;            // keep a line for each event and each decision
  Recorder* recorder = nullptr;  // watches the core; must outlive the run
};

struct Failure {
  std::int32_t line = 0;
  std::string expected;
  std::string actual;
  std::string why;  // the explanation, may have several lines

  friend bool operator==(const Failure&, const Failure&) = default;
};

struct RunReport {
  std::string file;
  std::string title;
  std::vector<std::string> rules;
  std::int64_t events = 0;        // told to the core
  std::int64_t decisions = 0;     // it came to
  std::int64_t expectations = 0;  // checked
  std::vector<Failure> failures;
  std::vector<std::string> trace;

  bool passed() const { return failures.empty(); }
};

// Error: kInvalidArgument if the core does not know the placement policy that the scenario names.
Result<RunReport> run_scenario(const Scenario& scenario, const RunOptions& options = {});

// "FILE:LINE: expected …" with what is and why, one failure after the other.
std::string failures_text(const RunReport& report);

}  // namespace fairlead::sim
