// Engine for one machine: tasks are processes, each under a supervisor that outlives this object.
//
// One thread of its own does all that takes time; the caller's threads only check and hand over,
// and wait where the interface says so. Destroying it leaves the tasks running; the next one adopts
// them. Only one at a time may use a state directory (it holds a lock there).
#pragma once

#include <memory>
#include <string>

#include "engine/engine.h"

namespace fairlead::engine {

struct LocalEngineOptions {
  std::string state;  // an absolute path; what it holds: README.md
  // Folder of sockets and of notices to tasks, which tasks of other users must reach; best on a
  // file system in memory. Empty: one in /run as root, else in $XDG_RUNTIME_DIR or "runtime" in
  // `state`.
  std::string runtime;
  std::string launcher = "/proc/self/exe";  // see launcher.h
  bool use_control_groups = true;
};

class LocalEngine final : public Engine {
 public:
  // Error: kConflict if another server uses the state directory, kIo, kFailed.
  static Result<std::unique_ptr<LocalEngine>> open(LocalEngineOptions options, Sink sink);
  ~LocalEngine() override;

  Result<void> start(TaskLaunch launch) override;
  Result<void> stop(const AttemptId& attempt, const StopOrder& order) override;
  Result<void> suspend(const AttemptId& attempt) override;
  Result<void> resume(const AttemptId& attempt) override;
  Result<std::vector<Adopted>> adopt(const std::vector<AttemptId>& attempts) override;
  Result<void> remove(const AttemptId& attempt) override;
  Result<Descriptor> open_session(const AttemptId& attempt, const SessionRequest& request) override;
  Result<OutputReader> output(const AttemptId& attempt) override;

  pid_t launcher_pid() const;  // for tests and for doctor

 private:
  class Worker;
  explicit LocalEngine(std::unique_ptr<Worker> worker);

  std::unique_ptr<Worker> worker_;
};

}  // namespace fairlead::engine
