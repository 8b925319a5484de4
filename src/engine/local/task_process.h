// A process of a task, from fork to exec: its own session, its group, user, folder and environment.
//
// Between the two there is a gate: the child prepares all that can fail and waits; only when it is
// opened does the program begin. Thus a start that cannot work is known before the attempt counts
// as begun. Only for the supervisor, which has no threads.
#pragma once

#include <sys/types.h>

#include "base/result.h"
#include "engine/descriptor.h"
#include "engine/task.h"
#include "node/cgroups.h"

namespace fairlead::engine {

struct ProcessPlan {
  const std::vector<std::string>* command = nullptr;
  const TaskLaunch* launch = nullptr;   // folder, environment, user
  std::string notice_file;              // FAIRLEAD_NOTICE_FILE
  const node::Cgroup* group = nullptr;  // nullptr: none
  int input = -1;
  int output = -1;
  int error = -1;
  bool terminal = false;  // the three are a terminal's slave, which becomes the controlling one
};

class TaskProcess {
 public:
  // Error: kFailed, if the machine cannot fork.
  static Result<TaskProcess> fork(const ProcessPlan& plan);

  pid_t pid() const { return pid_; }

  // Waits until the child stands at the gate. Error: what could not be prepared, with field and
  // cure; the child is gone then.
  Result<void> prepared();
  // Opens the gate. Error: why the kernel did not take the program; the child is gone then.
  Result<void> begin();

  // The same without waiting, for a loop that has others to serve: to be called when voice() can be
  // read. True: the program runs; false: there is more to come. Error: as of both above; the child
  // dies then, and whoever reaps children reaps it.
  Result<bool> proceed();
  int voice() const { return voice_.get(); }
  // It was reaped: its number may be another's.
  void reaped() { pid_ = 0; }
  // It has no more time.
  void kill() const;

 private:
  Result<void> hear(bool at_gate, bool reaps);
  void open_gate();

  pid_t pid_ = 0;
  Descriptor voice_;  // what the child says; closed by a successful exec
  Descriptor gate_;
  std::string program_;
  std::string folder_;
  std::string user_;
};

}  // namespace fairlead::engine
