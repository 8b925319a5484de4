#include "engine/frames.h"

namespace fairlead::engine {
namespace {

void put(std::string& out, std::uint32_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

std::uint32_t get(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

}  // namespace

void append_frame(std::string& out, Channel channel, std::string_view bytes) {
  out += static_cast<char>(channel);
  put(out, static_cast<std::uint32_t>(bytes.size()), 4);
  out += bytes;
}

std::string resize_frame(WindowSize window) {
  std::string bytes;
  put(bytes, window.rows, 2);
  put(bytes, window.columns, 2);
  std::string out;
  append_frame(out, Channel::kResize, bytes);
  return out;
}

std::string exit_frame(const SessionExit& exit) {
  std::string bytes(1, static_cast<char>(exit.kind));
  put(bytes, static_cast<std::uint32_t>(exit.number), 4);
  bytes += exit.text;
  std::string out;
  append_frame(out, Channel::kExit, bytes);
  return out;
}

std::optional<WindowSize> parse_resize(std::string_view bytes) {
  if (bytes.size() != 4) return std::nullopt;
  return WindowSize{static_cast<std::uint16_t>(get(bytes.substr(0, 2))),
                    static_cast<std::uint16_t>(get(bytes.substr(2, 2)))};
}

std::optional<SessionExit> parse_exit(std::string_view bytes) {
  if (bytes.size() < 5 || bytes[0] < 0 || bytes[0] > 2) return std::nullopt;
  return SessionExit{static_cast<SessionExit::Kind>(bytes[0]),
                     static_cast<std::int32_t>(get(bytes.substr(1, 4))),
                     std::string(bytes.substr(5))};
}

Result<std::optional<Frame>> FrameParser::next() {
  const std::string_view rest = std::string_view(buffer_).substr(begin_);
  if (rest.size() < kFrameHeader) return std::nullopt;
  const std::uint32_t length = get(rest.substr(1, 4));
  if (static_cast<unsigned char>(rest[0]) > static_cast<unsigned char>(Channel::kNote) ||
      length > kLongestFrame) {
    return fail(ErrorCode::kInvalidArgument, "what came over the session is no frame",
                "send channel, length and bytes as engine/frames.h says");
  }
  if (rest.size() < kFrameHeader + length) return std::nullopt;
  Frame frame{static_cast<Channel>(rest[0]), std::string(rest.substr(kFrameHeader, length))};
  begin_ += kFrameHeader + length;
  if (begin_ == buffer_.size() || begin_ > kLongestFrame) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  return frame;
}

}  // namespace fairlead::engine
