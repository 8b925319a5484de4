#include "api/session_words.h"

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

namespace fairlead::api {
namespace {

constexpr int kSignalBase = 128;  // as shells count
constexpr int kNotRun = 127;

std::optional<std::uint16_t> side_of(std::string_view text) {
  std::uint16_t side = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), side);
  if (error != std::errc() || rest != text.data() + text.size() || side == 0) return std::nullopt;
  return side;
}

std::optional<engine::WindowSize> window_of(std::string_view text) {
  const std::size_t by = text.find('x');
  if (by == text.npos) return std::nullopt;
  const auto columns = side_of(text.substr(0, by));
  const auto rows = side_of(text.substr(by + 1));
  if (!columns || !rows) return std::nullopt;
  return engine::WindowSize{*rows, *columns};
}

std::string message(engine::Channel channel, std::string_view bytes) {
  std::string out(1, static_cast<char>(channel));
  out += bytes;
  return out;
}

int status_of(const engine::SessionExit& exit) {
  switch (exit.kind) {
    case engine::SessionExit::Kind::kExitCode:
      return exit.number;
    case engine::SessionExit::Kind::kSignal:
      return kSignalBase + exit.number;
    case engine::SessionExit::Kind::kFailed:
      break;
  }
  return kNotRun;
}

}  // namespace

Result<std::string> frame_of(const net::Message& message) {
  if (!message.binary || message.bytes.empty()) {
    return fail(ErrorCode::kInvalidArgument, "messages are binary and begin with a channel");
  }
  const std::string_view rest = std::string_view(message.bytes).substr(1);
  switch (static_cast<engine::Channel>(message.bytes[0])) {
    case engine::Channel::kInput: {
      std::string frame;
      engine::append_frame(frame, engine::Channel::kInput, rest);
      return frame;
    }
    case engine::Channel::kResize: {
      const auto window = window_of(rest);
      if (!window) {
        return fail(ErrorCode::kInvalidArgument, "a window size is COLUMNSxROWS, as 80x24");
      }
      return engine::resize_frame(*window);
    }
    default:
      return fail(ErrorCode::kInvalidArgument, "the channels to a task are 0 and 3");
  }
}

Result<std::vector<std::string>> messages_of(const engine::Frame& frame) {
  std::vector<std::string> out;
  switch (frame.channel) {
    case engine::Channel::kOutput:
    case engine::Channel::kError:
    case engine::Channel::kNote:
      if (!frame.bytes.empty()) out.push_back(message(frame.channel, frame.bytes));
      return out;
    case engine::Channel::kExit: {
      const auto exit = engine::parse_exit(frame.bytes);
      if (!exit) break;
      if (!exit->text.empty()) out.push_back(message(engine::Channel::kNote, exit->text));
      out.push_back(message(engine::Channel::kExit, std::to_string(status_of(*exit))));
      return out;
    }
    default:
      break;
  }
  return fail(ErrorCode::kInvalidArgument, "what came from the session is nothing it may say");
}

}  // namespace fairlead::api
