// Rule 7 and invariants I4, I6 and I7 of semantics 11 on random and adversarial histories.
#include <random>
#include <string>
#include <utility>

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

// I7 over a long history: when nothing happens any more but time, everything comes to rest.
class LongHistory : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(LongHistory, ComesToRestWithTimeAlone) {
  std::mt19937_64 random(GetParam());
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
  EXPECT_GT(driver.stopped(), 0) << "the history takes nothing back";
  // A window that opens lets others claim: that is no rest, and not meant here.
  for (const std::string& queue : driver.scheduler().queue_names()) {
    QueueSpec open = driver.symbols().queues.at(queue);
    open.windows.clear();
    driver.tell(sched::QueueUpserted{std::move(open)});
  }
  std::string late;
  for (int step = 0; step < 200 && !driver.failed(); ++step) {
    const std::int64_t stopped = driver.stopped();
    const std::size_t said = driver.decisions().size();
    driver.advance(driver.now() + (step % 2 == 0 ? minutes(1) : hours(1)));
    if (step >= 150 && driver.stopped() > stopped) late += driver.decisions().substr(said);
  }
  ASSERT_FALSE(driver.failed()) << written(driver.history(), "ComesToRestWithTimeAlone",
                                           driver.complaint());
  EXPECT_EQ(late, "") << "tasks are still stopped, four days after the last event";
}

INSTANTIATE_TEST_SUITE_P(TakingBack, LongHistory, ::testing::Values(2, 3));

}  // namespace
}  // namespace fairlead::property
