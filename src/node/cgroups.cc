#include "node/cgroups.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/device_filter.h"
#include "node/processes.h"
#include "node/text_files.h"

namespace fairlead::node {
namespace {

constexpr std::int64_t kPeriodUs = 100'000;
constexpr int kFreezeMs = 2000;

bool exists_at(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

// A task of another user reads its own limits there (the runtimes of many languages do), whatever
// the umask of the server.
Result<void> make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) == 0) {
    (void)::chmod(path.c_str(), 0755);
    return {};
  }
  const ErrorCode code = errno == EEXIST ? ErrorCode::kAlreadyExists : ErrorCode::kIo;
  return fail(Error{code,
                    std::string("the control group cannot be made: ") + std::strerror(errno),
                    path,
                    {},
                    {}});
}

// Groups that a task made inside its own go first.
bool remove_folder(const std::string& path) {
  if (::rmdir(path.c_str()) == 0 || errno == ENOENT) return true;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    if (entry.is_directory(error)) remove_folder(entry.path().string());
  }
  return ::rmdir(path.c_str()) == 0 || errno == ENOENT;
}

void collect_processes(const std::string& folder, std::vector<pid_t>& pids) {
  const auto text = read_text(folder + "/cgroup.procs");
  if (!text) return;
  for (const std::string& line : split(*text, '\n')) {
    pid_t pid = 0;
    std::from_chars(line.data(), line.data() + line.size(), pid);
    if (pid > 0) pids.push_back(pid);
  }
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.is_directory(error)) collect_processes(entry.path().string(), pids);
  }
}

// cpu.shares of v1 as v2's cpu.weight, so that one CPU (1024) is the default weight.
std::int64_t shares_of(MilliCpu weight) {
  return std::clamp<std::int64_t>(weight.value * 1024 / kMilli, 2, 262'144);
}
std::int64_t weight_of(MilliCpu weight) {
  return std::clamp<std::int64_t>(weight.value * 100 / kMilli, 1, 10'000);
}

}  // namespace

Result<void> Cgroup::join(pid_t pid) const {
  for (const std::string& folder : folders_) {
    FAIRLEAD_TRY(write_text(folder + "/cgroup.procs", std::to_string(pid)));
  }
  return {};
}

std::vector<pid_t> Cgroup::processes() const {
  std::vector<pid_t> pids;
  if (!tracking_.empty()) collect_processes(tracking_, pids);
  return pids;
}

void Cgroup::kill() const {
  if (tracking_.empty()) return;
  if (tracking_v2_ && write_text(tracking_ + "/cgroup.kill", "1")) return;
  // Frozen, they cannot fork while they are killed one by one; what is frozen dies when it thaws.
  const bool frozen = can_freeze_ && freeze().has_value();
  for (const pid_t pid : processes()) ::kill(pid, SIGKILL);
  if (frozen) (void)thaw();
}

bool Cgroup::kill_and_wait(int most_ms) const {
  return kill_until_none(
      [&] {
        kill();
        std::vector<ProcessRef> left;
        for (const pid_t pid : processes()) {
          const auto process = find_process(pid);
          if (process && process->state != 'Z') left.push_back(process->ref);
        }
        return left;
      },
      most_ms);
}

Result<void> Cgroup::freeze() const {
  if (!can_freeze_) {
    return fail(ErrorCode::kFailed, "no control group of this machine can freeze its processes");
  }
  if (tracking_v2_) {
    FAIRLEAD_TRY(write_text(tracking_ + "/cgroup.freeze", "1"));
  } else {
    FAIRLEAD_TRY(write_text(tracking_ + "/freezer.state", "FROZEN"));
  }
  // The kernel says when all of them stand still.
  for (const std::int64_t deadline = monotonic_ms() + kFreezeMs; monotonic_ms() < deadline;) {
    const bool frozen =
        tracking_v2_
            ? keyed_number(read_text(tracking_ + "/cgroup.events").value_or(""), "frozen") != 0
            : read_word(tracking_ + "/freezer.state") != "FREEZING";
    if (frozen) return {};
    (void)::poll(nullptr, 0, 1);
  }
  return {};  // whoever is in the kernel stops when it comes back
}

Result<void> Cgroup::thaw() const {
  if (!can_freeze_) return {};
  return tracking_v2_ ? write_text(tracking_ + "/cgroup.freeze", "0")
                      : write_text(tracking_ + "/freezer.state", "THAWED");
}

CgroupUsage Cgroup::usage() const {
  CgroupUsage usage;
  if (memory_.empty()) return usage;
  const char* peak = memory_v2_ ? "/memory.peak" : "/memory.max_usage_in_bytes";
  const char* events = memory_v2_ ? "/memory.events" : "/memory.oom_control";
  if (const auto bytes = read_number(memory_ + peak)) usage.memory_peak = Bytes(*bytes);
  if (const auto text = read_text(memory_ + events)) {
    usage.oom_kills = keyed_number(*text, "oom_kill");
  }
  return usage;
}

Result<void> Cgroup::remove() const {
  for (const std::string& folder : folders_) {
    if (!remove_folder(folder)) {
      return fail(Error{ErrorCode::kIo,
                        std::string("the control group cannot be removed: ") + std::strerror(errno),
                        folder,
                        {},
                        {}});
    }
  }
  return {};
}

bool Cgroup::exists() const {
  return std::any_of(folders_.begin(), folders_.end(), exists_at);
}

std::vector<const CgroupTree::Controller*> CgroupTree::wanted(const CgroupLimits& limits) const {
  std::vector<const Controller*> out{&tracking_};
  if (limits.cpu.value > 0 || limits.cpu_weight.value > 0) out.push_back(&cpu_);
  if (limits.memory.value > 0) out.push_back(&memory_);
  if (limits.pids > 0) out.push_back(&pids_);
  if (limits.devices) out.push_back(&devices_);
  std::erase_if(out, [](const Controller* one) { return !one->state.possible; });
  return out;
}

Cgroup CgroupTree::find(const std::string& name) const {
  Cgroup group;
  for (const Controller* one : {&tracking_, &cpu_, &memory_, &pids_, &devices_}) {
    if (!one->state.possible) continue;
    const std::string folder = one->folder + "/" + name;
    if (one != &tracking_ && !exists_at(folder)) continue;
    if (std::find(group.folders_.begin(), group.folders_.end(), folder) == group.folders_.end()) {
      group.folders_.push_back(folder);
    }
    if (one == &memory_) group.memory_ = folder;
  }
  if (tracking_.state.possible) group.tracking_ = tracking_.folder + "/" + name;
  group.tracking_v2_ = tracking_.v2;
  group.can_freeze_ = freezing_.possible;
  group.memory_v2_ = memory_.v2;
  return group;
}

Result<Cgroup> CgroupTree::create(const std::string& name, const CgroupLimits& limits) const {
  std::vector<std::string> made;
  const auto give_up = [&](Error error) {
    for (const std::string& folder : made) ::rmdir(folder.c_str());
    return fail(std::move(error));
  };
  for (const Controller* one : wanted(limits)) {
    const std::string folder = one->folder + "/" + name;
    if (std::find(made.begin(), made.end(), folder) != made.end()) continue;
    if (!exists_at(one->folder)) {
      // The first group of this tree: v2 hands the controllers down level by level.
      (void)make_folder(one->folder);
      if (one->v2) {
        const std::string above = one->folder.substr(0, one->folder.rfind('/'));
        for (const char* controller : {"+cpu", "+memory", "+pids"}) {
          (void)write_text(above + "/cgroup.subtree_control", controller);
          (void)write_text(one->folder + "/cgroup.subtree_control", controller);
        }
      }
    }
    if (const auto result = make_folder(folder); !result) return give_up(result.error());
    made.push_back(folder);
  }
  if (const auto applied = apply(name, limits); !applied) return give_up(applied.error());
  return find(name);
}

Result<void> CgroupTree::apply(const std::string& name, const CgroupLimits& limits) const {
  const auto file = [&](const Controller& one, const char* leaf) {
    return one.folder + "/" + name + "/" + leaf;
  };
  if (cpu_.state.possible && limits.cpu.value > 0) {
    const std::string quota =
        std::to_string(std::max<std::int64_t>(limits.cpu.value * kPeriodUs / kMilli, 1000));
    if (cpu_.v2) {
      FAIRLEAD_TRY(write_text(file(cpu_, "cpu.max"), quota + " " + std::to_string(kPeriodUs)));
    } else {
      FAIRLEAD_TRY(write_text(file(cpu_, "cpu.cfs_period_us"), std::to_string(kPeriodUs)));
      FAIRLEAD_TRY(write_text(file(cpu_, "cpu.cfs_quota_us"), quota));
    }
  }
  if (cpu_.state.possible && limits.cpu_weight.value > 0) {
    FAIRLEAD_TRY(
        cpu_.v2
            ? write_text(file(cpu_, "cpu.weight"), std::to_string(weight_of(limits.cpu_weight)))
            : write_text(file(cpu_, "cpu.shares"), std::to_string(shares_of(limits.cpu_weight))));
  }
  if (memory_.state.possible && limits.memory.value > 0) {
    const std::string bytes = std::to_string(limits.memory.value);
    FAIRLEAD_TRY(
        write_text(file(memory_, memory_.v2 ? "memory.max" : "memory.limit_in_bytes"), bytes));
    // Without this, what is over the limit goes to swap; machines without swap lack the file.
    if (memory_.v2) {
      (void)write_text(file(memory_, "memory.swap.max"), "0");
      (void)write_text(file(memory_, "memory.oom.group"), "1");
    } else {
      (void)write_text(file(memory_, "memory.memsw.limit_in_bytes"), bytes);
    }
  }
  if (pids_.state.possible && limits.pids > 0) {
    FAIRLEAD_TRY(write_text(file(pids_, "pids.max"), std::to_string(limits.pids)));
  }
  if (devices_.state.possible && limits.devices) {
    FAIRLEAD_ASSIGN(const auto rules, device_rules(*limits.devices));
    const std::string folder = devices_.folder + "/" + name;
    FAIRLEAD_TRY(devices_.v2 ? filter_devices_v2(folder, rules) : filter_devices_v1(folder, rules));
  }
  return {};
}

void CgroupTree::remove_empty_parents() const {
  for (const Controller* one : {&tracking_, &cpu_, &memory_, &pids_, &devices_}) {
    if (!one->folder.empty()) ::rmdir(one->folder.c_str());
  }
}

std::string_view cgroup_layout_name(CgroupLayout layout) {
  switch (layout) {
    case CgroupLayout::kNone:
      return "none";
    case CgroupLayout::kV1:
      return "v1";
    case CgroupLayout::kV2:
      return "v2";
    case CgroupLayout::kHybrid:
      return "hybrid";
  }
  return "none";
}

}  // namespace fairlead::node
