// Invariants I1, I2, I3, I5, I8, I9 and I11 of semantics 11 on random and adversarial histories.
//
// A history that breaks one is shrunk and printed as a scenario file; see README.md.
#include <string>

#include <gtest/gtest.h>

#include "cures.h"
#include "for_all.h"
#include "play.h"

namespace fairlead::property {
namespace {

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
