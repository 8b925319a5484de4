#include "cli/scenario_report.h"

#include <algorithm>

#include "base/printable.h"
#include "model/tree.h"

namespace fairlead::cli {
namespace {

std::int64_t failed_count(const std::vector<sim::RunReport>& reports) {
  return std::count_if(reports.begin(), reports.end(),
                       [](const sim::RunReport& report) { return !report.passed(); });
}

Tree failure_tree(const sim::Failure& failure) {
  Tree map = Tree::map();
  map.add("line", Tree::number(failure.line));
  map.add("expected", Tree::string(failure.expected));
  map.add("actual", Tree::string(failure.actual));
  map.add("why", Tree::string(failure.why));
  return map;
}

Tree report_tree(const sim::RunReport& report) {
  Tree map = Tree::map();
  map.add("file", Tree::string(report.file));
  map.add("title", Tree::string(report.title));
  map.add("rules", Tree::strings(report.rules));
  map.add("passed", Tree::boolean(report.passed()));
  map.add("expectations", Tree::number(report.expectations));
  map.add("events", Tree::number(report.events));
  map.add("decisions", Tree::number(report.decisions));
  Tree& failures = map.add("failures", Tree::list());
  for (const sim::Failure& failure : report.failures) failures.push(failure_tree(failure));
  if (!report.trace.empty()) map.add("trace", Tree::strings(report.trace));
  return map;
}

}  // namespace

std::string scenario_text(const sim::RunReport& report) {
  std::string text;
  for (const std::string& line : report.trace) text += line + "\n";
  text += sim::failures_text(report);
  text += report.passed() ? "passed  " : "FAILED  ";
  text += printable(report.file) + "  (" + std::to_string(report.expectations) +
          (report.expectations == 1 ? " expectation" : " expectations");
  if (!report.passed()) text += ", " + std::to_string(report.failures.size()) + " failed";
  return text + ")\n";
}

std::string scenarios_summary(const std::vector<sim::RunReport>& reports) {
  const std::int64_t failed = failed_count(reports);
  std::string text = std::to_string(reports.size()) + " scenarios, " +
                     (failed == 0 ? "all passed" : std::to_string(failed) + " failed:");
  for (const sim::RunReport& report : reports) {
    if (!report.passed()) text += "\n  " + printable(report.file);
  }
  return text + "\n";
}

std::string scenarios_json(const std::vector<sim::RunReport>& reports) {
  Tree root = Tree::map();
  Tree& scenarios = root.add("scenarios", Tree::list());
  for (const sim::RunReport& report : reports) scenarios.push(report_tree(report));
  const std::int64_t failed = failed_count(reports);
  root.add("passed", Tree::number(static_cast<std::int64_t>(reports.size()) - failed));
  root.add("failed", Tree::number(failed));
  return to_json(root);
}

}  // namespace fairlead::cli
