// The launcher: this program run again, small and without threads, to fork supervisors.
//
// It is always made by exec, at the start as well as after it died: the server may have threads by
// then, and what is forked from a fresh image stays small. The main function of a program that uses
// the local engine begins with
//
//   if (const auto status = engine::launcher_main(argc, argv)) return *status;
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>

#include "base/result.h"
#include "engine/descriptor.h"
#include "engine/task.h"

namespace fairlead::engine {

struct LauncherOptions {
  std::string program = "/proc/self/exe";  // whose main calls launcher_main()
  std::string state;
  std::string runtime;
  std::string group;           // name of the folder of control groups; empty: none are used
  std::uint64_t files = 1024;  // limit on open files of what it starts
};

// The exit status, if the program was run as a launcher.
std::optional<int> launcher_main(int argc, char** argv);

class Launcher {
 public:
  // Error: kFailed, naming the program.
  static Result<Launcher> spawn(const LauncherOptions& options);

  Launcher(Launcher&&) = default;
  Launcher& operator=(Launcher&&) = delete;
  ~Launcher();  // lets it end, and waits for that; supervisors go on

  // Readable at its end only.
  int get() const { return socket_.get(); }
  pid_t pid() const { return pid_; }

  // False if it is dead. The launcher, or the supervisor it forks, answers on the other end of
  // `connection`.
  bool start(const AttemptId& attempt, const Descriptor& connection) const;

 private:
  Launcher(Descriptor socket, pid_t pid) : socket_(std::move(socket)), pid_(pid) {}

  Descriptor socket_;
  pid_t pid_;
};

}  // namespace fairlead::engine
