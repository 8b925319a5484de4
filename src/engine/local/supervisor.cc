#include "engine/local/supervisor.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <list>
#include <optional>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "engine/local/attempt_folder.h"
#include "engine/local/opening.h"
#include "engine/local/session.h"
#include "engine/local/task_tree.h"
#include "engine/local/wire.h"
#include "engine/output_log.h"

namespace fairlead::engine {
namespace {

constexpr int kLastWordsMs = 2000;  // for sessions to take what was said
constexpr int kKillAgainMs = 50;
constexpr int kSayUnkillableMs = 10'000;
constexpr std::size_t kMostInput = std::size_t{64} << 10;

Error has_left() {
  return {ErrorCode::kConflict, "who asked has left", {}, {}, {}};
}

bool hung_up(const Descriptor& client) {
  pollfd polled{client.get(), 0, 0};
  return ::poll(&polled, 1, 0) > 0;
}

class Supervisor {
 public:
  Supervisor(const SupervisorPlace& place, AttemptFolder folder, TaskLaunch launch)
      : place_(place),
        folder_(std::move(folder)),
        launch_(std::move(launch)),
        tree_(std::nullopt),
        output_(folder_.get(), launch_.output.per_file.value, launch_.output.files) {}

  void add_connection(Descriptor connection) { connections_.push_back(std::move(connection)); }

  // Error: the program never ran.
  Result<void> start();
  void loop();
  void finish();
  void report(std::string_view message) const;
  void give_back_group();

 private:
  struct Watch {
    int descriptor;
    short events;
    std::function<void(short)> act;
  };

  std::string notice_path() const { return place_.runtime + "/" + launch_.attempt + ".json"; }
  std::string began_message() const;

  void watch(std::vector<Watch>& watches);
  void poll_once(int most_ms);
  int until_deadline() const;

  void accept_engine();
  void hear_engine(Descriptor& connection);
  // nullopt: the answer comes later.
  std::optional<Result<void>> obey(const Fields& order, Descriptor& beside, int asker);
  std::optional<Result<void>> open_session(const Fields& order, Descriptor client, int asker);
  Result<void> begin_exec(const Fields& order, Session session, int asker);
  void settle_openings();

  void apply_stop(const StopOrder& order);
  void write_notice(const StopOrder& order) const;
  void suspend();
  void resume();

  void reap();
  void relay_output(bool error);
  bool all_gone() const { return nothing_left_; }

  const SupervisorPlace& place_;
  AttemptFolder folder_;
  TaskLaunch launch_;
  TaskTree tree_;
  OutputWriter output_;
  Streams streams_;
  Descriptor signals_;
  Descriptor listener_;
  std::list<Descriptor> connections_;
  std::list<Session> sessions_;
  std::list<Opening> openings_;

  StartedRecord began_;
  std::optional<int> main_status_;
  bool nothing_left_ = false;  // there is no child at all any more
  bool suspended_ = false;
  std::optional<StopOrder> stop_;
  std::int64_t kill_at_ms_ = 0;  // by monotonic_ms(), once stop_ is there
  bool killed_ = false;
};

Result<void> Supervisor::start() {
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &child, nullptr);
  signals_.reset(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
  (void)::prctl(PR_SET_CHILD_SUBREAPER, 1);
  FAIRLEAD_ASSIGN(listener_, listen_for(place_.runtime, launch_.attempt));

  if (place_.use_groups && place_.groups.tracking().possible) {
    node::CgroupLimits limits;
    limits.cpu = launch_.limits.cpu;
    limits.cpu_weight = launch_.limits.cpu_weight;
    limits.memory = launch_.limits.memory;
    limits.pids = launch_.limits.processes;
    limits.devices = launch_.limits.devices;
    auto group = place_.groups.create(launch_.attempt, limits);
    if (!group) {
      group.error().field = "limits";
      return fail(group.error());
    }
    tree_ = TaskTree(std::move(*group));
  }

  ProcessPlan plan;
  plan.command = &launch_.command;
  plan.launch = &launch_;
  plan.notice_file = notice_path();
  plan.group = tree_.group();
  FAIRLEAD_TRY(streams_.open(launch_.wants_terminal, launch_.wants_input, launch_.window, plan));
  FAIRLEAD_ASSIGN(TaskProcess process, TaskProcess::fork(plan));
  streams_.close_far_side();
  FAIRLEAD_TRY(process.prepared());

  const auto found = node::find_process(process.pid());
  if (!found) return fail(ErrorCode::kFailed, "the process died before its program began");
  // Its notice file names this server's folder, so that the attempts of another server differ.
  began_ = {found->ref, wall_clock(), place_.boot, "FAIRLEAD_NOTICE_FILE=" + notice_path()};
  Result<void> durable = folder_.mark("started", started_record(began_));
  if (durable) durable = folder_.sync_name(place_.state);
  if (!durable) {
    ::kill(process.pid(), SIGKILL);
    (void)::waitpid(process.pid(), nullptr, 0);
    return durable;
  }
  return process.begin();
}

std::string Supervisor::began_message() const {
  return started_message(began_.process.pid, began_.at);
}

void Supervisor::report(std::string_view message) const {
  for (const Descriptor& connection : connections_) (void)send_message(connection.get(), message);
}

void Supervisor::loop() {
  report(began_message());
  if (const auto text = folder_.read("stop"); text && *text) {
    if (const auto order = parse_stop(**text)) apply_stop(*order);
  }
  // After a stop order the rest of it has its grace too, even where the main process ends first.
  while (!main_status_ || (stop_ && !killed_ && !all_gone())) {
    poll_once(until_deadline());
    if (stop_ && !killed_ && node::monotonic_ms() >= kill_at_ms_) {
      tree_.kill();
      killed_ = true;
    }
  }
}

int Supervisor::until_deadline() const {
  if (!stop_ || killed_) return -1;
  const std::int64_t rest = kill_at_ms_ - node::monotonic_ms();
  return static_cast<int>(std::clamp<std::int64_t>(rest, 0, 3'600'000));
}

void Supervisor::watch(std::vector<Watch>& watches) {
  watches.push_back({signals_.get(), POLLIN, [this](short) { reap(); }});
  watches.push_back({listener_.get(), POLLIN, [this](short) { accept_engine(); }});
  for (Descriptor& connection : connections_) {
    watches.push_back(
        {connection.get(), POLLIN, [this, &connection](short) { hear_engine(connection); }});
  }
  if (streams_.output() >= 0) {
    watches.push_back({streams_.output(), POLLIN, [this](short) { relay_output(false); }});
  }
  if (streams_.error() >= 0) {
    watches.push_back({streams_.error(), POLLIN, [this](short) { relay_output(true); }});
  }
  if (streams_.wants_room() >= 0) {
    watches.push_back({streams_.wants_room(), POLLOUT, [this](short) { streams_.push(); }});
  }
  for (Opening& opening : openings_) {
    // Of its client only the end is of interest: what it says waits for the program. It comes
    // before the voice, so that nothing begins for one who has left.
    watches.push_back({opening.client(), 0, [&opening](short) { opening.refuse(has_left()); }});
    watches.push_back({opening.voice(), POLLIN, [&opening](short) { opening.hear(); }});
  }
  for (Session& session : sessions_) {
    const bool own = session.kind() == SessionKind::kExec;
    Streams& to = own ? session.streams() : streams_;
    const short hears = session.listens() && to.pending() < kMostInput ? POLLIN : 0;
    const short says = session.wants_to_say() ? POLLOUT : 0;
    watches.push_back(
        {session.client(), static_cast<short>(hears | says), [&session, &to](short events) {
           if ((events & (POLLIN | POLLHUP | POLLERR)) != 0) {
             session.hear(to, (events & (POLLHUP | POLLERR)) != 0);
           }
           if ((events & POLLOUT) != 0) session.flush();
         }});
    if (!own) continue;
    for (const int descriptor : {to.output(), to.error()}) {
      if (descriptor < 0 || !session.wants_more()) continue;
      watches.push_back({descriptor, POLLIN, [&session](short) {
                           session.relay();
                           session.flush();
                         }});
    }
    if (to.wants_room() >= 0) {
      watches.push_back({to.wants_room(), POLLOUT, [&to](short) { to.push(); }});
    }
  }
}

void Supervisor::poll_once(int most_ms) {
  std::vector<Watch> watches;
  watch(watches);
  std::vector<pollfd> polled;
  polled.reserve(watches.size());
  for (const Watch& one : watches) polled.push_back({one.descriptor, one.events, 0});
  for (const Opening& opening : openings_) {
    const std::int64_t rest =
        std::max<std::int64_t>(opening.deadline_ms() - node::monotonic_ms(), 0);
    if (most_ms < 0 || rest < most_ms) most_ms = static_cast<int>(rest);
  }
  const int ready = ::poll(polled.data(), polled.size(), most_ms);
  for (std::size_t i = 0; ready > 0 && i < polled.size(); ++i) {
    if (polled[i].revents != 0) watches[i].act(polled[i].revents);
  }
  settle_openings();
  if (ready <= 0) return;
  connections_.remove_if([](const Descriptor& one) { return !one; });
  sessions_.remove_if([](Session& session) {
    if (!session.gone() && !session.finished()) return false;
    if (session.pid() > 0) {
      // Not reaped yet, so the number is still its own.
      ::kill(-session.pid(), SIGHUP);
      ::kill(-session.pid(), SIGCONT);
    }
    return true;
  });
}

void Supervisor::reap() {
  signalfd_siginfo ignored;
  while (::read(signals_.get(), &ignored, sizeof ignored) > 0) {
  }
  for (;;) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid < 0) {
      nothing_left_ = true;
      return;
    }
    if (pid == 0) return;
    if (pid == began_.process.pid && !main_status_) main_status_ = status;
    for (Opening& opening : openings_) {
      if (opening.ended(pid, status)) break;
    }
    for (Session& session : sessions_) {
      if (session.pid() != pid) continue;
      session.ended(status);
      session.flush();
    }
  }
}

void Supervisor::relay_output(bool error) {
  std::string bytes;
  if (streams_.read(error, bytes) != Streams::Got::kBytes) return;
  output_.write(error ? Stream::kError : Stream::kOutput, bytes, wall_clock());
  for (Session& session : sessions_) {
    if (session.kind() != SessionKind::kAttach) continue;
    session.say(error ? Channel::kError : Channel::kOutput, bytes);
    session.flush();
  }
}

void Supervisor::accept_engine() {
  Descriptor connection = accept_trusted(listener_.get());
  if (!connection) return;
  // Who comes later learns what those before were told.
  (void)send_message(connection.get(), began_message());
  add_connection(std::move(connection));
}

void Supervisor::hear_engine(Descriptor& connection) {
  Message message;
  const Received received = receive_message(connection.get(), message);
  if (received == Received::kNothingYet) return;
  if (received == Received::kClosed) {
    connection.reset();
    return;
  }
  const auto order = Fields::parse(message.text);
  if (!order) return;
  const auto result = obey(*order, message.descriptor, connection.get());
  if (!result) return;
  (void)send_message(connection.get(), reply_message(order->number("id").value_or(0), *result));
}

std::optional<Result<void>> Supervisor::obey(const Fields& order, Descriptor& beside, int asker) {
  const std::string_view kind = order.find("kind").value_or("");
  if (kind == "stop") {
    const auto stop = parse_stop(order.find("record").value_or(""));
    if (!stop) return fail(stop.error());
    apply_stop(*stop);
  } else if (kind == "suspend") {
    suspend();
  } else if (kind == "resume") {
    resume();
  } else if (kind == "session") {
    return open_session(order, std::move(beside), asker);
  } else {
    return fail(ErrorCode::kInvalidArgument, "the supervisor does not know that order");
  }
  return Result<void>();
}

std::optional<Result<void>> Supervisor::open_session(const Fields& order, Descriptor client,
                                                     int asker) {
  if (!client || main_status_) return fail(ErrorCode::kConflict, "the task has ended");
  // It waited here for longer than the server waits, and was told so: the command must not run yet.
  if (hung_up(client)) return fail(has_left());
  if (order.find("attach")) {
    sessions_.emplace_back(std::move(client), SessionKind::kAttach);
    return Result<void>();
  }
  if (suspended_) {
    return fail(ErrorCode::kConflict, "the task is frozen", "resume it first");
  }
  const Result<void> begun =
      begin_exec(order, Session(std::move(client), SessionKind::kExec), asker);
  if (!begun) return begun;
  return std::nullopt;
}

Result<void> Supervisor::begin_exec(const Fields& order, Session session, int asker) {
  const std::vector<std::string> command = order.all("command");
  const WindowSize window{static_cast<std::uint16_t>(order.number("rows").value_or(24)),
                          static_cast<std::uint16_t>(order.number("columns").value_or(80))};
  ProcessPlan plan;
  plan.command = &command;
  plan.launch = &launch_;
  plan.notice_file = notice_path();
  plan.group = tree_.group();
  // The connection may be closed before the answer is there, and its number be another's then.
  Descriptor kept(::fcntl(asker, F_DUPFD_CLOEXEC, 3));
  if (!kept) return fail(ErrorCode::kUnavailable, "no descriptor is left", "try again");
  FAIRLEAD_TRY(session.streams().open(order.number("terminal") == 1, true, window, plan));
  FAIRLEAD_ASSIGN(TaskProcess process, TaskProcess::fork(plan));
  session.streams().close_far_side();
  openings_.emplace_back(std::move(session), std::move(process), std::move(kept),
                         order.number("id").value_or(0));
  return {};
}

void Supervisor::settle_openings() {
  for (auto it = openings_.begin(); it != openings_.end();) {
    it->refuse_if_late();
    if (!it->over()) {
      ++it;
      continue;
    }
    if (auto session = it->take()) sessions_.push_back(std::move(*session));
    it = openings_.erase(it);
  }
}

void Supervisor::apply_stop(const StopOrder& order) {
  const std::int64_t kill_at = node::monotonic_ms() + order.grace.ms;
  const bool first = !stop_;
  if (first) stop_ = order;
  if (!first && kill_at >= kill_at_ms_) return;
  kill_at_ms_ = kill_at;
  if (order.grace.ms <= 0) return;  // the loop kills at once
  write_notice(order);
  tree_.signal(order.signal);
  if (suspended_) resume();
}

void Supervisor::write_notice(const StopOrder& order) const {
  const std::string text = notice_json(order, wall_clock() + order.grace);
  const std::string temporary = notice_path() + ".new";
  const Descriptor file(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0400));
  if (!file) return;
  (void)!::write(file.get(), text.data(), text.size());
  if (launch_.run_as) (void)!::fchown(file.get(), launch_.run_as->user, launch_.run_as->group);
  (void)::rename(temporary.c_str(), notice_path().c_str());
}

void Supervisor::suspend() {
  if (stop_) return;
  tree_.suspend();
  suspended_ = true;
}

void Supervisor::resume() {
  if (!suspended_) return;
  tree_.resume();
  suspended_ = false;
}

void Supervisor::finish() {
  for (Opening& opening : openings_) {
    opening.refuse({ErrorCode::kConflict, "the task has ended", {}, {}, {}});
  }
  settle_openings();
  reap();
  const std::int64_t begin = node::monotonic_ms();
  for (bool said = false; !nothing_left_;) {
    tree_.kill();
    poll_once(kKillAgainMs);
    reap();
    if (!said && node::monotonic_ms() - begin > kSayUnkillableMs) {
      said = true;
      output_.write(Stream::kNote, "waiting for processes that do not die, held by the kernel\n",
                    wall_clock());
    }
  }
  for (const bool error : {false, true}) {
    for (std::string bytes; streams_.read(error, bytes) == Streams::Got::kBytes;) {
      output_.write(error ? Stream::kError : Stream::kOutput, bytes, wall_clock());
      for (Session& session : sessions_) {
        if (session.kind() == SessionKind::kAttach) {
          session.say(error ? Channel::kError : Channel::kOutput, bytes);
        }
      }
    }
  }
  output_.finish(wall_clock());

  TaskResult result;
  const SessionExit exit = exit_of(*main_status_);
  (exit.kind == SessionExit::Kind::kSignal ? result.signal : result.exit_code) = exit.number;
  result.at = wall_clock();
  if (stop_) result.cause = stop_->cause;
  if (tree_.group() != nullptr && launch_.limits.memory.value > 0) {
    const auto kills = tree_.group()->usage().oom_kills;
    if (kills) result.out_of_memory = *kills > 0;
  }
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  result.cpu_time = Duration{(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000 +
                             (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000};
  result.max_memory = Bytes(used.ru_maxrss * 1024);
  result.output_bytes = output_.written();
  result.output_lost = output_.lost();

  if (tree_.group() != nullptr) (void)tree_.group()->remove();  // nothing is held once it has ended
  const Outcome outcome = Ended{launch_.attempt, result};
  // A full disk must not cost the exit code: wait for room, and tell whoever listens meanwhile.
  // Where somebody has deleted its folder nobody will ever ask.
  while (!folder_.write("result", outcome_record(outcome)) && !folder_.gone()) poll_once(1000);
  give_back_group();  // until then a server that starts finds it
  report(outcome_message(outcome));
  for (Session& session : sessions_) session.say_exit(exit);
  const std::int64_t deadline = node::monotonic_ms() + kLastWordsMs;
  for (Session& session : sessions_) session.flush();
  sessions_.remove_if([](const Session& one) { return one.gone() || one.finished(); });
  while (!sessions_.empty() && node::monotonic_ms() < deadline) {
    poll_once(static_cast<int>(deadline - node::monotonic_ms()));
  }
}

void Supervisor::give_back_group() {
  ::unlink(notice_path().c_str());
  if (listener_) forget(place_.runtime, launch_.attempt);
  if (tree_.group() != nullptr) (void)tree_.group()->remove();
}

}  // namespace

std::string started_message(std::int64_t pid, Instant at) {
  return FieldWriter().add("kind", "started").add("pid", pid).add("at", at.ms).take();
}

std::string outcome_message(const Outcome& outcome) {
  return FieldWriter().add("kind", "outcome").add("record", outcome_record(outcome)).take();
}

void refuse(const std::string& state, const AttemptId& attempt, const Error& error, int engine) {
  auto folder = AttemptFolder::open(state, attempt);
  if (!folder) return;
  const auto lock = folder->try_lock();
  if (!lock || folder->has("result") || folder->has("started")) return;
  const Outcome outcome = StartFailed{attempt, error, true};
  if (folder->write("result", outcome_record(outcome))) {
    (void)send_message(engine, outcome_message(outcome));
  }
}

void supervise(const SupervisorPlace& place, const AttemptId& attempt, Descriptor engine) {
  (void)::setsid();
  (void)::prctl(PR_SET_NAME, "fairlead-task");
  auto folder = AttemptFolder::open(place.state, attempt);
  if (!folder) return;
  const auto lock = folder->try_lock();
  // Decided already, or begun by another: never twice.
  if (!lock || folder->has("result") || folder->has("started")) return;
  const auto text = folder->read("launch");
  Result<TaskLaunch> launch = text && *text
                                  ? parse_launch(**text)
                                  : fail(ErrorCode::kIo, "the record of what was asked is missing");
  if (!launch) return;  // no result: whoever finds the folder makes it final

  Supervisor supervisor(place, std::move(*folder), std::move(*launch));
  supervisor.add_connection(std::move(engine));
  if (const auto started = supervisor.start(); !started) {
    supervisor.give_back_group();
    auto again = AttemptFolder::open(place.state, attempt);
    const bool retry =
        started.error().code == ErrorCode::kFailed || started.error().code == ErrorCode::kIo;
    const Outcome outcome = StartFailed{attempt, started.error(), retry};
    if (again && again->write("result", outcome_record(outcome))) {
      supervisor.report(outcome_message(outcome));
    }
    return;
  }
  supervisor.loop();
  supervisor.finish();
}

}  // namespace fairlead::engine
