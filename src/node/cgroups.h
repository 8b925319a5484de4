// Control groups of tasks: limits, freezing and killing, on v1, v2 and hybrid machines.
//
// A tree is where this server makes its groups: on v2 beside the server's own group (its parent may
// hand controllers down, and a service that is stopped does not take its tasks along), on v1 inside
// the server's own group. A group is one folder in each hierarchy that it needs, so that a task
// without limits costs one mkdir. All state lies in the kernel: a group is found again by its name.
//
// Cost: a few small files per call. Threads may share all of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/result.h"
#include "model/units.h"

namespace fairlead::node {

enum class CgroupLayout : std::uint8_t { kNone, kV1, kV2, kHybrid };

// 0 is no limit.
struct CgroupLimits {
  MilliCpu cpu;         // at most this much time
  MilliCpu cpu_weight;  // share of what is contended, as if that many CPUs were asked for
  Bytes memory;
  std::int64_t pids = 0;
  std::optional<std::vector<std::string>> devices;  // device files besides the usual; nullopt: all
};

struct CgroupUsage {
  std::optional<Bytes> memory_peak;
  std::optional<std::int64_t> oom_kills;
};

// What can be enforced; where not, `why` says so.
struct Enforcement {
  bool possible = false;
  std::string why;  // also how, where it is possible ("v2", "v1")
};

class Cgroup {
 public:
  // Places a process (0: the caller) in every folder of the group.
  Result<void> join(pid_t pid) const;

  std::vector<pid_t> processes() const;  // of groups inside it too

  // Sends SIGKILL to all of it, whatever they fork meanwhile, and returns at once.
  void kill() const;
  // Waits until none is left, at most `most_ms`, killing again. False if some are.
  bool kill_and_wait(int most_ms) const;

  // Error: kFailed, if this machine cannot freeze.
  Result<void> freeze() const;
  Result<void> thaw() const;

  CgroupUsage usage() const;

  // Requires: empty. Folders that are busy yet stay, and are said.
  Result<void> remove() const;

  bool exists() const;

 private:
  friend class CgroupTree;

  std::string tracking_;  // the folder that lists, freezes and kills
  bool tracking_v2_ = false;
  bool can_freeze_ = false;
  std::string memory_;
  bool memory_v2_ = false;
  std::vector<std::string> folders_;  // all of them, each once
};

struct CgroupOptions {
  std::string root = "/sys/fs/cgroup";
  std::string self = "/proc/self/cgroup";
  std::string name = "fairlead";  // of the folder that holds our groups
};

class CgroupTree {
 public:
  // Looks; the one thing it changes is that on v2 the controllers are asked to be handed down.
  static CgroupTree detect(const CgroupOptions& options = {});

  CgroupLayout layout() const { return layout_; }

  // Whether groups can be made at all; and each limit.
  const Enforcement& tracking() const { return tracking_.state; }
  const Enforcement& freezing() const { return freezing_; }
  const Enforcement& cpu() const { return cpu_.state; }
  const Enforcement& memory() const { return memory_.state; }
  const Enforcement& pids() const { return pids_.state; }
  const Enforcement& devices() const { return devices_.state; }

  // A new group. Limits that this machine cannot enforce are left out; see above. Error: kIo, with
  // nothing left behind; kAlreadyExists.
  Result<Cgroup> create(const std::string& name, const CgroupLimits& limits) const;

  // The group of that name as it may have been created, also where there is none any more.
  Cgroup find(const std::string& name) const;

  // Takes away the empty folders that hold our groups.
  void remove_empty_parents() const;

 private:
  struct Controller {
    Enforcement state;
    std::string folder;  // where our groups are made
    bool v2 = false;
  };

  void detect_v2(const std::string& root, const std::string& own, const std::string& name,
                 bool only_tracking);
  void detect_v1(const std::string& root, const std::string& self, const std::string& name);
  Result<void> apply(const std::string& name, const CgroupLimits& limits) const;
  std::vector<const Controller*> wanted(const CgroupLimits& limits) const;

  CgroupLayout layout_ = CgroupLayout::kNone;
  Controller tracking_;
  Enforcement freezing_;
  Controller cpu_;
  Controller memory_;
  Controller pids_;
  Controller devices_;
};

std::string_view cgroup_layout_name(CgroupLayout layout);

}  // namespace fairlead::node
