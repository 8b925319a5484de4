// What is packed unpacks to the same, for every kind of event and decision.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "model/cluster_generator_testing.h"
#include "sim/log/decision_codec.h"
#include "sim/log/event_codec.h"
#include "sim/log/record_codec.h"
#include "sim/log/spec_fields.h"

namespace fairlead::sim {
namespace {

constexpr Instant kAt{1'767'571'200'123};

template <class E>
E read_back(const E& event) {
  const auto record = decode_record(encode_event(kAt, event));
  EXPECT_TRUE(record) << record.error().text();
  if (!record) return {};
  EXPECT_EQ(record->at, kAt);
  const auto* read = std::get_if<E>(&std::get<EventRecord>(record->what).event);
  EXPECT_NE(read, nullptr) << "another kind of event";
  if (read == nullptr) return {};
  EXPECT_EQ(encode_event(kAt, *read), encode_event(kAt, event)) << "other bytes";
  return *read;
}

// One of every kind of event, with no field at its default.
std::vector<sched::Event> one_of_each() {
  DeviceClass type{"own", MiB(1000), 7, 8, {MigProfile{"1g", 1, 1, MiB(100), {0, 6}}}};
  PoolSpec pool;
  pool.name = "p";
  pool.exchange_rates["own"] = 1;
  NodeSpec node;
  node.name = "n";
  node.taints = {{"k", "v", TaintEffect::kNoExecute}};
  WorkloadSpec workload;
  workload.name = "w";
  workload.pools = {};
  WorkloadEntry entry{workload, Instant{-5}, Instant{7}, {{"r", 1, "n", {"gpu-0"}}}};
  sched::WorkloadChanged changed{"w", 7, -8, {{"r", 3, std::nullopt}, {"s", std::nullopt, 0}}};
  sched::MixStated mix;
  mix.entries.push_back({});
  mix.entries.back().count = 5;
  mix.entries.back().request.gpu =
      GpuRequest{GpuRequestKind::kMemory, 2, {}, MiB(3), "", {}, MiB(4)};
  QueueSpec queue;
  queue.name = "q";
  queue.pools["p"]["gpu"].quota = kUnlimited;
  return {sched::TopologyDefined{{"zone", "rack"}},
          sched::DeviceClassDefined{type},
          sched::PoolDefined{pool},
          sched::NodeUpserted{node},
          sched::NodeRemoved{"n"},
          sched::NodeConditionChanged{"n", false, false},
          sched::DeviceHealthChanged{"n", "gpu-0", DeviceHealth::kUnhealthy},
          sched::QueueUpserted{queue},
          sched::QueueRemoved{"q"},
          sched::WorkloadSubmitted{workload},
          sched::WorkloadAdopted{entry},
          changed,
          sched::WorkloadRemoved{"w"},
          sched::TaskEnded{"w", "r", 3, sched::TaskOutcome::kLost},
          sched::CheckpointSaved{"w", "r", 2},
          sched::WorkloadRequeued{"w"},
          sched::StartRefused{"w", kNever},
          mix,
          sched::ReservationUpserted{{"r", {"n"}, Instant{5}, Instant{9}, {"q"}}},
          sched::ReservationRemoved{"r"},
          sched::UsageRestored{"p", "q", "gpu", "1 2 3"},
          sched::RuntimesRestored{"u", "t", {seconds(1), hours(2)}},
          sched::TimePassed{}};
}

TEST(EventCodec, EveryKindReadsBackToTheSameBytesUnderItsOwnName) {
  const auto events = one_of_each();
  ASSERT_EQ(events.size(), std::variant_size_v<sched::Event>);
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < events.size(); ++i) {
    ASSERT_EQ(events[i].index(), i) << "one of each kind, in their order";
    names.insert(event_kind(events[i]));
    std::visit([](const auto& event) { read_back(event); }, events[i]);
  }
  EXPECT_EQ(names.size(), events.size());
}

TEST(EventCodec, WhatIsNoDefaultIsKept) {
  const auto ended = read_back(sched::TaskEnded{"w", "r", 3, sched::TaskOutcome::kLost});
  EXPECT_EQ(ended.workload, "w");
  EXPECT_EQ(ended.role, "r");
  EXPECT_EQ(ended.index, 3);
  EXPECT_EQ(ended.outcome, sched::TaskOutcome::kLost);
  const auto changed = read_back(
      sched::WorkloadChanged{"w", 7, -8, {{"r", 3, std::nullopt}, {"s", std::nullopt, 0}}});
  EXPECT_EQ(changed.priority, 7);
  EXPECT_EQ(changed.order_key, -8);
  ASSERT_EQ(changed.roles.size(), 2U);
  EXPECT_EQ(changed.roles[0].count, 3);
  EXPECT_EQ(changed.roles[0].min, std::nullopt);
  EXPECT_EQ(changed.roles[1].min, 0);
  EXPECT_EQ(read_back(sched::StartRefused{"w", kNever}).retry_at, kNever);
}

// An optional that holds the default of its type is not the same as none.
TEST(EventCodec, NothingAndZeroAreTwoThings) {
  sched::WorkloadChanged zero;
  zero.priority = 0;
  EXPECT_EQ(read_back(zero).priority, 0);
  EXPECT_EQ(read_back(sched::WorkloadChanged{}).priority, std::nullopt);
}

// Names that documents would not allow are on record too, if a core was told them.
TEST(EventCodec, AnyBytesOfANameAreKept) {
  const std::string name("a\0\xff\n\"", 5);
  EXPECT_EQ(read_back(sched::NodeRemoved{name}).node, name);
}

RC_GTEST_PROP(EventCodec, EverythingThatBuildsAClusterReadsBackEqual, ()) {
  const ClusterSpec cluster =
      random_cluster(*rc::gen::arbitrary<std::uint64_t>(), *rc::gen::inRange(1, 8));
  for (const auto& [at, event] : sched::events_of(cluster)) {
    const auto record = decode_record(encode_event(at, event));
    RC_ASSERT(record.has_value());
    RC_ASSERT(record->at == at);
    const sched::Event& read = std::get<EventRecord>(record->what).event;
    if (const auto* e = std::get_if<sched::NodeUpserted>(&event)) {
      RC_ASSERT(std::get<sched::NodeUpserted>(read).node == e->node);
    } else if (const auto* q = std::get_if<sched::QueueUpserted>(&event)) {
      RC_ASSERT(std::get<sched::QueueUpserted>(read).queue == q->queue);
    } else if (const auto* p = std::get_if<sched::PoolDefined>(&event)) {
      RC_ASSERT(std::get<sched::PoolDefined>(read).pool == p->pool);
    } else if (const auto* w = std::get_if<sched::WorkloadSubmitted>(&event)) {
      RC_ASSERT(std::get<sched::WorkloadSubmitted>(read).workload == w->workload);
    } else if (const auto* a = std::get_if<sched::WorkloadAdopted>(&event)) {
      RC_ASSERT(std::get<sched::WorkloadAdopted>(read).entry == a->entry);
    } else if (const auto* c = std::get_if<sched::DeviceClassDefined>(&event)) {
      RC_ASSERT(std::get<sched::DeviceClassDefined>(read).device_class == c->device_class);
    }
  }
}

TEST(HeaderCodec, KeepsEveryOption) {
  LogHeader header{"fairlead 9.9.9", {}};
  header.options.placement = "fgd";
  header.options.seed = UINT64_MAX;
  header.options.reclaim = false;
  header.options.restart_cost = seconds(7);
  const auto read = decode_header(encode_header(header));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->program, "fairlead 9.9.9");
  EXPECT_EQ(read->options.placement, "fgd");
  EXPECT_EQ(read->options.seed, UINT64_MAX);
  EXPECT_FALSE(read->options.reclaim);
  EXPECT_TRUE(read->options.preempt);
  EXPECT_EQ(read->options.restart_cost, seconds(7));
}

TEST(DecisionCodec, KeepsIdsNamesAndClaims) {
  sched::Started started{sched::WorkloadId(3), sched::PoolId(1), true, {}};
  sched::TaskPlacement task{2, 5, sched::NodeId(7), {}, {}};
  task.devices.push_back({1, 4, 2, 4, 3, MilliGpu(428), MiB(20'000)});
  task.devices.push_back({2, -1, -1, 0, 0, MilliGpu(1000), MiB(40'000)});
  task.cpus.push_back({1, MilliCpu(500)});
  started.tasks.push_back(task);
  const sched::Stopped stopped{sched::WorkloadId(3),
                               sched::StopCause::kReclaimed,
                               {{0, 1}},
                               sched::WorkloadId(),
                               "why",
                               seconds(30),
                               Instant{77}};
  const std::vector<NamedDecision> all{
      {started, "w", "p", "", {"n7"}},
      {stopped, "w", "", "", {}},
      {sched::Finished{sched::WorkloadId(3), "w", false}, "w", "", "", {}}};
  const std::string bytes = encode_decisions(kAt, all);
  const auto record = decode_record(bytes);
  ASSERT_TRUE(record) << record.error().text();
  const auto& read = std::get<DecisionRecord>(record->what).decisions;
  EXPECT_EQ(encode_decisions(kAt, read), bytes);
  ASSERT_EQ(read.size(), 3U);
  const auto& s = std::get<sched::Started>(read[0].decision);
  EXPECT_EQ(s.workload, sched::WorkloadId(3));
  EXPECT_TRUE(s.growth);
  EXPECT_EQ(read[0].nodes, std::vector<std::string>{"n7"});
  ASSERT_EQ(s.tasks.size(), 1U);
  EXPECT_EQ(s.tasks[0].node, sched::NodeId(7));
  EXPECT_TRUE(std::equal(task.devices.begin(), task.devices.end(), s.tasks[0].devices.begin(),
                         s.tasks[0].devices.end()));
  EXPECT_TRUE(std::equal(task.cpus.begin(), task.cpus.end(), s.tasks[0].cpus.begin(),
                         s.tasks[0].cpus.end()));
  EXPECT_FALSE(std::get<sched::Stopped>(read[1].decision).claimant.valid());
  EXPECT_EQ(std::get<sched::Stopped>(read[1].decision).text, "why");
  EXPECT_EQ(std::get<sched::Stopped>(read[1].decision).grace, seconds(30));
  EXPECT_EQ(std::get<sched::Stopped>(read[1].decision).submitted, Instant{77});
}

TEST(RecordCodec, RefusesWhatItDoesNotKnow) {
  const auto refusal = [](Packed::Map map) {
    const auto record = decode_record(to_cbor(Packed(std::move(map))));
    return record ? std::string("read") : record.error().text();
  };
  EXPECT_EQ(refusal({}), "holds no time with one event or decision");
  EXPECT_EQ(refusal({{"at", Packed(1)}, {"frobnicated", Packed(Packed::Map{})}}),
            "frobnicated: this version knows no such record");
  EXPECT_EQ(refusal({{"at", Packed(1)},
                     {"removed", Packed(Packed::Map{{"wrkload", Packed(std::string("w"))}})}}),
            "removed.wrkload: is no field that this version knows");
  EXPECT_EQ(
      refusal({{"at", Packed(1)}, {"task-ended", Packed(Packed::Map{{"outcome", Packed(9)}})}}),
      "task-ended.outcome: 9 is not from 0 to 2");
  EXPECT_EQ(refusal({{"at", Packed(std::string("x"))}, {"time", Packed(Packed::Map{})}}),
            "a text stands where a number belongs");
}

// A megabyte of open brackets once ends a recursive reader.
TEST(Packed, DepthIsBounded) {
  const auto read = from_cbor(std::string(1 << 20, '\x81'));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "holds too many levels");
}

TEST(Packed, WhatNoRecordHoldsIsRefused) {
  for (const std::string bytes : {"\xf6", "\xf5", "\xfb?\xf0\x00\x00\x00\x00\x00\x00", "\x41z", "",
                                  "\x1b\xff\xff\xff\xff\xff\xff\xff\xff", "\x01\x01"}) {
    EXPECT_FALSE(from_cbor(bytes)) << bytes;
  }
}

}  // namespace
}  // namespace fairlead::sim
