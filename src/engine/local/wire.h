// Messages between the engine, the launcher and supervisors: records (fields.h) in single packets,
// with at most one descriptor beside.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/descriptor.h"

namespace fairlead::engine {

inline constexpr std::size_t kLongestMessage = std::size_t{64} << 10;

struct Message {
  std::string text;
  Descriptor descriptor;
};

enum class Received : std::uint8_t { kMessage, kNothingYet, kClosed };

// False if the other side is gone or does not take it.
bool send_message(int socket, std::string_view text, int descriptor = -1);

Received receive_message(int socket, Message& message, bool wait = false);

// Two ends of a packet socket, or of a stream.
Result<std::pair<Descriptor, Descriptor>> packet_pair();
Result<std::pair<Descriptor, Descriptor>> stream_pair();

}  // namespace fairlead::engine
