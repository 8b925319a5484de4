#include "engine/local/launcher.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <set>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "engine/local/supervisor.h"
#include "engine/local/wire.h"
#include "node/processes.h"

namespace fairlead::engine {
namespace {

constexpr std::string_view kWord = "__fairlead-launcher";
constexpr int kSocket = 3;
constexpr int kMostOrphanMs = 5000;

// Children of the launcher that are no supervisors are what a killed supervisor left behind.
void kill_orphans(const std::set<pid_t>& supervisors) {
  node::kill_until_none(
      [&] {
        while (true) {
          // Only those: a supervisor's end is for the loop to see.
          siginfo_t info{};
          if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0 ||
              supervisors.contains(info.si_pid)) {
            break;
          }
          (void)::waitpid(info.si_pid, nullptr, 0);
        }
        std::vector<node::ProcessRef> orphans;
        for (const node::Process& process : node::all_processes()) {
          if (process.parent != ::getpid() || supervisors.contains(process.ref.pid)) continue;
          orphans.push_back(process.ref);
          for (const node::ProcessRef& below : node::descendants_of(process.ref.pid)) {
            orphans.push_back(below);
          }
        }
        return orphans;
      },
      kMostOrphanMs);
}

class Forker {
 public:
  explicit Forker(SupervisorPlace place) : place_(std::move(place)) {
    (void)::prctl(PR_SET_NAME, "fairlead-launch");
    (void)::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ::umask(077);  // tasks get their own (task_process.cc)
    for (const int ignored : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ, SIGQUIT}) {
      (void)::signal(ignored, SIG_IGN);
    }
    // A machine out of memory shall lose a task, not who watches it.
    const Descriptor score(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
    if (score) (void)!::write(score.get(), "-500", 4);
    sigset_t child;
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    ::sigprocmask(SIG_SETMASK, &child, nullptr);
    signals_.reset(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
  }

  int run() {
    for (;;) {
      pollfd polled[2] = {{kSocket, POLLIN, 0}, {signals_.get(), POLLIN, 0}};
      if (::poll(&polled[0], 2, -1) < 0 && errno != EINTR) return 1;
      if (polled[1].revents != 0) reap();
      if (polled[0].revents == 0) continue;
      Message message;
      const Received received = receive_message(kSocket, message);
      if (received == Received::kClosed) return 0;
      if (received == Received::kMessage) fork_one(message);
    }
  }

 private:
  void fork_one(Message& message) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::close(kSocket);
      signals_.reset();
      supervise(place_, message.text, std::move(message.descriptor));
      ::_exit(0);
    }
    if (pid > 0) {
      supervisors_.insert(pid);
      return;
    }
    const Error error{ErrorCode::kFailed,
                      std::string("no process can be made: ") + std::strerror(errno),
                      {},
                      {},
                      "raise the limit on processes, or run fewer tasks"};
    refuse(place_.state, message.text, error, message.descriptor.get());
  }

  void reap() {
    signalfd_siginfo ignored;
    while (::read(signals_.get(), &ignored, sizeof ignored) > 0) {
    }
    bool killed = false;
    int status = 0;
    for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      killed = killed || (supervisors_.erase(pid) > 0 && status != 0);
    }
    if (killed) kill_orphans(supervisors_);
  }

  SupervisorPlace place_;
  Descriptor signals_;
  std::set<pid_t> supervisors_;
};

}  // namespace

std::optional<int> launcher_main(int argc, char** argv) {
  if (argc != 6 || argv[1] != kWord) return std::nullopt;
  SupervisorPlace place;
  place.state = argv[2];
  place.runtime = argv[3];
  const std::string group = argv[4];
  place.use_groups = !group.empty();
  if (place.use_groups) {
    node::CgroupOptions options;
    options.name = group;
    place.groups = node::CgroupTree::detect(options);
  }
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = std::min<rlim_t>(std::strtoull(argv[5], nullptr, 10), files.rlim_max);
  (void)::setrlimit(RLIMIT_NOFILE, &files);
  place.boot = boot_id();
  // No destructor of the program has anything to do here.
  ::_exit(Forker(std::move(place)).run());
}

Result<Launcher> Launcher::spawn(const LauncherOptions& options) {
  FAIRLEAD_ASSIGN(auto ends, packet_pair());
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDWR, 0);
  // Nothing of the server's is held open by those who outlive it.
  ::posix_spawn_file_actions_adddup2(&files, 0, 1);
  ::posix_spawn_file_actions_adddup2(&files, 0, 2);
  ::posix_spawn_file_actions_adddup2(&files, ends.second.get(), kSocket);
  ::posix_spawn_file_actions_addclosefrom_np(&files, kSocket + 1);
  // A session of its own: Ctrl-C at the server's terminal is not for it.
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  std::string words[] = {"fairlead-launcher", std::string(kWord), options.state,
                         options.runtime,     options.group,      std::to_string(options.files)};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(),
                       words[4].data(), words[5].data(), nullptr};
  pid_t pid = 0;
  const int error =
      ::posix_spawn(&pid, options.program.c_str(), &files, &attributes, &arguments[0], environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    return fail(ErrorCode::kFailed,
                "the launcher " + options.program + " cannot be run: " + std::strerror(error));
  }
  return Launcher(std::move(ends.first), pid);
}

Launcher::~Launcher() {
  if (!socket_) return;
  socket_.reset();
  (void)::waitpid(pid_, nullptr, 0);
}

bool Launcher::start(const AttemptId& attempt, const Descriptor& connection) const {
  return send_message(socket_.get(), attempt, connection.get());
}

}  // namespace fairlead::engine
