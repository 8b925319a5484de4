// All processes of one task, whatever they forked and wherever they went: those of its control
// group, and those below the supervisor, which is their subreaper.
#pragma once

#include <optional>
#include <vector>

#include "node/cgroups.h"
#include "node/processes.h"

namespace fairlead::engine {

class TaskTree {
 public:
  explicit TaskTree(std::optional<node::Cgroup> group) : group_(std::move(group)) {}

  const node::Cgroup* group() const { return group_ ? &*group_ : nullptr; }

  std::vector<node::ProcessRef> processes() const;
  void signal(int signal) const;

  // Stand still: frozen, or by SIGSTOP where this machine cannot freeze.
  void suspend();
  void resume();

  // SIGKILL to all. What forks meanwhile is caught by calling again; whoever reaps knows when none
  // is left.
  void kill() const;

 private:
  void halt() const;

  std::optional<node::Cgroup> group_;
  bool halted_ = false;  // by SIGSTOP
};

}  // namespace fairlead::engine
