// What goes over a session: frames of a channel, a length and that many bytes.
//
//   channel u8 | length u32, big-endian | bytes
//
//   0 input   to the task; length 0 is its end
//   1 output  of the task; all of a terminal
//   2 error
//   3 resize  to the task: rows u16, columns u16, big-endian; without a terminal it does nothing
//   4 exit    the last frame: kind u8 (0 exit code, 1 signal, 2 failed), number i32, big-endian,
//   text 5 note    for people: "12 bytes were skipped"
//
// A WebSocket relays frames as they are, one a message. Whoever closes the socket leaves: an
// attached task goes on, what was started by exec gets SIGHUP.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/task.h"

namespace fairlead::engine {

enum class Channel : std::uint8_t {
  kInput = 0,
  kOutput = 1,
  kError = 2,
  kResize = 3,
  kExit = 4,
  kNote = 5,
};

struct Frame {
  Channel channel = Channel::kInput;
  std::string bytes;
};

inline constexpr std::size_t kFrameHeader = 5;
inline constexpr std::size_t kLongestFrame = std::size_t{1} << 20;

struct SessionExit {
  enum class Kind : std::uint8_t { kExitCode = 0, kSignal = 1, kFailed = 2 };
  Kind kind = Kind::kExitCode;
  std::int32_t number = 0;
  std::string text;
};

void append_frame(std::string& out, Channel channel, std::string_view bytes);
std::string resize_frame(WindowSize window);
std::string exit_frame(const SessionExit& exit);

std::optional<WindowSize> parse_resize(std::string_view bytes);
std::optional<SessionExit> parse_exit(std::string_view bytes);

// Collects bytes as they come and gives whole frames.
class FrameParser {
 public:
  void feed(std::string_view bytes) { buffer_.append(bytes); }
  // nullopt: more bytes are needed. Error: kInvalidArgument, an unknown channel or a frame longer
  // than kLongestFrame; nothing can be read after it.
  Result<std::optional<Frame>> next();
  std::size_t buffered() const { return buffer_.size() - begin_; }

 private:
  std::string buffer_;
  std::size_t begin_ = 0;
};

}  // namespace fairlead::engine
