// Who asks, and what they may.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"

namespace fairlead::control {

enum class Role : std::uint8_t { kViewer, kUser, kAdmin };

struct Caller {
  std::string user;
  Role role = Role::kViewer;
  std::string via;  // "socket", "token", "session"; "server" for what nobody asked for
  // As whom tasks of this caller run; unset: nobody is known on this machine by that name.
  std::optional<std::uint32_t> uid;
  std::optional<std::uint32_t> gid;
  std::string request;  // its id
  // The id of the token or session that they came with, and when it is over.
  std::string credential;
  Instant until = kNever;
  // Root, or who started the server: an administrator whatever is written down.
  bool by_kernel = false;

  bool admin() const { return role == Role::kAdmin; }
};

}  // namespace fairlead::control
