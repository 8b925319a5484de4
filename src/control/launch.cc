// What the engine is told of an attempt: command, environment, limits, and as whom.
#include <algorithm>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include "control/desk.h"

namespace fairlead::control {
namespace {

std::vector<std::uint32_t> groups_of(const passwd* account, gid_t group) {
  if (account == nullptr) return {group};
  std::vector<gid_t> groups(64);
  int count = static_cast<int>(groups.size());
  if (getgrouplist(account->pw_name, group, groups.data(), &count) < 0) {
    groups.resize(static_cast<std::size_t>(count));
    getgrouplist(account->pw_name, group, groups.data(), &count);
  }
  groups.resize(static_cast<std::size_t>(count));
  return {groups.begin(), groups.end()};
}

std::string join(const std::vector<HeldDevice>& devices) {
  std::string out;
  for (const HeldDevice& device : devices) out += (out.empty() ? "" : ",") + device.id;
  return out;
}

// Tasks of one gang meet on a port of their own.
int meeting_port(const std::string& workload) {
  std::uint32_t hash = 2'166'136'261U;  // FNV-1a
  for (const char c : workload) hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619U;
  return 20'000 + static_cast<int>(hash % 10'000);
}

// The device files of the GPUs that were granted; the harmless ones are always there.
std::vector<std::string> device_files(const node::Inventory& inventory,
                                      const std::vector<HeldDevice>& held) {
  std::vector<std::string> files;
  const auto add = [&](const std::string& path) {
    if (access(path.c_str(), F_OK) == 0) files.push_back(path);
  };
  if (held.empty()) return files;
  for (const char* shared : {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"}) {
    add(shared);
  }
  for (const HeldDevice& device : held) {
    const auto gpu = std::find_if(inventory.gpus.begin(), inventory.gpus.end(),
                                  [&](const node::Gpu& g) { return g.uuid == device.id; });
    if (gpu != inventory.gpus.end() && gpu->minor >= 0) {
      add("/dev/nvidia" + std::to_string(gpu->minor));
    }
  }
  return files;
}

}  // namespace

engine::TaskLaunch Desk::launch_of(const Workload& w, const Attempt& attempt) const {
  const WorkloadSpec& spec = w.spec();
  const RoleSpec& role = spec.roles[static_cast<std::size_t>(attempt.role)];
  const RunSpec& run = w.submission.run;
  engine::TaskLaunch launch;
  launch.attempt = attempt.id;
  launch.workload = w.name();
  launch.workload_id = w.id;
  launch.project = w.project();
  launch.role = role.name;
  launch.index = attempt.index;
  launch.command = run.command_of(role.name);
  launch.working_dir = run.working_dir;
  const passwd* account = run.uid ? getpwuid(static_cast<uid_t>(*run.uid)) : nullptr;
  if (options_.may_switch_user && run.uid) {
    const auto group = static_cast<gid_t>(run.gid.value_or(*run.uid));
    launch.run_as =
        engine::RunAs{static_cast<std::uint32_t>(*run.uid), group, groups_of(account, group)};
  }
  auto& env = launch.environment;
  env["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  env["LANG"] = "C.UTF-8";
  env["HOME"] = account == nullptr ? "/" : account->pw_dir;
  env["USER"] = env["LOGNAME"] =
      account == nullptr ? std::to_string(run.uid.value_or(0)) : std::string(account->pw_name);
  env["SHELL"] = account == nullptr ? "/bin/sh" : account->pw_shell;
  for (const auto& [key, value] : run.env) env[key] = value;
  if (const auto of_role = run.roles.find(role.name); of_role != run.roles.end()) {
    for (const auto& [key, value] : of_role->second.env) env[key] = value;
  }
  // What follows is a promise to the task, and no one's to set (docs/tasks.md).
  const std::string index = std::to_string(attempt.index);
  const std::string task = w.id + "-" + std::to_string(attempt.role) + "-" + index;
  env["JOB_NAME"] = env["RUNAI_JOB_NAME"] = env["FAIRLEAD_WORKLOAD"] = w.name();
  env["JOB_UUID"] = env["FAIRLEAD_WORKLOAD_ID"] = w.id;
  env["POD_INDEX"] = env["FAIRLEAD_TASK_INDEX"] = index;
  env["POD_UUID"] = env["FAIRLEAD_TASK_ID"] = task;
  env["RUNAI_PROJECT"] = env["FAIRLEAD_PROJECT"] = w.project();
  env["FAIRLEAD_ROLE"] = role.name;
  env["FAIRLEAD_ATTEMPT_NUMBER"] = std::to_string(attempt.number);
  if (!options_.socket.empty()) env["FAIRLEAD_SERVER"] = "unix://" + options_.socket;
  const std::string devices = join(attempt.devices);
  env["CUDA_VISIBLE_DEVICES"] = devices;  // empty: none, and said so
  env["NVIDIA_VISIBLE_DEVICES"] = devices.empty() ? "void" : devices;
  std::string milli;
  std::string mib;
  for (const HeldDevice& device : attempt.devices) {
    milli += (milli.empty() ? "" : ",") + std::to_string(device.milli);
    mib += (mib.empty() ? "" : ",") + std::to_string(device.mib);
  }
  env["FAIRLEAD_GPU_MILLI"] = milli;
  env["FAIRLEAD_GPU_MEMORY_MIB"] = mib;
  if (spec.kind == WorkloadKind::kDistributed) {
    std::int32_t rank = attempt.index;
    std::int32_t world = 0;
    for (std::size_t r = 0; r < spec.roles.size(); ++r) {
      if (r < static_cast<std::size_t>(attempt.role)) rank += spec.roles[r].count;
      world += spec.roles[r].count;
    }
    const auto offer = [&](const char* key, const std::string& value) {
      env.try_emplace(key, value);
    };
    offer("MASTER_ADDR", "127.0.0.1");
    offer("MASTER_PORT", std::to_string(meeting_port(w.id)));
    offer("WORLD_SIZE", std::to_string(world));
    offer("RANK", std::to_string(rank));
    offer("LOCAL_RANK", "0");  // each task sees its own devices only
  }
  launch.limits.cpu = MilliCpu{run.cpu_limit.value_or(0)};
  launch.limits.cpu_weight = role.request.cpu;
  launch.limits.memory = Bytes{run.memory_limit.value_or(role.request.memory.value)};
  launch.limits.processes = run.pids.value_or(0);
  const bool real = !options_.inventory.simulated && !options_.inventory.gpus.empty();
  if (real) launch.limits.devices = device_files(options_.inventory, attempt.devices);
  constexpr int kFiles = 4;
  launch.output = {Bytes{settings_.log_bytes / kFiles}, kFiles};
  launch.wants_input = run.keep_stdin;
  launch.wants_terminal = run.tty;
  return launch;
}

}  // namespace fairlead::control
