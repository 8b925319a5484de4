#include "sched/state/pool_state.h"

#include <gtest/gtest.h>

#include "sched/testing.h"

namespace fairlead::sched::testing {
namespace {

// Levels zone, rack. Added in the order c b a d e f g.
class Topology : public ::testing::Test {
 protected:
  Names names;
  ClassId t4 = names.define("T4");
  TestPool pool{names};

  void SetUp() override {
    for (const auto& [name, topology] :
         std::vector<std::pair<std::string, std::vector<std::string>>>{{"c", {"z2", "r1"}},
                                                                       {"b", {"z1", "r2"}},
                                                                       {"a", {"z1", "r1"}},
                                                                       {"d", {"z1", "r2"}},
                                                                       {"e", {}},
                                                                       {"f", {"z1"}},
                                                                       {"g", {"", "r9"}}}) {
      pool.add(NodeOf(names, name).gpus(2, t4).cells({4'000}).at(topology));
    }
    pool.order(2);
  }
  PoolState& state() { return pool.state(); }
  std::string order() {
    std::string out;
    for (std::uint32_t s = 0; s < state().slot_count(); ++s) out += state().node_at(s).spec.name;
    return out;
  }
  std::uint32_t slot(const std::string& name) {
    for (std::uint32_t s = 0; s < state().slot_count(); ++s) {
      if (state().node_at(s).spec.name == name) return s;
    }
    return UINT32_MAX;
  }
  static std::string text(const std::vector<Domain>& domains) {
    std::string out;
    for (const Domain& d : domains) {
      out += (out.empty() ? "" : " ") + d.name + "[" + std::to_string(d.slots.begin) + "," +
             std::to_string(d.slots.end) + ")";
    }
    return out;
  }
};

TEST_F(Topology, NodesStandByPathThenAsAddedAndNowhereComesLast) {
  // z1/r1: a; z1/r2: b, d as they were added; z1 without a rack: f; z2/r1: c; no zone: g, then e.
  EXPECT_EQ(order(), "abdfcge");
  for (std::uint32_t s = 0; s < state().slot_count(); ++s) EXPECT_EQ(state().node_at(s).slot, s);
}

TEST_F(Topology, EveryDomainIsOneInterval) {
  EXPECT_EQ(text(state().domains(0, state().all())), "z1[0,4) z2[4,5)");
  EXPECT_EQ(text(state().domains(1, state().all())), "r1[0,1) r2[1,3) r1[4,5) r9[5,6)")
      << "racks of one name in two zones are two";
  EXPECT_EQ(text(state().domains(1, {0, 4})), "r1[0,1) r2[1,3)") << "those inside z1";
  EXPECT_EQ(text(state().domains(state().host_level(), {1, 3})), "b[1,2) d[2,3)");
  EXPECT_EQ(text(state().domains(kWholePool, state().all())), "default[0,7)");
}

TEST_F(Topology, KnowsTheDomainOfASlot) {
  EXPECT_EQ(state().domain_of(1, slot("d")), (SlotRange{1, 3}));
  EXPECT_EQ(state().domain_of(0, slot("f")), (SlotRange{0, 4}));
  EXPECT_EQ(state().domain_of(1, slot("f")).size(), 0U) << "f is in no rack";
  EXPECT_EQ(state().domain_of(0, slot("e")).size(), 0U);
  EXPECT_EQ(state().domain_of(state().host_level(), slot("c")), (SlotRange{4, 5}));
  EXPECT_EQ(state().domain_of(kWholePool, slot("c")), state().all());
  EXPECT_EQ(state().domain_name(1, slot("d")), "r2");
  EXPECT_EQ(state().domain_name(state().host_level(), slot("d")), "d");
}

TEST_F(Topology, FreeCountersFollowEveryTakeAndGive) {
  const TaskClass& task = names.task(portion(300, 1, 1'000));
  const NodeId d = state().id_at(slot("d"));
  EXPECT_EQ(state().free_milli(state().all()), 7 * 2'000);
  const TaskPlacement placed = pool.put(d, task);
  EXPECT_EQ(state().free_milli(state().all()), 14'000 - 300);
  EXPECT_EQ(state().domains(0, state().all())[0].free_milli, 8'000 - 300);
  EXPECT_EQ(state().domains(0, state().all())[0].free_cpu, 16'000 - 1'000);
  EXPECT_EQ(state().domains(1, state().all())[1].free_milli, 4'000 - 300);
  EXPECT_EQ(state().domains(0, state().all())[1].free_milli, 2'000)
      << "z2 has nothing to do with it";
  EXPECT_EQ(state().free_milli({1, 3}), 3'700) << "a domain";
  EXPECT_EQ(state().free_milli({2, 5}), 5'700) << "a range that is none: d f c";
  state().give(d, placed, task);
  EXPECT_EQ(state().free_milli({1, 3}), 4'000);
  EXPECT_EQ(state().free_milli({2, 5}), 6'000);
}

TEST_F(Topology, UnusableNodesCountAsNothingFree) {
  const NodeId d = state().id_at(slot("d"));
  pool.node(d).spec.schedulable = false;
  state().touched(d);
  EXPECT_EQ(state().free_milli({1, 3}), 2'000);
  EXPECT_EQ(state().free_milli(state().all()), 12'000);
  EXPECT_EQ(state().domains(0, state().all())[0].free_cpu, 12'000);
  // What is given back on it meanwhile is not counted twice when it returns.
  const TaskClass& task = names.task(gpus(1));
  const TaskPlacement placed = pool.put(d, task);
  EXPECT_EQ(state().free_milli({1, 3}), 2'000);
  pool.node(d).spec.schedulable = true;
  state().touched(d);
  EXPECT_EQ(state().free_milli({1, 3}), 3'000);
  state().give(d, placed, task);
  EXPECT_EQ(state().free_milli({1, 3}), 4'000);
}

TEST_F(Topology, OnlyWhatMayHaveBecomeFreeRaisesTheReleaseVersion) {
  const NodeId a = state().id_at(slot("a"));
  const std::uint64_t before = state().release_version;
  pool.put(a, names.task(gpus(1)));
  EXPECT_EQ(state().release_version, before);
  state().retouch(a);
  EXPECT_EQ(state().release_version, before) << "a trial that is taken back releases nothing";
  state().touched(a);
  EXPECT_GT(state().release_version, before);
}

TEST_F(Topology, EveryChangeRaisesTheNodesVersionAndIsInTheJournal) {
  const NodeId a = state().id_at(slot("a"));
  const std::uint64_t from = state().journal_end();
  const std::uint32_t version = pool.node(a).version;
  pool.put(a, names.task(gpus(1)));
  pool.put(state().id_at(slot("c")), names.task(gpus(1)));
  EXPECT_GT(pool.node(a).version, version);
  ASSERT_EQ(state().journal_end(), from + 2);
  EXPECT_EQ(state().journal_at(from), slot("a"));
  EXPECT_EQ(state().journal_at(from + 1), slot("c"));
}

TEST_F(Topology, AnOldJournalIsTrimmedAndSaysSo) {
  const NodeId a = state().id_at(slot("a"));
  const NodeId c = state().id_at(slot("c"));
  const std::uint64_t start = state().journal_begin();
  // At most 8 × 7 nodes + 1024 = 1080 entries are kept.
  for (int i = 0; i < 1'080; ++i) state().retouch(a);
  EXPECT_EQ(state().journal_begin(), start);
  state().retouch(c);
  EXPECT_EQ(state().journal_begin(), start + 1'081 / 2);
  EXPECT_EQ(state().journal_end(), start + 1'081) << "positions go on";
  EXPECT_EQ(state().journal_at(state().journal_end() - 1), slot("c"));
  EXPECT_EQ(state().journal_at(state().journal_begin()), slot("a"));
}

TEST_F(Topology, ReorderingStartsTheJournalAnew) {
  const std::uint32_t version = state().order_version();
  state().retouch(state().id_at(0));
  const std::uint64_t end = state().journal_end();
  state().mark_unordered();
  EXPECT_FALSE(state().ordered());
  pool.add(NodeOf(names, "z").at({"z0", "r0"}));
  pool.order(2);
  EXPECT_EQ(order(), "zabdfcge");
  EXPECT_GT(state().order_version(), version);
  EXPECT_EQ(state().journal_begin(), end);
  EXPECT_EQ(state().journal_end(), end) << "whoever followed it starts over";
}

TEST(PoolState, NodesAreGroupedByTheGpusTheyHave) {
  Names names;
  const ClassId t4 = names.define("T4");
  const ClassId l4 = names.define("L4");
  TestPool pool(names);
  pool.add(NodeOf(names, "cpu"));
  pool.add(NodeOf(names, "t").gpus(2, t4));
  pool.add(NodeOf(names, "l").gpus(4, l4));
  pool.add(NodeOf(names, "u").gpus(2, t4));
  pool.order();
  ASSERT_EQ(pool.state().group_count(), 3U);
  EXPECT_EQ(pool.state().group_at(0), 0U);
  EXPECT_EQ(pool.state().group_at(1), pool.state().group_at(3));
  EXPECT_EQ(pool.state().free_in_group(1), 4'000);
  EXPECT_EQ(pool.state().free_in_group(2), 4'000);
  pool.put(NodeId(1), names.task(portion(100)));
  EXPECT_EQ(pool.state().free_in_group(1), 3'900);
  EXPECT_EQ(pool.state().total_in_group(1), 4'000) << "as if empty";
}

TEST(PoolState, APoolWithoutNodesHasNothing) {
  Names names;
  TestPool pool(names);
  pool.order(2);
  EXPECT_EQ(pool.state().slot_count(), 0U);
  EXPECT_EQ(pool.state().free_milli(pool.state().all()), 0);
  EXPECT_TRUE(pool.state().domains(0, pool.state().all()).empty());
}

}  // namespace
}  // namespace fairlead::sched::testing
