// Invariants I1, I2, I3, I5, I8, I9 and I11 of semantics 11 on random and adversarial histories.
//
// A history that breaks one is shrunk and printed as a scenario file; see README.md.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <variant>

#include <gtest/gtest.h>
#include <rapidcheck/detail/Configuration.h>

#include "crash_guard.h"
#include "cures.h"
#include "play.h"

namespace fairlead::property {
namespace {

using Body = std::string (*)(Play&);

// Writes the counterexample; the last one written, the smallest, stays.
std::string written(const History& history, const std::string& name, const std::string& complaint) {
  const std::string text = scenario_text(history, name + ": " + complaint);
  const std::string path = std::string(FAIRLEAD_COUNTEREXAMPLES) + "/" + name + ".scn";
  std::ofstream(path) << text;
  return complaint + "\n--- " + path + "\n" + text;
}

// Plays recipes under `checks` and then `body`, `cases` times unless RC_PARAMS says otherwise.
void for_all(std::uint32_t checks, int cases, Body body) {
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
        auto* play = new Play(recipe, checks);  // leaked on an internal error of the core
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

// I1, I11.
TEST(Invariants, NothingIsOverCommittedAndTheBooksEqualARebuild) {
  for_all(kBooks, 400, nullptr);
}

// I2, 6.1, 6.4.
TEST(Invariants, GangsStartWholeAndWhereTheyMay) {
  for_all(kGangs, 400, nullptr);
}

// I3, 5.1, 5.2, 5.3, 5.4.
TEST(Invariants, StartsStayWithinLimitsAndQuotas) {
  for_all(kGates, 400, nullptr);
}

// I5.
TEST(Invariants, NothingThatFitsWaits) {
  for_all(kWork, 300, nullptr);
}

// I8: told again, the core decides the same; asking it why changes nothing.
TEST(Invariants, SameHistorySameDecisions) {
  for_all(kReasons, 300, [](Play& play) {
    const Replayed again = replay(play.driver().history());
    if (again.decisions == play.driver().decisions()) return std::string();
    return "I8: told the same again, the core decides\n" + again.decisions + "instead of\n" +
           play.driver().decisions();
  });
}

// I8: the same events, decided upon all at once, after each, or only before time moves.
TEST(Invariants, AnyBatchingOfDecisionsIsLegal) {
  for_all(0, 200, [](Play& play) {
    for (const bool each : {true, false}) {
      Driver other(kBooks | kGangs | kGates | kWork);
      for (const Moment& moment : play.driver().history()) {
        if (!moment.event || other.failed()) continue;
        if (moment.at > other.now()) {
          other.advance(moment.at);
        } else {
          other.tell(*moment.event);
        }
        if (each && !other.failed()) other.decide();
      }
      if (!other.failed()) other.decide();
      if (other.failed()) {
        return written(other.history(), each ? "decided-after-each" : "decided-at-once",
                       other.complaint());
      }
    }
    return std::string();
  });
}

// I9, and 10.1: what is refused as impossible is so.
TEST(Invariants, EveryNoHasItsReason) {
  for_all(kReasons | kAdmission, 300, nullptr);
}

// 10.2, and 10.1 "never".
TEST(Invariants, ExplanationsAreTrue) {
  for_all(0, 300, [](Play& play) {
    Driver& driver = play.driver();
    for (const std::string& name : driver.scheduler().workload_names()) {
      if (driver.wants(name).empty()) continue;
      std::string untrue = untrue_in(driver, name);
      if (!untrue.empty()) return untrue;
    }
    return std::string();
  });
}

}  // namespace
}  // namespace fairlead::property
