#include "api/log_text.h"

#include <gtest/gtest.h>

namespace fairlead::api {
namespace {

using engine::OutputChunk;
using engine::OutputPage;
using engine::Stream;

OutputPage page(std::vector<OutputChunk> chunks) {
  OutputPage out;
  for (const OutputChunk& chunk : chunks) {
    const bool note = chunk.stream == Stream::kNote;
    out.next = chunk.offset + (note ? 0 : static_cast<std::int64_t>(chunk.bytes.size()));
  }
  out.chunks = std::move(chunks);
  return out;
}

TEST(LogText, IsTheBytesAsTheyCame) {
  LogText text(0, false, std::nullopt);
  EXPECT_EQ(text.text_of(page({{0, Stream::kOutput, {}, "a\nb"}, {3, Stream::kError, {}, "c\n"}})),
            "a\nbc\n");
}

// The second chunk ends a line that began in the first, and begins two of its own.
TEST(LogText, ATimeStandsBeforeEachLineAndNotBeforeEachChunk) {
  LogText text(0, true, std::nullopt);
  EXPECT_EQ(text.text_of(page({{0, Stream::kOutput, Instant{1000}, "a"},
                               {1, Stream::kOutput, Instant{2250}, "b\n\nc"}})),
            "1970-01-01T00:00:01Z ab\n1970-01-01T00:00:02.250Z \n1970-01-01T00:00:02.250Z c");
  EXPECT_EQ(text.text_of(page({{5, Stream::kError, Instant{3000}, "d\n"}})), "d\n");
  EXPECT_EQ(text.text_of(page({{7, Stream::kOutput, Instant{4000}, "e"}})),
            "1970-01-01T00:00:04Z e");
}

TEST(LogText, SaysWhatIsMissingOnALineOfItsOwn) {
  LogText text(0, false, std::nullopt);
  EXPECT_EQ(text.text_of(page({{100, Stream::kOutput, {}, "tail of a line"}})),
            "[fairlead: 100 bytes of earlier output were removed]\ntail of a line");
  // 114 was next, and 120 is.
  EXPECT_EQ(text.text_of(page({{120, Stream::kOutput, {}, "x\n"}})),
            "\n[fairlead: 6 bytes of earlier output were removed]\nx\n");
}

// Line ends count, and what the first chunk began ends in the second.
TEST(LogText, AnOffsetStandsBeforeEachLineAndTellsWhereToGoOn) {
  LogText text(0, false, std::nullopt, true);
  EXPECT_EQ(text.text_of(page(
                {{0, Stream::kOutput, {}, "one\ntw"}, {6, Stream::kError, {}, "o\r\nthree\n"}})),
            "0 one\n4 two\r\n9 three\n");
  EXPECT_EQ(text.remark("x"), "- [fairlead: x]\n");
  LogText timed(9, true, std::nullopt, true);
  EXPECT_EQ(timed.text_of(page({{9, Stream::kOutput, Instant{1000}, "three\n"}})),
            "9 1970-01-01T00:00:01Z three\n");
}

TEST(LogText, SaysNothingOfWhatWasNotAskedFor) {
  LogText text(100, false, std::nullopt);
  EXPECT_EQ(text.text_of(page({{100, Stream::kOutput, {}, "x\n"}})), "x\n");
}

TEST(LogText, ANoteOfTheSupervisorIsARemarkAndTakesNoOffset) {
  LogText text(0, false, std::nullopt);
  EXPECT_EQ(text.text_of(page({{0, Stream::kOutput, {}, "a"},
                               {1, Stream::kNote, {}, "12 bytes of output were lost: disk full\n"},
                               {1, Stream::kOutput, {}, "b"}})),
            "a\n[fairlead: 12 bytes of output were lost: disk full]\nb");
}

TEST(LogText, EndsAtItsLimit) {
  LogText text(0, true, 23);
  EXPECT_FALSE(text.full());
  EXPECT_EQ(text.text_of(page({{0, Stream::kOutput, Instant{1000}, "abcdef"}})),
            "1970-01-01T00:00:01Z ab");
  EXPECT_TRUE(text.full());
  EXPECT_EQ(text.text_of(page({{6, Stream::kOutput, {}, "g"}})), "");
  EXPECT_TRUE(LogText(0, false, 0).full());
}

}  // namespace
}  // namespace fairlead::api
