// Any text: the readers of scenarios neither crash nor accept what they cannot print and read
// again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "sim/scenario/document.h"
#include "sim/scenario/printer.h"
#include "sim/scenario/reader.h"

namespace {

using fairlead::sim::Scenario;

[[noreturn]] void complain(const std::string& what, const std::string& text) {
  std::cerr << what << "\n" << text;
  std::abort();
}

// Printed, read and printed again it is the same text.
void check_language(const Scenario& scenario) {
  const std::string text = print_scenario(scenario);
  const auto again = fairlead::sim::read_scenario(text, "printed.scn");
  if (!again) complain("printed text cannot be read: " + again.error().text(), text);
  if (print_scenario(*again) != text) complain("printed text reads as something else", text);
}

void check(std::string_view text, const char* file) {
  const auto scenario = fairlead::sim::parse_scenario(text, file);
  // A cluster statement of one line may make 10,000 nodes: too slow to print for each input.
  if (!scenario || scenario->steps.size() > 500) return;
  check_language(*scenario);
  (void)scenario_yaml(*scenario);
  (void)scenario_json(*scenario);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(text, "input.scn");
  check(text, "input.yaml");
  return 0;
}
