#include "engine/local/local_engine.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <future>
#include <sys/file.h>
#include <sys/resource.h>

#include "engine/local/worker.h"

namespace fairlead::engine {
namespace {

constexpr auto kReplyTime = std::chrono::seconds(10);  // above kMostOpeningMs of the supervisor

std::unexpected<Error> unknown(const AttemptId& attempt) {
  return fail(ErrorCode::kNotFound, "no attempt \"" + attempt + "\" is known to the engine");
}

// Two servers on one machine have groups of their own.
std::string name_for(const std::string& state) {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  for (const char c : state) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  char name[64];
  std::snprintf(&name[0], sizeof name, "fairlead-%08x", static_cast<unsigned>(hash ^ hash >> 32));
  return &name[0];
}

Result<Descriptor> lock_state(const std::string& state) {
  const std::string path = state + "/engine.lock";
  Descriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) {
    return fail(Error{
        ErrorCode::kIo, std::string("cannot be made: ") + std::strerror(errno), path, {}, {}});
  }
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return fail(Error{ErrorCode::kConflict,
                      "another server uses this state directory",
                      state,
                      {},
                      "stop it first, or give this one a directory of its own"});
  }
  return lock;
}

// One connection per running task; what the tasks themselves get stays as it was.
std::uint64_t raise_file_limit() {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  const std::uint64_t before = files.rlim_cur;
  files.rlim_cur = files.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &files);
  return before;
}

}  // namespace

Result<std::unique_ptr<LocalEngine>> LocalEngine::open(LocalEngineOptions options, Sink sink) {
  if (!options.state.starts_with('/')) {
    return fail(Error{ErrorCode::kInvalidArgument,
                      "\"" + options.state + "\" is not absolute",
                      {},
                      "state",
                      "begin it with \"/\""});
  }
  FAIRLEAD_TRY(AttemptFolder::prepare(options.state));
  FAIRLEAD_ASSIGN(Descriptor lock, lock_state(options.state));
  const std::string name = name_for(options.state);
  const bool named_by_us = options.runtime.empty();
  if (named_by_us) {
    const char* of_user = std::getenv("XDG_RUNTIME_DIR");
    options.runtime = ::geteuid() == 0                          ? "/run/" + name
                      : of_user != nullptr && of_user[0] == '/' ? of_user + ("/" + name)
                                                                : options.state + "/runtime";
  }
  FAIRLEAD_ASSIGN(RuntimeFolder runtime, RuntimeFolder::open(options.runtime));
  runtime.sweep();
  if (named_by_us) runtime.sweep_neighbours();
  AttemptFolder::sweep(options.state);
  LauncherOptions launcher;
  launcher.program = options.launcher;
  launcher.state = options.state;
  launcher.runtime = options.runtime;
  launcher.group = options.use_control_groups ? name : "";
  launcher.files = raise_file_limit();
  auto worker = std::make_unique<Worker>(std::move(launcher), std::move(sink), std::move(lock),
                                         std::move(runtime));
  FAIRLEAD_TRY(worker->open());
  return std::unique_ptr<LocalEngine>(new LocalEngine(std::move(worker)));
}

LocalEngine::LocalEngine(std::unique_ptr<Worker> worker) : worker_(std::move(worker)) {}

LocalEngine::~LocalEngine() = default;

Result<void> LocalEngine::start(TaskLaunch launch) {
  FAIRLEAD_TRY(check_launch(launch));
  if (!worker_->note(launch.attempt)) return {};
  worker_->post([this, launch = std::move(launch)] { worker_->begin(launch); });
  return {};
}

Result<void> LocalEngine::stop(const AttemptId& attempt, const StopOrder& order) {
  if (order.signal < 1 || order.signal >= NSIG || order.grace.ms < 0) {
    return fail(Error{ErrorCode::kInvalidArgument,
                      "no such signal, or a negative grace",
                      {},
                      "stop",
                      "use a signal from 1 to 64 and a grace of 0 or more"});
  }
  const auto known = worker_->state_of(attempt);
  if (!known) return unknown(attempt);
  if (*known == Worker::State::kOver) return {};
  worker_->post([this, attempt, order] { worker_->stop(attempt, order); });
  return {};
}

Result<void> LocalEngine::suspend(const AttemptId& attempt) {
  return worker_->order_pace(attempt, "suspend");
}

Result<void> LocalEngine::resume(const AttemptId& attempt) {
  return worker_->order_pace(attempt, "resume");
}

Result<std::vector<Adopted>> LocalEngine::adopt(const std::vector<AttemptId>& attempts) {
  for (const AttemptId& attempt : attempts) {
    FAIRLEAD_TRY(check_attempt_id(attempt));
    (void)worker_->note(attempt);
  }
  std::promise<Result<std::vector<Adopted>>> promise;
  auto future = promise.get_future();
  worker_->post([&] { promise.set_value(worker_->adopt(attempts)); });
  return future.get();
}

Result<void> LocalEngine::remove(const AttemptId& attempt) {
  FAIRLEAD_TRY(check_attempt_id(attempt));
  const auto known = worker_->state_of(attempt);
  if (known && *known != Worker::State::kOver) {
    return fail(ErrorCode::kConflict, "the attempt \"" + attempt + "\" has not ended",
                "stop it first");
  }
  worker_->post([this, attempt] { worker_->remove(attempt); });
  return {};
}

Result<Descriptor> LocalEngine::open_session(const AttemptId& attempt,
                                             const SessionRequest& request) {
  FieldWriter what;
  if (request.kind == SessionKind::kAttach) {
    what.add("attach", 1);
  } else {
    FAIRLEAD_TRY(check_command(request.command));
    for (const std::string& word : request.command) what.add("command", word);
  }
  what.add("terminal", request.terminal)
      .add("rows", request.window.rows)
      .add("columns", request.window.columns);
  std::string text = what.take();
  if (text.size() > kLongestMessage - 256) {
    return fail(Error{ErrorCode::kOutOfRange,
                      "is longer than 60 KiB",
                      {},
                      "command",
                      "hand over less: put large values into files"});
  }
  FAIRLEAD_ASSIGN(auto ends, stream_pair());
  FAIRLEAD_TRY(worker_->ask(attempt, "session", std::move(text), std::move(ends.second)));
  return std::move(ends.first);
}

Result<OutputReader> LocalEngine::output(const AttemptId& attempt) {
  FAIRLEAD_TRY(check_attempt_id(attempt));
  const std::string path = AttemptFolder::path_of(worker_->state(), attempt);
  if (::access(path.c_str(), F_OK) != 0) return unknown(attempt);
  return OutputReader(path);
}

pid_t LocalEngine::launcher_pid() const {
  return worker_->launcher_pid();
}

Result<void> LocalEngine::Worker::order_pace(const AttemptId& attempt, std::string kind) {
  const auto known = state_of(attempt);
  if (!known) return unknown(attempt);
  if (*known == State::kOver) return {};
  post([this, attempt, kind = std::move(kind)] { set_pace(attempt, kind); });
  return {};
}

Result<void> LocalEngine::Worker::ask(const AttemptId& attempt, std::string kind, std::string more,
                                      Descriptor beside) {
  const auto known = state_of(attempt);
  if (!known) return unknown(attempt);
  if (*known == State::kOver) {
    return fail(ErrorCode::kConflict, "the attempt \"" + attempt + "\" has ended");
  }
  auto answer = std::make_shared<std::promise<Result<void>>>();
  auto future = answer->get_future();
  auto passed = std::make_shared<Descriptor>(std::move(beside));
  post([this, attempt, kind = std::move(kind), more = std::move(more), passed, answer] {
    send_question(attempt, kind, more, passed->get(), answer);
  });
  if (future.wait_for(kReplyTime) == std::future_status::ready) return future.get();
  post([this, attempt, answer] { drop_question(attempt, answer); });
  return fail(ErrorCode::kUnavailable,
              "the supervisor of \"" + attempt + "\" has not answered for 10 s",
              "the machine may be overloaded, or the supervisor stopped (ps -C fairlead-task -o "
              "pid,stat); try again");
}

}  // namespace fairlead::engine
