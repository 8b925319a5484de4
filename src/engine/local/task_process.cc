#include "engine/local/task_process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node/processes.h"

namespace fairlead::engine {
namespace {

// A folder on a network file system that hangs must not hold the start up for ever.
constexpr int kMostPreparationMs = 60'000;

enum class Step : std::uint8_t { kAtGate, kGroup, kTerminal, kStreams, kUser, kFolder, kProgram };

struct Word {
  Step step = Step::kAtGate;
  int error = 0;
};

struct Child {
  const ProcessPlan* plan;
  std::vector<char*> arguments;
  std::vector<char*> environment;
  std::string path;  // where programs are looked for
  int voice;
  int gate;
  pid_t supervisor;

  [[noreturn]] void run() const;
  [[noreturn]] void give_up(Step step, int error) const {
    const Word word{step, error};
    (void)!::write(voice, &word, sizeof word);
    ::_exit(127);
  }
  void reset_signals() const;
  void take_streams() const;
  void change_user() const;
  std::string find_program() const;
};

void Child::reset_signals() const {
  // The library's sigaction() refuses two that it uses itself, and that posix_spawn() leaves
  // ignored. Nothing but zeroes is the default action.
  constexpr std::size_t kMaskBytes = 8;
  const std::array<unsigned long, 8> usual{};
  for (int signal = 1; signal < NSIG; ++signal) {
    (void)::syscall(SYS_rt_sigaction, signal, usual.data(), nullptr, kMaskBytes);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void Child::take_streams() const {
  if (plan->terminal && ::ioctl(plan->input, TIOCSCTTY, 0) != 0) give_up(Step::kTerminal, errno);
  // First out of the way of 0, 1 and 2, where they may lie themselves.
  std::array<int, 3> sources{plan->input, plan->output, plan->error};
  for (int& source : sources) {
    source = ::fcntl(source, F_DUPFD_CLOEXEC, 10);
    if (source < 0) give_up(Step::kStreams, errno);
  }
  for (int i = 0; i < 3; ++i) {
    if (::dup2(sources[static_cast<std::size_t>(i)], i) < 0) give_up(Step::kStreams, errno);
  }
  (void)::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
}

void Child::change_user() const {
  const std::optional<RunAs>& as = plan->launch->run_as;
  if (!as || (::geteuid() != 0 && as->user == ::geteuid() && as->group == ::getegid())) return;
  const std::vector<gid_t> groups(as->groups.begin(), as->groups.end());
  if (::setgroups(groups.size(), groups.data()) != 0 ||
      ::setresgid(as->group, as->group, as->group) != 0 ||
      ::setresuid(as->user, as->user, as->user) != 0) {
    give_up(Step::kUser, errno);
  }
}

std::string Child::find_program() const {
  const std::string& name = plan->command->front();
  int error = ENOENT;
  const auto runs = [&](const std::string& file) {
    struct stat status{};
    if (::stat(file.c_str(), &status) != 0) {
      if (errno != ENOENT && errno != ENOTDIR) error = errno;
      return false;
    }
    if (S_ISREG(status.st_mode) && ::faccessat(AT_FDCWD, file.c_str(), X_OK, AT_EACCESS) == 0) {
      return true;
    }
    error = EACCES;
    return false;
  };
  if (name.find('/') != std::string::npos) {
    if (runs(name)) return name;
    give_up(Step::kProgram, error);
  }
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    std::string file = begin == end ? "." : path.substr(begin, end - begin);
    file += '/';
    file += name;
    if (runs(file)) return file;
    begin = end + 1;
  }
  give_up(Step::kProgram, error);
}

void Child::run() const {
  ::setsid();
  // Before the groups: a limit of theirs must not hit what is ours.
  if (plan->group != nullptr) {
    if (auto joined = plan->group->join(0); !joined) give_up(Step::kGroup, EIO);
  }
  const Descriptor score(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (score) (void)!::write(score.get(), "0", 1);
  take_streams();
  ::umask(022);
  change_user();
  // Cleared by a change of user, so it comes after.
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != supervisor) ::_exit(127);
  (void)::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (::chdir(plan->launch->working_dir.c_str()) != 0) give_up(Step::kFolder, errno);
  const std::string program = find_program();
  const Word word{};
  (void)!::write(voice, &word, sizeof word);
  char open = 0;
  ssize_t got = -1;
  do {
    got = ::read(gate, &open, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) ::_exit(127);
  reset_signals();
  ::execve(program.c_str(), arguments.data(), environment.data());
  give_up(Step::kProgram, errno);
}

}  // namespace

Result<TaskProcess> TaskProcess::fork(const ProcessPlan& plan) {
  TaskProcess process;
  int voice[2];
  int gate[2];
  if (::pipe2(&voice[0], O_CLOEXEC) != 0) {
    return fail(ErrorCode::kFailed, std::string("no pipe can be made: ") + std::strerror(errno));
  }
  process.voice_.reset(voice[0]);
  const Descriptor childs_voice(voice[1]);
  if (::pipe2(&gate[0], O_CLOEXEC) != 0) {
    return fail(ErrorCode::kFailed, std::string("no pipe can be made: ") + std::strerror(errno));
  }
  const Descriptor childs_gate(gate[0]);
  process.gate_.reset(gate[1]);

  Child child{
      &plan,     {}, {}, "/usr/local/bin:/usr/bin:/bin", childs_voice.get(), childs_gate.get(),
      ::getpid()};
  for (const std::string& word : *plan.command) {
    child.arguments.push_back(const_cast<char*>(word.c_str()));
  }
  child.arguments.push_back(nullptr);
  std::vector<std::string> variables;
  variables.reserve(plan.launch->environment.size() + 2);
  for (const auto& [name, value] : plan.launch->environment) {
    if (name == "FAIRLEAD_NOTICE_FILE" || name == "FAIRLEAD_ATTEMPT") continue;
    std::string& variable = variables.emplace_back(name);
    variable += '=';
    variable += value;
    if (name == "PATH") child.path = value;
  }
  variables.push_back("FAIRLEAD_ATTEMPT=" + plan.launch->attempt);
  variables.push_back("FAIRLEAD_NOTICE_FILE=" + plan.notice_file);
  for (std::string& variable : variables) child.environment.push_back(variable.data());
  child.environment.push_back(nullptr);

  process.pid_ = ::fork();
  if (process.pid_ == 0) child.run();
  if (process.pid_ < 0) {
    return fail(ErrorCode::kFailed, std::string("no process can be made: ") + std::strerror(errno),
                "raise the limit on processes (ulimit -u, pids.max), or run fewer tasks");
  }
  process.program_ = plan.command->front();
  process.folder_ = plan.launch->working_dir;
  if (plan.launch->run_as) {
    process.user_ = std::to_string(plan.launch->run_as->user) + ":" +
                    std::to_string(plan.launch->run_as->group);
  }
  return process;
}

Result<void> TaskProcess::prepared() {
  return hear(true, true);
}

Result<void> TaskProcess::begin() {
  open_gate();
  return hear(false, true);
}

void TaskProcess::open_gate() {
  (void)!::write(gate_.get(), "x", 1);
  gate_.reset();
}

Result<bool> TaskProcess::proceed() {
  const bool at_gate = static_cast<bool>(gate_);
  FAIRLEAD_TRY(hear(at_gate, false));
  if (at_gate) open_gate();
  return !at_gate;
}

void TaskProcess::kill() const {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

// Until the child stands at the gate, or has closed its voice by exec.
Result<void> TaskProcess::hear(bool at_gate, bool reaps) {
  Word word;
  pollfd wanted{voice_.get(), POLLIN, 0};
  int ready = 0;
  const std::int64_t deadline = node::monotonic_ms() + kMostPreparationMs;
  do {
    const std::int64_t rest = deadline - node::monotonic_ms();
    ready = rest <= 0 ? 0 : ::poll(&wanted, 1, static_cast<int>(rest));
  } while (ready < 0 && errno == EINTR);
  const ssize_t got = ready > 0 ? ::read(voice_.get(), &word, sizeof word) : -1;
  if (got == 0 && !at_gate) return {};
  if (got == sizeof word && word.step == Step::kAtGate && at_gate) return {};
  kill();
  // One without CPU time takes its time to die: only who has nothing else to do waits for it.
  if (reaps) (void)::waitpid(pid_, nullptr, 0);
  const char* why = std::strerror(word.error);
  const auto wrong = [&](ErrorCode code, const char* field, const std::string& message,
                         const std::string& cure) -> Result<void> {
    return fail(Error{code, message, {}, field, cure});
  };
  if (ready == 0) {
    return wrong(ErrorCode::kFailed, "working_dir", "\"" + folder_ + "\" does not answer",
                 "is its file system reachable?");
  }
  if (got != sizeof word) {
    return wrong(ErrorCode::kFailed, "", "the process died before its program began", "");
  }
  switch (word.step) {
    case Step::kGroup:
      return wrong(ErrorCode::kFailed, "limits", "its control group cannot be joined", "");
    case Step::kTerminal:
    case Step::kStreams:
    case Step::kAtGate:
      return wrong(ErrorCode::kFailed, "", std::string("its streams cannot be made: ") + why, "");
    case Step::kUser:
      return wrong(ErrorCode::kInvalidArgument, "run_as", "cannot run as " + user_ + ": " + why,
                   "run the server as root, or the task as the server's own user");
    case Step::kFolder:
      return wrong(ErrorCode::kInvalidArgument, "working_dir",
                   "\"" + folder_ + "\" cannot be entered: " + why,
                   "create it on this machine, or let the task's user in");
    case Step::kProgram:
      break;
  }
  const bool missing = word.error == ENOENT;
  return wrong(missing ? ErrorCode::kNotFound : ErrorCode::kInvalidArgument, "command",
               "the program \"" + program_ + "\" " +
                   (missing ? "is not found" : std::string("cannot be run: ") + why),
               missing                 ? "give its path, or put its folder into PATH"
               : word.error == ENOEXEC ? "begin a script with #! and its interpreter"
               : word.error == EACCES  ? "make it executable for the task's user"
               : word.error == E2BIG   ? "hand over less: put large values into files"
                                       : "");
}

}  // namespace fairlead::engine
