#include "sched/place/alike_nodes.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "sched/testing.h"

namespace fairlead::sched::testing {
namespace {

class Alike : public ::testing::Test {
 protected:
  Names names;
  ClassId t4 = names.define("T4");
  ClassId l4 = names.define("L4");
  TestPool pool{names};

  NodeState plain(const std::string& name) {
    return NodeOf(names, name).cells({8'000}).gpus(2, t4).at({"rack-" + name});
  }
};

TEST_F(Alike, NameLabelsAndPlaceDoNotTellNodesApart) {
  NodeState labelled = plain("b");
  labelled.spec.labels["host"] = "b";
  pool.add(plain("a"));
  pool.add(labelled);
  pool.order(1);
  AlikeNodes alike(pool.state());
  alike.follow();
  EXPECT_EQ(alike.at(0).number, alike.at(1).number);
  EXPECT_EQ(alike.numbers(), 1U);
}

TEST_F(Alike, WhatFitsAndScoresReadTellsNodesApart) {
  pool.add(plain("plain"));
  NodeState tainted = plain("tainted");
  tainted.spec.taints = {{"spot", "", TaintEffect::kPreferNoSchedule}};
  pool.add(tainted);
  NodeState typed = plain("typed");
  typed.spec.node_type = "dgx";
  pool.add(typed);
  NodeState cordoned = plain("cordoned");
  cordoned.spec.schedulable = false;
  pool.add(cordoned);
  NodeState lost = plain("lost");
  lost.spec.ready = false;
  pool.add(lost);
  NodeState broken = plain("broken");
  broken.free.devices[1].healthy = false;
  pool.add(broken);
  NodeState used = plain("used");
  used.free.devices[1].free_milli = 500;
  pool.add(used);
  NodeState other = plain("other");
  other.free.devices[0].free_milli = 500;
  pool.add(other);
  pool.add(NodeOf(names, "l4").cells({8'000}).gpus(2, l4));
  pool.add(NodeOf(names, "mig").cells({8'000}).mig_gpu(t4).gpu(t4));
  pool.add(NodeOf(names, "linked").cells({8'000}).gpu(t4, 0, 0, 1).gpu(t4, 0, 0, 1));
  pool.add(NodeOf(names, "cells").cells({4'000, 4'000}).gpus(2, t4));
  pool.order();
  AlikeNodes alike(pool.state());
  alike.follow();
  EXPECT_EQ(alike.numbers(), pool.state().slot_count());
}

TEST_F(Alike, AChangedNodeChangesItsNumberAndOneThatIsRestoredGetsItBack) {
  for (const char* name : {"a", "b", "c"}) pool.add(plain(name));
  pool.order();
  AlikeNodes alike(pool.state());
  alike.follow();
  const TaskClass& task = names.task(gpus(1, 1'000));
  const TaskPlacement placement = pool.put(NodeId(1), task);
  alike.follow();
  EXPECT_NE(alike.at(1).number, alike.at(0).number);
  EXPECT_EQ(alike.at(1).kind, alike.at(0).kind);
  pool.state().give(NodeId(1), placement, task);
  alike.follow();
  EXPECT_EQ(alike.at(1).number, alike.at(0).number);
}

TEST_F(Alike, StatesThatNoNodeIsInAreForgotten) {
  // Two nodes whose room takes a hundred different values: their numbers are used again.
  pool.add(plain("a"));
  pool.add(plain("b"));
  pool.order();
  AlikeNodes alike(pool.state());
  for (std::int64_t i = 1; i <= 100; ++i) {
    pool.put(NodeId(0), names.task(cpus(i)));
    alike.follow();
    EXPECT_EQ(alike.numbers(), 2U);
  }
}

// Equal numbers exactly for equal states, also if every hash collides, whatever was followed.
RC_GTEST_PROP(AlikeProperty, NumbersAreEqualExactlyForEqualStates, ()) {
  const auto below = [](std::uint32_t n) { return *rc::gen::inRange<std::uint32_t>(0, n); };
  Names names;
  const ClassId t4 = names.define("T4");
  TestPool pool(names);
  const std::uint32_t nodes = 2 + below(8);
  for (std::uint32_t i = 0; i < nodes; ++i)
    pool.add(NodeOf(names, "n").cells({4'000 + 4'000 * below(2)}).gpus(2, t4));
  pool.order();
  AlikeNodes hashed(pool.state());
  AlikeNodes colliding(pool.state(), 0);
  const std::vector<const TaskClass*> tasks{&names.task(gpus(1)), &names.task(portion(500)),
                                            &names.task(cpus(1'000))};
  const std::uint32_t steps = below(40);
  for (std::uint32_t i = 0; i < steps; ++i) {
    const NodeId id(below(nodes));
    const TaskClass& task = *tasks[below(3)];
    if (below(6) == 0) {
      pool.node(id).spec.schedulable = !pool.node(id).spec.schedulable;
      ++pool.node(id).shape_version;
      pool.state().touched(id);
    } else if (below(12) == 0) {
      pool.order();
    } else if (room_fit(task, pool.node(id).free).slots > 0) {
      pool.put(id, task);
    }
    if (below(3) == 0) hashed.follow();
    if (below(3) == 0) colliding.follow();
  }
  hashed.follow();
  colliding.follow();
  for (std::uint32_t a = 0; a < nodes; ++a) {
    for (std::uint32_t b = 0; b < a; ++b) {
      const NodeState& x = pool.state().node_at(a);
      const NodeState& y = pool.state().node_at(b);
      const bool same =
          x.spec.schedulable == y.spec.schedulable && x.empty == y.empty && x.free == y.free;
      RC_ASSERT((hashed.at(a).number == hashed.at(b).number) == same);
      RC_ASSERT((colliding.at(a).number == colliding.at(b).number) == same);
    }
  }
}

}  // namespace
}  // namespace fairlead::sched::testing
