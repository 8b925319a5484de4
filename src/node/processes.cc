#include "node/processes.h"

#include <charconv>
#include <csignal>
#include <cstdlib>
#include <dirent.h>
#include <memory>
#include <poll.h>
#include <string>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <unordered_map>
#include <unordered_set>

#include "node/text_files.h"

namespace fairlead::node {
namespace {

int open_pidfd(pid_t pid) {
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U));
}

// Fields 3 (state), 4 (parent), 6 (session) and 22 (start) of proc(5); the name before them is in
// parentheses and may hold anything.
std::optional<Process> parse_stat(pid_t pid, const std::string& text) {
  const std::size_t close = text.rfind(')');
  if (close == std::string::npos || close + 2 >= text.size()) return std::nullopt;
  const std::vector<std::string> fields = split(std::string_view(text).substr(close + 2), ' ');
  if (fields.size() < 20) return std::nullopt;
  Process process;
  process.ref.pid = pid;
  process.state = fields[0].front();
  process.parent = static_cast<pid_t>(std::strtol(fields[1].c_str(), nullptr, 10));
  process.session = static_cast<pid_t>(std::strtol(fields[3].c_str(), nullptr, 10));
  process.ref.start_ticks = std::strtoull(fields[19].c_str(), nullptr, 10);
  return process;
}

template <class Accept>
std::vector<ProcessRef> those(const Accept& accept) {
  std::vector<ProcessRef> found;
  for (const Process& process : all_processes()) {
    if (accept(process)) found.push_back(process.ref);
  }
  return found;
}

}  // namespace

std::optional<Process> find_process(pid_t pid) {
  const auto text = read_text("/proc/" + std::to_string(pid) + "/stat");
  return text ? parse_stat(pid, *text) : std::nullopt;
}

std::vector<Process> all_processes() {
  std::vector<Process> processes;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), &::closedir);
  while (const dirent* entry = proc ? ::readdir(proc.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size()) continue;
    const auto process = find_process(pid);
    if (process && process->state != 'Z' && process->state != 'X') processes.push_back(*process);
  }
  return processes;
}

std::vector<ProcessRef> descendants_of(pid_t root) {
  std::unordered_multimap<pid_t, ProcessRef> children;
  for (const Process& process : all_processes()) children.emplace(process.parent, process.ref);
  std::vector<ProcessRef> found;
  std::unordered_set<pid_t> seen{root};
  std::vector<pid_t> open{root};
  while (!open.empty()) {
    const pid_t parent = open.back();
    open.pop_back();
    const auto [first, last] = children.equal_range(parent);
    for (auto it = first; it != last; ++it) {
      if (!seen.insert(it->second.pid).second) continue;
      found.push_back(it->second);
      open.push_back(it->second.pid);
    }
  }
  return found;
}

std::vector<ProcessRef> members_of_session(pid_t session, std::uint64_t since) {
  return those([&](const Process& process) {
    return process.session == session && process.ref.start_ticks >= since;
  });
}

std::vector<ProcessRef> started_with(std::string_view name_and_value) {
  if (name_and_value.empty()) return {};
  return those([&](const Process& process) {
    const auto text = read_text("/proc/" + std::to_string(process.ref.pid) + "/environ");
    if (!text) return false;
    for (std::size_t at = text->find(name_and_value); at != std::string::npos;
         at = text->find(name_and_value, at + 1)) {
      const std::size_t end = at + name_and_value.size();
      if ((at == 0 || (*text)[at - 1] == '\0') && (end == text->size() || (*text)[end] == '\0')) {
        return true;
      }
    }
    return false;
  });
}

bool signal_process(const ProcessRef& process, int signal) {
  const int pidfd = open_pidfd(process.pid);
  if (pidfd < 0) return false;
  const auto now = find_process(process.pid);
  const bool same = now && now->ref == process;
  const bool sent = same && ::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0U) == 0;
  ::close(pidfd);
  return sent;
}

void wait_until_gone(const std::vector<ProcessRef>& processes, int most_ms) {
  const std::int64_t deadline = monotonic_ms() + most_ms;
  for (const ProcessRef& process : processes) {
    const int pidfd = open_pidfd(process.pid);
    if (pidfd < 0) continue;
    const auto now = find_process(process.pid);
    const std::int64_t rest = deadline - monotonic_ms();
    if (now && now->ref == process && rest > 0) {
      pollfd wanted{pidfd, POLLIN, 0};
      (void)::poll(&wanted, 1, static_cast<int>(rest));
    }
    ::close(pidfd);
  }
}

std::int64_t monotonic_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace fairlead::node
