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

enum class Sent : std::uint8_t { kSent, kFull, kGone };

// Waits for room. False if the other side is gone or does not take it.
bool send_message(int socket, std::string_view text, int descriptor = -1);
// Never waits. kFull: the other side does not read.
Sent try_send_message(int socket, std::string_view text, int descriptor = -1);

Received receive_message(int socket, Message& message, bool wait = false);

// Two ends of a packet socket, or of a stream.
Result<std::pair<Descriptor, Descriptor>> packet_pair();
Result<std::pair<Descriptor, Descriptor>> stream_pair();

// The folder for what does not outlive the machine's run, made if it is not there, with mode 0711:
// others pass through it to their own notice, and list nothing. Error: kIo.
Result<void> make_runtime_folder(const std::string& path);

// The socket on which the supervisor of an attempt answers, in that folder; mode 0600. Its path may
// be longer than an address holds. The folder is made again where it is gone: while no engine holds
// it and nobody answers in it, another engine sweeps it away. Error: kIo.
Result<Descriptor> listen_for(const std::string& folder, const std::string& attempt);
// Who connects to it and is neither root nor the account of this process is turned away: an order
// that comes this way is carried out as the task's user. Empty if there is nobody to hear.
Descriptor accept_trusted(int listener);
// Never waits. Error: kNotFound if nobody listens, kIo where too many wait there already.
Result<Descriptor> connect_to(const std::string& folder, const std::string& attempt);
void forget(const std::string& folder, const std::string& attempt);

}  // namespace fairlead::engine
