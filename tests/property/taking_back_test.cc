// Rule 7 and invariants I4, I6 and I7 of semantics 11 on random and adversarial histories.
#include <random>
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

// I7 over a long history: when nothing happens any more but time (windows open, budgets renew,
// minimum run times end), no task is stopped twice, so it all comes to rest.
TEST(TakingBack, WithTimeAloneItComesToRest) {
  for (const std::uint64_t seed : {1, 2}) {
    std::mt19937_64 random(seed);
    const auto genes = [&random] {
      Genes out;
      for (std::uint16_t& gene : out) gene = static_cast<std::uint16_t>(random() % kGeneEnd);
      return out;
    };
    Recipe recipe;
    recipe.cluster = genes();
    for (int i = 0; i < 6; ++i) recipe.nodes.push_back(genes());
    for (int i = 0; i < 7; ++i) recipe.queues.push_back(genes());
    for (int i = 0; i < 800; ++i) recipe.events.push_back(genes());
    Play play(recipe, kLoops, true);
    play.run();
    Driver& driver = play.driver();
    for (int step = 0; step < 200 && !driver.failed(); ++step) {
      driver.advance(driver.now() + (step % 2 == 0 ? minutes(1) : hours(1)));
    }
    ASSERT_FALSE(driver.failed()) << written(driver.history(), "WithTimeAloneItComesToRest",
                                             driver.complaint());
    EXPECT_GT(driver.stopped(), 0) << "the history takes nothing back";
  }
}

}  // namespace
}  // namespace fairlead::property
