// Logs as files: whole, torn at every byte, damaged at every byte; replayed and found different.
#include <gtest/gtest.h>

#include "sim/log/log_testing.h"
#include "sim/log/reader.h"
#include "sim/log/record_codec.h"
#include "sim/log/replayer.h"

namespace fairlead::sim {
namespace {

// Two starts, a refusal, an end.
constexpr const char* kSmall =
    "cluster 1 node, 2 gpu\n"
    "submit a gpu=2\n"
    "submit b gpu=1\n"
    "submit huge gpu=3\n"
    "expect huge refused\n"
    "after 1h\n"
    "finish a\n"
    "expect b running\n";

struct Read {
  std::vector<std::string> payloads;
  std::optional<TornEnd> torn;
  std::optional<Error> error;
};

Read read_all(const std::string& log) {
  std::istringstream in(log);
  Read out;
  auto reader = LogReader::open(in, "x.log");
  if (!reader) {
    out.error = reader.error();
    return out;
  }
  while (true) {
    const auto next = reader->next();
    if (!next) {
      out.error = next.error();
      return out;
    }
    if (!*next) break;
    out.payloads.emplace_back(reader->payload());
  }
  out.torn = reader->torn();
  return out;
}

TEST(Log, HoldsWhatWasToldAndWhatCameOfIt) {
  const Read log = read_all(recorded(kSmall));
  ASSERT_FALSE(log.error) << log.error->text();
  EXPECT_FALSE(log.torn);
  std::string kinds;
  for (const std::string& payload : log.payloads) {
    const auto record = decode_record(payload);
    ASSERT_TRUE(record);
    kinds += "ErD"[record->what.index()];
  }
  // Levels, class, node, queue, three submissions of which one is refused; decided, and asked again
  // at rest; an hour later the time, the end, and so on.
  EXPECT_EQ(kinds, "EEEEEEErDDEEDD");
}

TEST(Log, TornAtAnyByteKeepsTheRecordsBefore) {
  const std::string log = recorded(kSmall);
  const std::vector<std::string> all = payloads(log);
  std::vector<std::size_t> ends;  // of each record
  std::size_t at = log_preamble().size();
  for (const std::string& payload : all) ends.push_back(at += kFrameHeadBytes + payload.size());
  ASSERT_EQ(ends.back(), log.size());
  for (std::size_t size = 0; size < log.size(); ++size) {
    const Read read = read_all(log.substr(0, size));
    if (size < ends.front()) {
      ASSERT_TRUE(read.error) << size;
      EXPECT_EQ(read.error->code, ErrorCode::kInvalidArgument);
      continue;
    }
    ASSERT_FALSE(read.error) << size << ": " << read.error->text();
    std::size_t whole = 0;
    while (ends[whole] <= size) ++whole;
    EXPECT_EQ(read.payloads.size(), whole - 1) << size;
    const std::size_t left = size - ends[whole - 1];
    EXPECT_EQ(read.torn.has_value(), left > 0) << size;
    if (read.torn) {
      EXPECT_EQ(read.torn->offset, ends[whole - 1]);
      EXPECT_EQ(read.torn->bytes, left);
    }
  }
}

TEST(Log, ZerosBehindTheLastRecordAreATornEnd) {
  const std::string log = recorded(kSmall);
  const Read read = read_all(log + std::string(5000, '\0'));
  ASSERT_FALSE(read.error) << read.error->text();
  ASSERT_TRUE(read.torn);
  EXPECT_EQ(read.torn->offset, log.size());
  EXPECT_EQ(read.torn->bytes, 5000U);
}

TEST(Log, DamageAtAnyByteIsFoundWithItsPlace) {
  const std::string log = recorded(kSmall);
  const std::vector<std::string> all = payloads(log);
  const std::size_t last = log.size() - all.back().size() - kFrameHeadBytes;
  for (std::size_t i = 0; i < log.size(); ++i) {
    for (const int flip : {0x01, 0x80, 0xFF}) {
      std::string damaged = log;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      const Read read = read_all(damaged);
      // Of the last record, what a crash left and what a disk lost look the same.
      if (i >= last + kFrameHeadBytes) {
        ASSERT_FALSE(read.error) << i;
        ASSERT_TRUE(read.torn) << i;
        EXPECT_EQ(read.torn->offset, last);
        EXPECT_EQ(read.payloads.size() + 2, all.size());
        continue;
      }
      ASSERT_TRUE(read.error) << i;
      EXPECT_EQ(read.error->code, ErrorCode::kInvalidArgument);
      EXPECT_NE(read.error->where.find("x.log"), std::string::npos);
      if (i < log_preamble().size()) continue;
      const std::size_t offset = std::stoul(read.error->where.substr(12));
      EXPECT_LE(offset, i) << read.error->text();
      EXPECT_GT(offset + kFrameHeadBytes + (64U << 10), i);
    }
  }
}

TEST(Log, ALengthThatNoRecordHasIsDamageAndNotMemory) {
  std::string log = log_preamble();
  const std::string head = framed("");
  // The head of a frame of 2 GiB, with the right checksum of its own, as framed() would never make.
  std::string huge = head;
  huge[3] = '\x7f';
  EXPECT_TRUE(read_all(log + huge).error);
}

TEST(Log, AnotherVersionIsNamed) {
  std::string log = recorded(kSmall);
  log[8] = 9;
  const Read read = read_all(log);
  ASSERT_TRUE(read.error);
  EXPECT_EQ(read.error->text(),
            "x.log: is of version 9 of the log format; this program reads version 1; read it with "
            "the program that wrote it");
}

TEST(Log, TimeDoesNotRunBackwards) {
  std::vector<std::string> all = payloads(recorded(kSmall));
  std::swap(all[1], all.back());
  const Read read = read_all(log_of(all));
  ASSERT_TRUE(read.error);
  EXPECT_NE(read.error->message.find("earlier than the one before"), std::string::npos);
}

// The whole log, as far as the core answers as recorded.
struct Replayed {
  ReplayCounts counts;
  std::optional<Difference> difference;
};

Replayed replay_all(const std::string& log) {
  std::istringstream in(log);
  auto replayer = Replayer::open(in, "x.log");
  EXPECT_TRUE(replayer) << replayer.error().text();
  if (!replayer) return {};
  while (true) {
    const auto next = replayer->step();
    EXPECT_TRUE(next) << next.error().text();
    if (!next || !*next) break;
  }
  return {replayer->counts(), replayer->difference()};
}

TEST(Replay, AnswersAsRecorded) {
  const Replayed replayed = replay_all(recorded(kSmall));
  EXPECT_FALSE(replayed.difference);
  EXPECT_EQ(replayed.counts.records, 14);
  EXPECT_EQ(replayed.counts.events, 9);
  EXPECT_EQ(replayed.counts.refused, 1);
  EXPECT_EQ(replayed.counts.decides, 4);
  EXPECT_EQ(replayed.counts.starts, 2);
  EXPECT_EQ(replayed.counts.finishes, 1);
}

TEST(Replay, NamesTheFirstDecisionThatCameOutDifferently) {
  std::vector<std::string> all = payloads(recorded(kSmall));
  // Record 9 is the first decision: a start of a on both devices. Say that it was on one.
  auto record = decode_record(all[9]);
  ASSERT_TRUE(record);
  auto& decisions = std::get<DecisionRecord>(record->what).decisions;
  std::get<sched::Started>(decisions.at(0).decision).tasks[0].devices.pop_back();
  all[9] = encode_decisions(record->at, decisions);
  const Replayed replayed = replay_all(log_of(all));
  ASSERT_TRUE(replayed.difference);
  EXPECT_EQ(replayed.difference->record, 9);
  EXPECT_EQ(replayed.difference->recorded,
            std::vector<std::string>{"-> start a in pool default: 0/0 n1:0;"});
  EXPECT_EQ(replayed.difference->replayed,
            std::vector<std::string>{"-> start a in pool default: 0/0 n1:0+1;"});
  EXPECT_EQ(replayed.difference->events_before.back(), "submitted: huge");
}

TEST(Replay, ARefusalThatIsNotRecordedIsADifference) {
  std::vector<std::string> all = payloads(recorded(kSmall));
  all.erase(all.begin() + 8);
  const Replayed replayed = replay_all(log_of(all));
  ASSERT_TRUE(replayed.difference);
  EXPECT_EQ(replayed.difference->record, 8);
  EXPECT_EQ(replayed.difference->recorded, std::vector<std::string>{"accepted"});
}

TEST(Replay, ARecordedRefusalOfWhatIsAcceptedIsADifference) {
  std::vector<std::string> all = payloads(recorded(kSmall));
  all.insert(all.begin() + 3, encode_refusal(kScenarioStart, Error{}));
  const Replayed replayed = replay_all(log_of(all));
  ASSERT_TRUE(replayed.difference);
  EXPECT_EQ(replayed.difference->record, 3);
  EXPECT_EQ(replayed.difference->replayed, std::vector<std::string>{"accepted"});
}

// An id may be used again between an end and the decision that says it.
TEST(Recording, NamesAreThoseOfTheMoment) {
  const std::string log = recorded(
      "cluster 1 node, 1 gpu\n"
      "submit a gpu=1\n"
      "decide\n"
      "finish a\n"
      "submit b gpu=1\n"
      "expect b running\n");
  const Read read = read_all(log);
  for (const std::string& payload : read.payloads) {
    const auto record = decode_record(payload);
    const auto* decided = std::get_if<DecisionRecord>(&record->what);
    if (decided == nullptr || decided->decisions.size() != 2) continue;
    EXPECT_EQ(decided->decisions[0].workload, "a");
    EXPECT_EQ(decided->decisions[1].workload, "b");
    return;
  }
  FAIL() << "no decision of an end and a start";
}

}  // namespace
}  // namespace fairlead::sim
