// Rule 7 and invariants I4, I6 and I7 of semantics 11 on random and adversarial histories.
#include <string>

#include <gtest/gtest.h>

#include "for_all.h"

namespace fairlead::property {
namespace {

// I1, I2, I3, I5, I11 with rule 7.
TEST(TakingBack, BooksGangsAndGatesHold) {
  for_all(kBooks | kGangs | kGates, 300, nullptr, true);
}

TEST(TakingBack, NothingThatFitsWaits) {
  for_all(kWork, 200, nullptr, true);
}

// I4, 7.1 to 7.4.
TEST(TakingBack, NobodyLosesWhatItMayKeep) {
  for_all(kVictims, 400, nullptr, true);
}

// I6.
TEST(TakingBack, NoEntitledClaimantWaits) {
  for_all(kEntitled, 300, nullptr, true);
}

// 7.5.
TEST(TakingBack, VictimsAreTheCheapest) {
  for_all(kCheapest, 300, nullptr, true);
}

// I7.
TEST(TakingBack, NothingIsStoppedTwiceNorForNobody) {
  for_all(kLoops, 400, nullptr, true);
}

// I8.
TEST(TakingBack, SameHistorySameDecisions) {
  for_all(
      0, 200,
      [](Play& play) {
        for (const std::string& name : play.driver().scheduler().workload_names())
          (void)play.driver().scheduler().explain(name);
        const Replayed again = replay(play.driver().history(), true);
        if (again.decisions == play.driver().decisions()) return std::string();
        return "I8: told the same again, the core decides\n" + again.decisions + "instead of\n" +
               play.driver().decisions();
      },
      true);
}

}  // namespace
}  // namespace fairlead::property
