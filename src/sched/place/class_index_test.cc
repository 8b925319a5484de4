#include "sched/place/class_index.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "sched/testing.h"

namespace fairlead::sched::testing {
namespace {

// Scores of a node are its free CPUs; groups have prices: whole cores, in milli.
class StatedScorer final : public Scorer {
 public:
  std::vector<std::int64_t> prices;
  std::int32_t score(const TaskClass&, const NodeState& node) const override {
    return static_cast<std::int32_t>(node.free.cpu);
  }
  std::int64_t price(const TaskClass&, std::size_t group, const PoolState&) const override {
    return group < prices.size() ? prices[group] : 0;
  }
  void forget() { ++version_; }
};

class Index : public ::testing::Test {
 protected:
  Names names;
  ClassId t4 = names.define("T4");
  ClassId l4 = names.define("L4");
  TestPool pool{names};
  StatedScorer scorer;
  const TaskClass& task = names.task(gpus(1));
};

TEST_F(Index, BestIsTheHighestScoreAndTheLowestSlotAmongEquals) {
  for (const std::int64_t cores : {4'000, 9'000, 7'000, 9'000})
    pool.add(NodeOf(names, "n").cells({cores}).gpus(1, t4));
  pool.order();
  ClassIndex index(task, pool.state(), scorer);
  index.catch_up();
  EXPECT_EQ(index.best({0, 4}), 1U);
  EXPECT_EQ(index.best({0, 1}), 0U);
  EXPECT_EQ(index.best({2, 4}), 3U);
  EXPECT_EQ(index.best({2, 3}), 2U);
  EXPECT_EQ(index.best({2, 2}), ClassIndex::kNoSlot);
  EXPECT_EQ(index.slots({0, 4}), 4);
  EXPECT_EQ(index.slots({1, 3}), 2);
  EXPECT_EQ(index.total(), 4);
  pool.put(NodeId(1), task);
  index.catch_up();
  EXPECT_EQ(index.best({0, 4}), 3U) << "slot 1 is full";
  EXPECT_EQ(index.best({0, 3}), 2U);
  EXPECT_EQ(index.slots({0, 4}), 3);
  EXPECT_EQ(index.empty_total(), 4) << "empty, it would hold one again";
}

TEST_F(Index, AWinnerWhoseScoreDropsLosesFurtherUp) {
  // Of 9, 1, 8, 1 cores the first wins its pair and all. With 2 cores less it still wins its pair,
  // but 7 against 8 no longer all.
  for (const std::int64_t cores : {9'000, 1'000, 8'000, 1'000}) {
    pool.add(NodeOf(names, "n").cells({cores}).gpus(1, t4));
  }
  pool.order();
  ClassIndex index(task, pool.state(), scorer);
  index.catch_up();
  EXPECT_EQ(index.best({0, 4}), 0U);
  pool.put(NodeId(0), names.task(cpus(2'000)));
  index.catch_up();
  EXPECT_EQ(index.best({0, 2}), 0U);
  EXPECT_EQ(index.best({0, 4}), 2U);
}

TEST_F(Index, PricesOfAGroupComeOffItsScores) {
  pool.add(NodeOf(names, "a").cells({9'000}).gpus(1, t4));
  pool.add(NodeOf(names, "b").cells({7'000}).gpus(1, l4));
  pool.add(NodeOf(names, "c").cells({8'000}).gpus(1, l4));
  pool.order();
  ClassIndex index(task, pool.state(), scorer);
  index.catch_up();
  EXPECT_EQ(index.best({0, 3}), 0U);
  scorer.prices = {0, 1'500, 0};  // T4: 9 − 1.5 = 7.5 against 7 and 8
  EXPECT_EQ(index.best({0, 3}), 2U) << "prices are asked anew, nothing has to be told";
  EXPECT_EQ(index.best({0, 2}), 0U);
  scorer.prices = {0, 1'000, 0};
  EXPECT_EQ(index.best({0, 3}), 0U) << "8 against 8: the lower slot";
  scorer.prices = {0, 2'001, 0};
  EXPECT_EQ(index.best({0, 2}), 1U);
}

TEST_F(Index, CountsWhichFilterTurnedNodesAway) {
  pool.add(NodeOf(names, "a").gpus(1, t4));
  pool.add(NodeOf(names, "b"));
  NodeOf cordoned(names, "c");
  cordoned.gpus(1, t4).spec().schedulable = false;
  pool.add(cordoned);
  pool.order();
  pool.put(NodeId(0), task);
  ClassIndex index(task, pool.state(), scorer);
  index.catch_up();
  const auto rejected = [&](Filter f) { return index.rejected()[static_cast<std::size_t>(f)]; };
  EXPECT_EQ(rejected(Filter::kFits), 0);
  EXPECT_EQ(rejected(Filter::kGpu), 1);
  EXPECT_EQ(rejected(Filter::kDeviceClass), 1);
  EXPECT_EQ(rejected(Filter::kCordoned), 1);
  EXPECT_EQ(index.rejected_by(2), Filter::kCordoned);
  pool.node(NodeId(2)).spec.schedulable = true;
  ++pool.node(NodeId(2)).shape_version;
  pool.state().touched(NodeId(2));
  index.catch_up();
  EXPECT_EQ(rejected(Filter::kFits), 1);
  EXPECT_EQ(rejected(Filter::kCordoned), 0);
}

TEST_F(Index, LooksOnlyAtNodesThatChanged) {
  for (int i = 0; i < 100; ++i) pool.add(NodeOf(names, "n").gpus(2, t4));
  pool.order();
  ClassIndex index(task, pool.state(), scorer);
  index.catch_up();
  const std::int64_t before = index.evaluations();
  pool.put(NodeId(3), task);
  pool.put(NodeId(3), task);
  pool.put(NodeId(70), task);
  index.catch_up();
  EXPECT_EQ(index.evaluations(), before + 2) << "node 3 changed twice and is looked at once";
  index.catch_up();
  EXPECT_EQ(index.evaluations(), before + 2);
}

TEST_F(Index, StartsOverWhenTheJournalWasTrimmedOrScoresAreVoid) {
  for (int i = 0; i < 3; ++i) pool.add(NodeOf(names, "n").gpus(2, t4));
  pool.order();
  ClassIndex index(task, pool.state(), scorer);
  index.catch_up();
  for (int i = 0; i < 2'000; ++i) pool.state().retouch(NodeId(1));
  pool.put(NodeId(0), task);
  for (int i = 0; i < 2'000; ++i) pool.state().retouch(NodeId(1));
  index.catch_up();
  EXPECT_EQ(index.slots({0, 1}), 1);
  EXPECT_EQ(index.total(), 5);
  const std::int64_t before = index.evaluations();
  scorer.forget();
  index.catch_up();
  EXPECT_EQ(index.evaluations(), before + 3);
}

TEST_F(Index, EvaluatesOneOfThoseThatAreAlike) {
  // 100 equal nodes, of which three hold a task: two states, two evaluations, and again two when
  // scores are void.
  for (int i = 0; i < 100; ++i) pool.add(NodeOf(names, "n").gpus(2, t4));
  pool.order();
  for (const std::size_t i : {3U, 5U, 70U}) pool.put(NodeId(i), task);
  AlikeNodes alike(pool.state());
  ClassIndex index(task, pool.state(), scorer, &alike);
  index.catch_up();
  EXPECT_EQ(index.evaluations(), 2);
  EXPECT_EQ(index.total(), 197);
  EXPECT_EQ(index.empty_total(), 200);
  scorer.forget();
  index.catch_up();
  EXPECT_EQ(index.evaluations(), 4);
  EXPECT_EQ(index.slots({0, 4}), 7);
}

TEST_F(Index, LabelsCountForClassesThatNameThem) {
  // Alike but for a label that only every fourth node has.
  for (int i = 0; i < 8; ++i) {
    NodeOf node(names, "n");
    node.gpus(1, t4);
    if (i % 4 == 0) node.spec().labels["zone"] = "a";
    pool.add(node);
  }
  pool.order();
  Constraints zone_a;
  zone_a.node_selector["zone"] = "a";
  AlikeNodes alike(pool.state());
  ClassIndex index(names.task(gpus(1), zone_a), pool.state(), scorer, &alike);
  index.catch_up();
  EXPECT_EQ(index.total(), 2);
  EXPECT_EQ(index.rejected_by(1), Filter::kSelector);
  EXPECT_EQ(index.best({1, 8}), 4U);
}

TEST_F(Index, AnEmptyPoolFitsNothing) {
  pool.order();
  ClassIndex index(task, pool.state(), scorer);
  index.catch_up();
  EXPECT_EQ(index.best(pool.state().all()), ClassIndex::kNoSlot);
  EXPECT_EQ(index.slots(pool.state().all()), 0);
  EXPECT_EQ(index.total(), 0);
}

// Whatever happened to the nodes, the index that followed the journal equals one built now, and
// its answers over ranges equal a walk over the slots (I11).
RC_GTEST_PROP(IndexProperty, EqualsAFreshlyBuiltOne, ()) {
  const auto within = [](std::int64_t low, std::int64_t high) {
    return *rc::gen::inRange<std::int64_t>(low, high + 1);
  };
  Names names;
  const std::vector<ClassId> classes{names.define("T4"), names.define("L4")};
  TestPool pool(names);
  const auto nodes = static_cast<std::uint32_t>(within(1, 12));
  for (std::uint32_t i = 0; i < nodes; ++i) {
    NodeOf node(names, "n" + std::to_string(i));
    node.cells({within(1, 16) * 1'000})
        .gpus(static_cast<int>(within(0, 4)), classes[static_cast<std::size_t>(within(0, 1))]);
    pool.add(node);
  }
  pool.order();
  Constraints only_l4;
  only_l4.device_classes = {"L4"};
  const std::vector<const TaskClass*> tasks{
      &names.task(gpus(1, 1'000)), &names.task(gpus(2)), &names.task(portion(300, 1, 500)),
      &names.task(cpus(2'000)), &names.task(portion(500, 2), only_l4)};
  std::vector<std::unique_ptr<ClassIndex>> indices;
  const Scorer& scorer = *pool.placement().scorer;
  for (const TaskClass* t : tasks)
    indices.push_back(std::make_unique<ClassIndex>(*t, pool.state(), scorer));

  struct Running {
    NodeId node;
    TaskPlacement placement;
    const TaskClass* task;
  };
  std::vector<Running> running;
  const std::int64_t steps = within(20, 150);
  for (std::int64_t i = 0; i < steps; ++i) {
    const NodeId id(static_cast<std::size_t>(within(0, nodes - 1)));
    NodeState& node = pool.node(id);
    switch (within(0, 6)) {
      case 0:
      case 1:
      case 2: {
        const TaskClass* t = tasks[static_cast<std::size_t>(within(0, 4))];
        if (fit(*t, node).slots > 0) running.push_back({id, pool.put(id, *t), t});
        break;
      }
      case 3:
      case 4:
        if (running.empty()) break;
        pool.state().give(running.back().node, running.back().placement, *running.back().task);
        running.pop_back();
        break;
      case 5:
        node.spec.schedulable = !node.spec.schedulable;
        ++node.shape_version;
        pool.state().touched(id);
        break;
      default:
        if (node.free.devices.empty()) break;
        node.free.devices[0].healthy = !node.free.devices[0].healthy;
        ++node.shape_version;
        pool.state().touched(id);
    }
    if (within(0, 3) == 0) indices[static_cast<std::size_t>(within(0, 4))]->catch_up();
  }

  for (std::size_t t = 0; t < tasks.size(); ++t) {
    ClassIndex& kept = *indices[t];
    kept.catch_up();
    ClassIndex fresh(*tasks[t], pool.state(), scorer);
    fresh.catch_up();
    RC_ASSERT(kept.total() == fresh.total());
    RC_ASSERT(kept.empty_total() == fresh.empty_total());
    RC_ASSERT(kept.rejected() == fresh.rejected());
    for (std::uint32_t s = 0; s < nodes; ++s) {
      RC_ASSERT(kept.slots_at(s) == fit(*tasks[t], pool.state().node_at(s)).slots);
      RC_ASSERT(kept.score_at(s) == fresh.score_at(s));
      RC_ASSERT(kept.rejected_by(s) == fresh.rejected_by(s));
      RC_ASSERT(kept.empty_slots_at(s) == fresh.empty_slots_at(s));
    }
    const auto begin = static_cast<std::uint32_t>(within(0, nodes));
    const auto end = static_cast<std::uint32_t>(within(begin, nodes));
    std::int64_t sum = 0;
    std::uint32_t best = ClassIndex::kNoSlot;
    for (std::uint32_t s = begin; s < end; ++s) {
      sum += kept.slots_at(s);
      if (kept.slots_at(s) == 0) continue;
      if (best == ClassIndex::kNoSlot || kept.score_at(s) > kept.score_at(best)) best = s;
    }
    RC_ASSERT(kept.slots({begin, end}) == sum);
    RC_ASSERT(kept.best({begin, end}) == best);
    RC_ASSERT(fresh.best({begin, end}) == best);
  }
}

// Sharing evaluations among nodes that are alike changes no answer: few kinds of nodes with labels,
// taints, MIG and cores near devices, in states that repeat.
RC_GTEST_PROP(IndexProperty, SharedEvaluationsEqualUnsharedOnes, ()) {
  const auto below = [](std::uint32_t n) { return *rc::gen::inRange<std::uint32_t>(0, n); };
  Names names;
  const ClassId a100 = names.define("A100-80GB");
  const ClassId t4 = names.define("T4");
  const std::string policies[] = {"default", "fgd", "bestfit"};
  PoolSpec spec;
  if (below(4) == 0) spec.gpu_strategy = spec.cpu_strategy = Strategy::kSpread;
  TestPool pool(names, policies[below(3)], spec);
  const std::uint32_t nodes = 1 + below(16);
  for (std::uint32_t i = 0; i < nodes; ++i) {
    NodeOf node(names, "n");
    switch (below(4)) {
      case 0:
        node.cells({4'000, 4'000}).gpu(a100, 0).gpu(a100, 1);
        break;
      case 1:
        node.mig_gpu(a100).gpu(a100).extended("licence", 2);
        break;
      case 2:
        node.gpus(2, t4);
        break;
      default:
        node.cells({16'000});
    }
    if (below(3) == 0) node.spec().labels["zone"] = below(2) ? "a" : "b";
    if (below(4) == 0) node.spec().taints = {{"spot", "", static_cast<TaintEffect>(below(2))}};
    if (below(6) == 0) node.spec().node_type = "dgx";
    pool.add(node);
  }
  pool.order();
  Constraints zone_a;
  zone_a.node_selector["zone"] = "a";
  Constraints not_b;
  not_b.affinity = {{"zone", MatchOperator::kNotIn, {"b"}}};
  not_b.tolerations = {{}};
  Constraints dgx;
  dgx.node_types = {"dgx"};
  const std::vector<const TaskClass*> tasks{&names.task(gpus(1, 1'000)),
                                            &names.task(gpus(2), zone_a),
                                            &names.task(portion(300, 1, 500)),
                                            &names.task(portion(500, 2), not_b),
                                            &names.task(device_memory(4'000)),
                                            &names.task(mig("1g.10gb", 1, 500)),
                                            &names.task(near_cores(gpus(1, 3'000))),
                                            &names.task(cpus(2'000)),
                                            &names.task(cpus(1'000), dgx)};
  const auto any = [&]() -> const TaskClass& {
    return *tasks[below(static_cast<std::uint32_t>(tasks.size()))];
  };
  const auto state_mix = [&] {
    pool.placement().scorer->state_mix({{&any(), 1 + below(5)}, {&any(), 1 + below(5)}});
    pool.refresh();
  };
  AlikeNodes alike(pool.state(), below(2) ? UINT64_MAX : 0);
  const Scorer& scorer = *pool.placement().scorer;
  std::vector<std::unique_ptr<ClassIndex>> shared;
  for (const TaskClass* t : tasks)
    shared.push_back(std::make_unique<ClassIndex>(*t, pool.state(), scorer, &alike));
  const std::uint32_t steps = below(60);
  for (std::uint32_t i = 0; i < steps; ++i) {
    const NodeId id(below(nodes));
    NodeState& node = pool.node(id);
    const std::uint32_t what = below(10);
    if (what == 0) {
      node.spec.schedulable = !node.spec.schedulable;
      ++node.shape_version;
      pool.state().touched(id);
    } else if (what == 1 && !node.free.devices.empty()) {
      node.free.devices[0].healthy = !node.free.devices[0].healthy;
      ++node.shape_version;
      pool.state().touched(id);
    } else if (what == 2) {
      state_mix();
    } else if (what == 3) {
      pool.order();
    } else if (const TaskClass& t = any(); fit(t, node).slots > 0) {
      pool.put(id, t);
    }
    if (below(3) == 0) shared[below(static_cast<std::uint32_t>(tasks.size()))]->catch_up();
  }
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    ClassIndex alone(*tasks[t], pool.state(), scorer);
    alone.catch_up();
    shared[t]->catch_up();
    ClassIndex fresh(*tasks[t], pool.state(), scorer, &alike);
    fresh.catch_up();
    for (const ClassIndex* index : {shared[t].get(), &fresh}) {
      RC_ASSERT(index->total() == alone.total());
      RC_ASSERT(index->empty_total() == alone.empty_total());
      RC_ASSERT(index->rejected() == alone.rejected());
      RC_ASSERT(index->best(pool.state().all()) == alone.best(pool.state().all()));
      for (std::uint32_t s = 0; s < nodes; ++s) {
        RC_ASSERT(index->slots_at(s) == alone.slots_at(s));
        RC_ASSERT(index->score_at(s) == alone.score_at(s));
        RC_ASSERT(index->empty_slots_at(s) == alone.empty_slots_at(s));
        RC_ASSERT(index->rejected_by(s) == alone.rejected_by(s));
      }
    }
    RC_ASSERT(fresh.evaluations() <= alone.evaluations());
  }
}

}  // namespace
}  // namespace fairlead::sched::testing
