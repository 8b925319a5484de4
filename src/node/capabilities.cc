#include "node/capabilities.h"

#include <unistd.h>

namespace fairlead::node {

std::vector<Capability> capabilities(const CgroupTree& tree) {
  std::vector<Capability> out;
  const auto add = [&](const char* name, const Enforcement& state, const std::string& instead) {
    out.push_back({name, state.possible, state.possible ? state.why : state.why + "; " + instead});
  };
  add("kill-whole-task", tree.tracking(),
      "what a task started is found by its parents instead, which holds for all that it starts");
  add("freeze", tree.freezing(), "workloads are suspended by stopping their tasks alone");
  add("cpu-limit", tree.cpu(), "tasks may use any CPU time");
  add("memory-limit", tree.memory(), "tasks may use any memory of this machine");
  add("process-limit", tree.pids(), "tasks may start any number of processes");
  add("device-filter", tree.devices(), "tasks can open any device file that their user may open");
  const bool root = ::geteuid() == 0;
  out.push_back({"run-as-user", root,
                 root ? "the server is root"
                      : "the server is not root; tasks run as the user that it runs as"});
  return out;
}

}  // namespace fairlead::node
