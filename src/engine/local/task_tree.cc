#include "engine/local/task_tree.h"

#include <algorithm>
#include <csignal>
#include <set>
#include <unistd.h>

namespace fairlead::engine {
namespace {

// A bomb that forks faster than we stop it is caught by its group, or not at all.
constexpr int kMostRounds = 100;

}  // namespace

std::vector<node::ProcessRef> TaskTree::processes() const {
  std::vector<node::ProcessRef> all = node::descendants_of(::getpid());
  if (group_) {
    for (const pid_t pid : group_->processes()) {
      const auto process = node::find_process(pid);
      if (process && process->state != 'Z') all.push_back(process->ref);
    }
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

void TaskTree::signal(int signal) const {
  for (const node::ProcessRef& process : processes()) node::signal_process(process, signal);
}

void TaskTree::suspend() {
  if (group_ && group_->freeze()) return;
  halt();
  halted_ = true;
}

void TaskTree::resume() {
  if (halted_) {
    signal(SIGCONT);
  } else if (group_) {
    (void)group_->thaw();
  }
  halted_ = false;
}

void TaskTree::halt() const {
  std::set<node::ProcessRef> seen;
  for (int round = 0; round < kMostRounds; ++round) {
    bool any = false;
    for (const node::ProcessRef& process : processes()) {
      if (!seen.insert(process).second) continue;
      any = true;
      node::signal_process(process, SIGSTOP);
    }
    if (!any) return;
  }
}

void TaskTree::kill() const {
  if (group_) group_->kill();
  const std::vector<node::ProcessRef> left = node::descendants_of(::getpid());
  if (left.empty()) return;
  halt();
  signal(SIGKILL);
}

}  // namespace fairlead::engine
