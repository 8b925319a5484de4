// Where the server is and who calls: flags, then the environment, then the configuration file, then
// the local socket.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/client/config_file.h"

namespace fairlead::cli {

// Where a server that root started on its default directory listens for everyone on the machine.
inline constexpr const char* kPublicSocket = "/run/fairlead/fairlead.sock";

// --server, --token-file and --context as they were given; empty: not.
struct ConnectionFlags {
  std::string server;
  std::string token_file;
  std::string context;
};

struct Connection {
  std::string socket;   // path of a unix socket; empty: it is a URL
  std::string url;      // "http://127.0.0.1:7380", without a slash at the end
  std::string token;    // empty: none
  std::string project;  // of the context; empty: none
  std::string said_by;  // "--server", "FAIRLEAD_SERVER", the file, or "" for the local socket

  // For messages: the path or the URL.
  const std::string& place() const { return socket.empty() ? url : socket; }
  // A token goes over a network in the clear.
  bool exposed() const;
};

// The environment is read here: FAIRLEAD_SERVER, FAIRLEAD_TOKEN, FAIRLEAD_STATE, XDG_STATE_HOME,
// HOME. Errors: a server that is no address (with flag or file), a token file that cannot be read.
Result<Connection> find_connection(const ConnectionFlags& flags);

// "unix:/run/x.sock", "/run/x.sock", "http://host:port", "https://host", "host:port" (http).
Result<void> read_server(const std::string& text, Connection& out);

}  // namespace fairlead::cli
