// Logs for tests: recorded from a scenario, taken apart and put together again.
#pragma once

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "sim/log/frames.h"
#include "sim/log/writer.h"
#include "sim/scenario/reader.h"
#include "sim/scenario/runner.h"

namespace fairlead::sim {

// The log of a scenario in the readable language.
inline std::string recorded(std::string_view text) {
  const auto scenario = read_scenario(text, "x.scn");
  EXPECT_TRUE(scenario) << scenario.error().text();
  if (!scenario) return {};
  std::string log;
  LogWriter writer("test", [&](std::string_view record) { log += record; });
  const auto report = run_scenario(*scenario, {false, &writer});
  EXPECT_TRUE(report && report->passed()) << (report ? failures_text(*report) : "");
  EXPECT_TRUE(writer.status());
  return log;
}

// The payloads of a log, the head first.
inline std::vector<std::string> payloads(const std::string& log) {
  std::istringstream in(log);
  FrameReader frames(in, "x.log");
  EXPECT_TRUE(frames.read_preamble());
  std::vector<std::string> out;
  while (true) {
    const auto next = frames.next();
    EXPECT_TRUE(next) << next.error().text();
    if (!next || !*next) return out;
    out.emplace_back(**next);
  }
}

inline std::string log_of(const std::vector<std::string>& all) {
  std::string log = log_preamble();
  for (const std::string& payload : all) log += framed(payload);
  return log;
}

}  // namespace fairlead::sim
