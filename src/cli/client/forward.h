// Ports of this machine as ports of a task: each connection is carried by a WebSocket of its own.
//
// Listens on 127.0.0.1 alone: whoever can reach the port reaches the task without a token.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/client/api_client.h"

namespace fairlead::cli {

struct ForwardedPort {
  std::uint16_t local = 0;  // 0: any free one
  std::uint16_t remote = 0;
};

// "8080:80", "80" (the same here), ":80" (any free one here).
Result<ForwardedPort> parse_forwarded_port(const std::string& text);

// Until the person interrupts. Says on context.out where it listens. Returns the exit status.
int forward_ports(const ApiClient& api, const std::string& task,
                  const std::vector<ForwardedPort>& ports, CliContext& context);

}  // namespace fairlead::cli
