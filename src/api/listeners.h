// What listens on a TCP port of this machine's loopback, and whose it is, as the kernel says.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fairlead::api {

struct LocalListener {
  std::string address;  // where it is reached: "127.0.0.1" or "::1"
  std::uint32_t uid = 0;
  std::uint64_t inode = 0;  // tells it from another that takes its place
};

// Of a table like /proc/net/tcp and tcp6; what can be reached on loopback, at that port.
std::vector<LocalListener> listeners_in(std::string_view table, std::uint16_t port);

// The one of that account. Errors: kNotFound, kForbidden (there are only those of others).
Result<LocalListener> find_listener(std::uint16_t port, std::uint32_t uid);

}  // namespace fairlead::api
