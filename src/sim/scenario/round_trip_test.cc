// Every scenario file of the project, printed in both forms and read again, is the same scenario
// and plays the same.
#include <filesystem>

#include <gtest/gtest.h>

#include "model/document.h"
#include "sim/scenario/document.h"
#include "sim/scenario/printer.h"
#include "sim/scenario/runner.h"

namespace fairlead::sim {
namespace {

std::vector<std::string> scenario_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("tests/scenarios")) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".scn" || extension == ".yaml" || extension == ".json") {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

Scenario read(const std::string& text, const std::string& file) {
  auto scenario = parse_scenario(text, file);
  EXPECT_TRUE(scenario) << file << ": " << scenario.error().front().text() << "\n" << text;
  return scenario ? std::move(*scenario) : Scenario{};
}

// What a run came to, without lines and files.
std::string outcome(const Scenario& scenario) {
  const auto report = run_scenario(scenario);
  if (!report) return report.error().text();
  std::string text = std::to_string(report->expectations) + " expectations";
  for (const Failure& failure : report->failures)
    text += "\n" + failure.expected + ": " + failure.actual;
  return text;
}

TEST(ScenarioRoundTrip, LanguageReadsBackAsItWasPrinted) {
  ASSERT_GT(scenario_files().size(), 150U);
  for (const std::string& file : scenario_files()) {
    const std::string once = print_scenario(read(*read_document_file(file), file));
    EXPECT_EQ(print_scenario(read(once, "printed.scn")), once) << file;
  }
}

TEST(ScenarioRoundTrip, DocumentReadsBackAsItWasPrinted) {
  for (const std::string& file : scenario_files()) {
    if (file.ends_with("limit_below_request_is_refused.scn")) continue;  // no document may say it
    const Scenario scenario = read(*read_document_file(file), file);
    const std::string once = scenario_yaml(scenario);
    const Scenario again = read(once, "printed.yaml");
    EXPECT_EQ(scenario_yaml(again), once) << file;
    EXPECT_EQ(scenario_yaml(read(scenario_json(scenario), "printed.json")), once) << file;
    EXPECT_EQ(outcome(again), outcome(scenario)) << file;
  }
}

TEST(ScenarioRun, IsTheSameEveryTime) {
  for (const std::string& file : scenario_files()) {
    const Scenario scenario = read(*read_document_file(file), file);
    const auto first = run_scenario(scenario, {true});
    const auto second = run_scenario(scenario, {true});
    ASSERT_TRUE(first && second) << file;
    EXPECT_EQ(first->trace, second->trace) << file;
  }
}

}  // namespace
}  // namespace fairlead::sim
