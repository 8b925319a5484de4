#include "engine/output_log.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>

#include <gtest/gtest.h>

#include "engine/frames.h"
#include "engine/local/fields.h"
#include "engine/local/records.h"

namespace fairlead::engine {
namespace {

class OutputLog : public testing::Test {
 protected:
  OutputLog() : path_("/tmp/fairlead-output-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) std::abort();
    folder_.reset(::open(path_.c_str(), O_RDONLY | O_DIRECTORY));
  }
  ~OutputLog() override { std::filesystem::remove_all(path_); }

  std::string path_;
  Descriptor folder_;
};

TEST_F(OutputLog, ReadingBeginsAnywhere) {
  OutputWriter writer(folder_.get(), 4096, 2);
  writer.write(Stream::kOutput, "hello ", Instant{100});
  writer.write(Stream::kError, "world", Instant{200});
  OutputReader reader(path_);
  const auto page = reader.read(3);
  ASSERT_TRUE(page);
  ASSERT_EQ(page->chunks.size(), 2U);
  EXPECT_EQ(page->chunks[0].bytes, "lo ");
  EXPECT_EQ(page->chunks[0].offset, 3);
  EXPECT_EQ(page->chunks[1].stream, Stream::kError);
  EXPECT_EQ(page->chunks[1].at, Instant{200});
  EXPECT_EQ(page->next, 11);
  EXPECT_TRUE(page->at_end);
  writer.write(Stream::kOutput, "!", Instant{300});
  EXPECT_EQ(reader.read(11)->chunks[0].bytes, "!");
  EXPECT_EQ(reader.read(0)->chunks[0].bytes, "hello ") << "back to the beginning";
  EXPECT_EQ(*reader.offset_since(Instant{150}), 6);
  EXPECT_EQ(*reader.offset_since(Instant{999}), 12);
}

TEST_F(OutputLog, TailsCountLines) {
  OutputWriter writer(folder_.get(), 4096, 2);
  OutputReader reader(path_);
  EXPECT_EQ(*reader.offset_of_tail(5), 0) << "nothing yet";
  writer.write(Stream::kOutput, "a\nb\nc", Instant{});
  EXPECT_EQ(*reader.offset_of_tail(1), 4) << "a line without its end counts";
  EXPECT_EQ(*reader.offset_of_tail(2), 2);
  writer.write(Stream::kOutput, "\n", Instant{});
  EXPECT_EQ(*reader.offset_of_tail(1), 4);
  EXPECT_EQ(*reader.offset_of_tail(3), 0);
  EXPECT_EQ(*reader.offset_of_tail(100), 0);
  EXPECT_EQ(*reader.offset_of_tail(0), 6);
}

TEST_F(OutputLog, ARecordThatIsNotWholeIsNotThereYet) {
  OutputWriter writer(folder_.get(), 4096, 2);
  writer.write(Stream::kOutput, "whole", Instant{});
  const std::string file = path_ + "/output.00000000000000000000";
  std::ofstream(file, std::ios::app | std::ios::binary) << std::string(20, '\x7f');
  OutputReader reader(path_);
  const auto page = reader.read(0);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->chunks.size(), 1U);
  EXPECT_TRUE(page->at_end);
}

TEST_F(OutputLog, WhatIsRotatedAwayIsCounted) {
  OutputWriter writer(folder_.get(), 4096, 2);
  for (int i = 0; i < 10; ++i) writer.write(Stream::kOutput, std::string(3000, 'a'), Instant{});
  OutputReader reader(path_);
  const auto page = reader.read(0);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->skipped, 18'000) << "two files of two chunks of 3,000 bytes are kept";
  EXPECT_EQ(page->next, 30'000);
}

TEST_F(OutputLog, AReaderThatIsOvertakenGoesOnBehind) {
  OutputWriter writer(folder_.get(), 4096, 2);
  OutputReader reader(path_);
  writer.write(Stream::kOutput, std::string(100, 'a'), Instant{});
  EXPECT_EQ(reader.read(0)->next, 100);
  for (int i = 0; i < 10; ++i) writer.write(Stream::kOutput, std::string(5000, 'b'), Instant{});
  std::int64_t at = 100;
  std::int64_t skipped = 0;
  std::int64_t bytes = 0;
  for (bool end = false; !end;) {
    const auto page = reader.read(at);
    ASSERT_TRUE(page);
    skipped += page->skipped;
    for (const OutputChunk& chunk : page->chunks) bytes += std::ssize(chunk.bytes);
    at = page->next;
    end = page->at_end;
  }
  EXPECT_EQ(at, 50'100);
  EXPECT_EQ(skipped + bytes, 50'000);
}

TEST_F(OutputLog, WhatCannotBeWrittenIsSaidOnceThereIsRoom) {
  struct sigaction before{};
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGXFSZ, &ignore, &before);
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit small{1000, limit.rlim_max};
  OutputWriter writer(folder_.get(), 1 << 20, 2);
  ::setrlimit(RLIMIT_FSIZE, &small);
  writer.write(Stream::kOutput, "kept", Instant{});
  writer.write(Stream::kOutput, std::string(2000, 'x'), Instant{});
  writer.write(Stream::kOutput, std::string(2000, 'x'), Instant{});
  ::setrlimit(RLIMIT_FSIZE, &limit);
  ::sigaction(SIGXFSZ, &before, nullptr);
  writer.write(Stream::kOutput, "again", Instant{});
  EXPECT_EQ(writer.lost(), 4000);
  OutputReader reader(path_);
  const auto page = reader.read(0);
  ASSERT_TRUE(page);
  ASSERT_EQ(page->chunks.size(), 3U);
  EXPECT_EQ(page->chunks[0].bytes, "kept");
  EXPECT_EQ(page->chunks[1].stream, Stream::kNote);
  EXPECT_EQ(page->chunks[1].bytes, "4000 bytes of output were lost: disk full\n");
  EXPECT_EQ(page->chunks[2].bytes, "again");
  EXPECT_EQ(page->chunks[2].offset, 4);
}

TEST(Frames, ComeInAnyPieces) {
  std::string bytes;
  append_frame(bytes, Channel::kOutput, "hello");
  append_frame(bytes, Channel::kInput, "");
  bytes += exit_frame({SessionExit::Kind::kSignal, 9, "killed"});
  FrameParser parser;
  std::vector<Frame> frames;
  for (const char c : bytes) {
    parser.feed({&c, 1});
    const auto frame = parser.next();
    ASSERT_TRUE(frame);
    if (*frame) frames.push_back(**frame);
  }
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_EQ(frames[0].bytes, "hello");
  EXPECT_EQ(frames[1].channel, Channel::kInput);
  const auto exit = parse_exit(frames[2].bytes);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->number, 9);
  EXPECT_EQ(exit->text, "killed");
}

TEST(Frames, WhatIsNoFrameIsRefused) {
  FrameParser parser;
  parser.feed(std::string("\x09\0\0\0\1x", 6));
  EXPECT_FALSE(parser.next());
  FrameParser other;
  other.feed(std::string("\0\xff\0\0\0", 5));
  EXPECT_FALSE(other.next()) << "longer than a frame may be";
  EXPECT_FALSE(parse_resize("abc"));
  EXPECT_FALSE(parse_exit("\7abcd"));
}

TEST(FieldsTest, AnyBytesComeBackAndDamageIsSeen) {
  const std::string odd("a\n 3\0b", 6);
  const std::string text = FieldWriter().add("one", odd).add("n", -5).add("one", "").take();
  const auto fields = Fields::parse(text);
  ASSERT_TRUE(fields);
  EXPECT_EQ(fields->all("one"), (std::vector<std::string>{odd, ""}));
  EXPECT_EQ(fields->number("n"), -5);
  for (std::size_t length = 1; length < text.size(); ++length) {
    const auto cut = Fields::parse(std::string_view(text).substr(0, length));
    EXPECT_TRUE(!cut || cut->list().size() < 3) << length;
  }
  EXPECT_FALSE(Fields::parse("x 99999999999999999999\ny\n"));
}

TEST(Records, ALaunchComesBackWhole) {
  TaskLaunch launch;
  launch.attempt = "a-1";
  launch.command = {"prog", "", "two words"};
  launch.environment = {{"A", "x=y\nz"}, {"B", ""}};
  launch.run_as = RunAs{5, 6, {7, 8}};
  launch.limits.devices.emplace();
  launch.wants_terminal = true;
  launch.index = 3;
  const auto back = parse_launch(launch_record(launch));
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(back->command, launch.command);
  EXPECT_EQ(back->environment, launch.environment);
  EXPECT_EQ(back->run_as->groups, launch.run_as->groups);
  EXPECT_TRUE(back->limits.devices && back->limits.devices->empty());
  EXPECT_TRUE(back->wants_terminal);
  EXPECT_EQ(back->index, 3);
}

TEST(Records, NoticesAreJson) {
  EXPECT_EQ(notice_json({"preempted", "a \"b\"\n", SIGTERM, {}}, Instant{0}),
            "{\"cause\": \"preempted\", \"text\": \"a \\\"b\\\"\\u000a\", "
            "\"deadline\": \"1970-01-01T00:00:00Z\"}\n");
}

}  // namespace
}  // namespace fairlead::engine
