// The server: its rooms put together, started, and stopped when it is told to.
//
// Tasks outlive it: however it ends, the next one on the same state directory takes them up.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace fairlead::cli {

struct ServerSettings {
  std::string state;   // directory
  std::string listen;  // "127.0.0.1:7380"; empty: no TCP
  std::string certificate;
  std::string key;
  std::string simulate;  // "8xH100-80GB"; empty: the GPUs of this machine
  std::string socket;    // a second unix socket, for everyone; empty: none
  bool allow_root_tasks = false;
  bool end_unknown_tasks = false;  // see unknown_tasks.h
};

// What a person should know once it runs.
struct ServerReady {
  std::string socket;
  std::string link;  // signs in as the administrator, once; empty without TCP
  std::string address;
  std::string node;
  std::string gpus;  // "8 × H100-80GB (simulated)"
  std::size_t tasks = 0;
  std::vector<std::string> notes;
};

// Runs until SIGTERM or SIGINT. `ready` is called once it accepts requests, `warn` with lines for
// the log, from any thread. Errors: what kept it from starting, with the cure.
Result<void> run_server(const ServerSettings& settings,
                        const std::function<void(const ServerReady&)>& ready,
                        const std::function<void(const std::string&)>& warn);

// Asks the server of a state directory to stop and waits until it has. False: there is none.
Result<bool> stop_server(const std::string& state);

}  // namespace fairlead::cli
