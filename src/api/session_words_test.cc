#include "api/session_words.h"

#include <gtest/gtest.h>

namespace fairlead::api {
namespace {

using engine::Channel;
using engine::Frame;
using engine::SessionExit;

Frame only_frame(std::string_view bytes) {
  engine::FrameParser parser;
  parser.feed(bytes);
  auto frame = parser.next();
  EXPECT_TRUE(frame && *frame);
  EXPECT_EQ(parser.buffered(), 0U);
  return frame && *frame ? **frame : Frame{};
}

Frame sent(std::string bytes) {
  const auto frame = frame_of({std::move(bytes), true});
  EXPECT_TRUE(frame) << frame.error().text();
  return only_frame(frame.value_or(""));
}

std::vector<std::string> exit(SessionExit exit) {
  return messages_of(only_frame(engine::exit_frame(exit))).value_or(std::vector<std::string>());
}

TEST(SessionWords, InputIsAFrameAndItsEndAnEmptyOne) {
  EXPECT_EQ(sent(std::string("\0ls\n", 4)).bytes, "ls\n");
  EXPECT_EQ(sent(std::string(1, '\0')).channel, Channel::kInput);
  EXPECT_EQ(sent(std::string(1, '\0')).bytes, "");
}

TEST(SessionWords, AWindowIsColumnsAndRows) {
  const Frame frame = sent("\003132x43");
  EXPECT_EQ(frame.channel, Channel::kResize);
  const auto window = engine::parse_resize(frame.bytes);
  ASSERT_TRUE(window);
  EXPECT_EQ(window->columns, 132);
  EXPECT_EQ(window->rows, 43);
}

TEST(SessionWords, WhatAClientMayNotSayIsAnError) {
  for (const char* bytes : {"", "\003", "\003x", "\00380", "\00380x", "\003x24", "\0030x24",
                            "\00380x24 ", "\00380x65536", "\003-1x24", "\001out",
                            "\004"
                            "0",
                            "\005note", "hello"}) {
    EXPECT_FALSE(frame_of({bytes, true})) << bytes;
  }
  EXPECT_FALSE(frame_of({std::string("\0text", 5), false}));
}

TEST(SessionWords, OutputAndNotesKeepTheirChannel) {
  EXPECT_EQ(messages_of({Channel::kOutput, "a"}).value(), std::vector<std::string>{"\001a"});
  EXPECT_EQ(messages_of({Channel::kError, "b"}).value(), std::vector<std::string>{"\002b"});
  EXPECT_EQ(messages_of({Channel::kNote, "c"}).value(), std::vector<std::string>{"\005c"});
  EXPECT_TRUE(messages_of({Channel::kOutput, ""}).value().empty());
}

TEST(SessionWords, TheExitStatusIsThatOfAShell) {
  using Kind = SessionExit::Kind;
  EXPECT_EQ(exit({Kind::kExitCode, 0, {}}), std::vector<std::string>{"\0040"});
  EXPECT_EQ(exit({Kind::kExitCode, 255, {}}), std::vector<std::string>{"\004255"});
  EXPECT_EQ(exit({Kind::kSignal, 9, {}}), std::vector<std::string>{"\004137"});
  const std::vector<std::string> failed{"\005there is no program \"x\"", "\004127"};
  EXPECT_EQ(exit({Kind::kFailed, 0, "there is no program \"x\""}), failed);
}

TEST(SessionWords, WhatTheEngineMayNotSayIsAnError) {
  EXPECT_FALSE(messages_of({Channel::kInput, "a"}));
  EXPECT_FALSE(messages_of({Channel::kResize, "abcd"}));
  EXPECT_FALSE(messages_of({Channel::kExit, "?"}));
}

}  // namespace
}  // namespace fairlead::api
