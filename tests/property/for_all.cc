#include "for_all.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <rapidcheck/detail/Configuration.h>

#include "crash_guard.h"

namespace fairlead::property {

std::string written(const History& history, const std::string& name, const std::string& complaint) {
  const std::string text = scenario_text(history, name + ": " + complaint);
  const std::string path = std::string(FAIRLEAD_COUNTEREXAMPLES) + "/" + name + ".scn";
  std::ofstream(path) << text;
  return complaint + "\n--- " + path + "\n" + text;
}

void for_all(std::uint32_t checks, int cases, Body body, bool taking_back) {
  const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
  rc::detail::TestMetadata metadata;
  metadata.id = std::string(info->test_suite_name()) + "/" + info->name();
  metadata.description = info->name();
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  const char* stated = std::getenv("RC_PARAMS");
  if (!stated || !std::strstr(stated, "max_success")) params.maxSuccess = cases;
  const auto result = rc::detail::checkTestable(
      [&] {
        const Recipe recipe = *recipes();
        auto* play =
            new Play(recipe, checks, taking_back);  // leaked on an internal error of the core
        std::string complaint;
        const auto error = internal_error([&] {
          play->run();
          complaint = play->driver().complaint();
          if (complaint.empty() && body) complaint = body(*play);
        });
        if (error) complaint = *error;
        if (!complaint.empty()) RC_FAIL(written(play->driver().history(), info->name(), complaint));
        delete play;
      },
      metadata, params);
  if (result.is<rc::detail::SuccessResult>()) return;
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  FAIL() << text.str();
}

}  // namespace fairlead::property
