// Processes by an identity that survives the reuse of their number: pid and start time.
//
// A signal reaches exactly the process that was meant or nobody: it goes through a pidfd that is
// opened first and checked against the start time afterwards. Reads /proc; cost of a walk: one
// small file per process of the machine. Threads may share all of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace fairlead::node {

struct ProcessRef {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  // since boot, in the kernel's clock ticks
  friend auto operator<=>(const ProcessRef&, const ProcessRef&) = default;
};

struct Process {
  ProcessRef ref;
  pid_t parent = 0;
  pid_t session = 0;
  char state = 'R';  // as in proc(5): 'Z' is dead and waits to be reaped
};

// nullopt if there is none of that number.
std::optional<Process> find_process(pid_t pid);

// All that run, without those that are dead.
std::vector<Process> all_processes();

// Children, their children and so on, without `root` itself.
std::vector<ProcessRef> descendants_of(pid_t root);

// Those of one session that began no earlier than `since` (of the session's leader: a session
// number that was used again belongs to others).
std::vector<ProcessRef> members_of_session(pid_t session, std::uint64_t since);

// Those that were started with "NAME=value" in their environment, as far as we may look.
std::vector<ProcessRef> started_with(std::string_view name_and_value);

// False if that process is gone or not ours to signal.
bool signal_process(const ProcessRef& process, int signal);

// Sends SIGKILL to all that `find` names, again and again until it names none or `most_ms` have
// passed; true if none is left.
template <class Find>
bool kill_until_none(const Find& find, int most_ms);

// Waits until each has ended, at most `most_ms` in all.
void wait_until_gone(const std::vector<ProcessRef>& processes, int most_ms);

std::int64_t monotonic_ms();  // CLOCK_BOOTTIME: goes on while the machine sleeps, never jumps

template <class Find>
bool kill_until_none(const Find& find, int most_ms) {
  const std::int64_t deadline = monotonic_ms() + most_ms;
  for (;;) {
    const std::vector<ProcessRef> left = find();
    if (left.empty()) return true;
    for (const ProcessRef& process : left) signal_process(process, 9);
    const std::int64_t rest = deadline - monotonic_ms();
    if (rest <= 0) return false;
    wait_until_gone(left, static_cast<int>(rest < 100 ? rest : 100));
  }
}

}  // namespace fairlead::node
