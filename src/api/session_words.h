// What is said over the WebSocket of a session, and the frames of the engine that it becomes.
//
// A message is binary; its first byte is the channel: 0 input, 1 output, 2 error output, 3 window
// size as "COLUMNSxROWS", 4 exit status as decimal text (128 and the signal, if one ended it), 5 a
// note for people. An empty message on channel 0 closes the input.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/frames.h"
#include "net/writer.h"

namespace fairlead::api {

inline constexpr const char* kSessionProtocol = "stream.fairlead.v1";

// Error: kInvalidArgument, what a client may not say.
Result<std::string> frame_of(const net::Message& message);

// None, one, or a note and the status. Error: kInvalidArgument, what the engine may not say.
Result<std::vector<std::string>> messages_of(const engine::Frame& frame);

}  // namespace fairlead::api
