#include "engine/local/worker.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "engine/local/supervisor.h"

namespace fairlead::engine {
namespace {

constexpr int kLookAgainMs = 10;
constexpr int kMostLookMs = 30'000;
constexpr int kOrderAgainMs = 100;
constexpr std::size_t kMostQuestions = 8;  // of one attempt at once: what more would only wait
constexpr int kShortestLifeMs = 1000;  // a launcher that dies sooner is made again only when needed

Error never_began(const AttemptId& attempt) {
  return Error{ErrorCode::kFailed,
               "the launcher of \"" + attempt + "\" died before its program began",
               {},
               {},
               "start it again as another attempt"};
}

// The orders of an attempt are one, for a supervisor may hear of the last alone: the first says
// why, and the shortest grace counts.
StopOrder joined(const AttemptFolder& folder, StopOrder order) {
  const auto text = folder.read("stop");
  if (!text || !*text) return order;
  const auto before = parse_stop(**text);
  if (!before) return order;
  order.cause = before->cause;
  order.text = before->text;
  order.grace = std::min(order.grace, before->grace);
  return order;
}

}  // namespace

LocalEngine::Worker::Worker(LauncherOptions launcher, Sink sink, Descriptor state_lock,
                            RuntimeFolder runtime)
    : options_(std::move(launcher)),
      sink_(std::move(sink)),
      state_lock_(std::move(state_lock)),
      runtime_(std::move(runtime)) {
  if (!options_.group.empty()) {
    node::CgroupOptions groups;
    groups.name = options_.group;
    groups_ = node::CgroupTree::detect(groups);
  }
}

LocalEngine::Worker::~Worker() {
  if (thread_.joinable()) {
    {
      const std::lock_guard guard(mutex_);
      closing_ = true;
    }
    (void)::eventfd_write(wake_.get(), 1);
    thread_.join();
    {
      const std::lock_guard guard(mutex_);
      closed_ = true;
    }
    something_removed_.notify_one();
    remover_.join();
  }
  groups_.remove_empty_parents();
  const bool all_over = std::all_of(table_.begin(), table_.end(), [](const auto& one) {
    return one.second.state == State::kOver;
  });
  // A supervisor that is about to begin has not made its socket yet.
  if (all_over) runtime_.remove_if_empty();
}

Result<void> LocalEngine::Worker::open() {
  epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  wake_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = nullptr;
  if (!epoll_ || !wake_ || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event) != 0) {
    return fail(ErrorCode::kIo, "the engine cannot wait for events: too many open files?");
  }
  FAIRLEAD_TRY(need_launcher());
  // Signals are for the threads of whoever uses the engine.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  remover_ = std::thread([this] { delete_removed(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return {};
}

bool LocalEngine::Worker::note(const AttemptId& attempt) {
  const std::lock_guard guard(mutex_);
  return table_.try_emplace(attempt).second;
}

std::optional<LocalEngine::Worker::State> LocalEngine::Worker::state_of(
    const AttemptId& attempt) const {
  const std::lock_guard guard(mutex_);
  const auto found = table_.find(attempt);
  return found == table_.end() ? std::nullopt : std::optional(found->second.state);
}

void LocalEngine::Worker::post(std::function<void()> work) {
  {
    const std::lock_guard guard(mutex_);
    posted_.push_back(std::move(work));
  }
  (void)::eventfd_write(wake_.get(), 1);
}

LocalEngine::Worker::Item* LocalEngine::Worker::find(const AttemptId& attempt) {
  const std::lock_guard guard(mutex_);
  const auto found = table_.find(attempt);
  return found == table_.end() ? nullptr : &*found;
}

void LocalEngine::Worker::set_state(Item& item, State state) {
  const std::lock_guard guard(mutex_);
  item.second.state = state;
}

int LocalEngine::Worker::wait_ms() const {
  if (later_.empty()) return -1;
  const std::int64_t rest = later_.begin()->first - node::monotonic_ms();
  return rest <= 0 ? 0 : static_cast<int>(rest);
}

void LocalEngine::Worker::run() {
  epoll_event events[64];
  for (;;) {
    const int count = ::epoll_wait(epoll_.get(), &events[0], 64, wait_ms());
    // What is posted may remove entries, so those that spoke come first.
    bool woken = false;
    for (int i = 0; i < count; ++i) {
      if (events[i].data.ptr == nullptr) {
        woken = true;
      } else if (events[i].data.ptr == this) {
        launcher_died();
      } else {
        hear(*static_cast<Item*>(events[i].data.ptr));
      }
    }
    if (woken) run_posted();
    while (!later_.empty() && later_.begin()->first <= node::monotonic_ms()) {
      const AttemptId attempt = later_.begin()->second;
      later_.erase(later_.begin());
      look_again(attempt);
    }
    const std::lock_guard guard(mutex_);
    if (closing_ && posted_.empty()) return;
  }
}

void LocalEngine::Worker::run_posted() {
  eventfd_t ignored = 0;
  (void)::eventfd_read(wake_.get(), &ignored);
  std::deque<std::function<void()>> work;
  {
    const std::lock_guard guard(mutex_);
    work.swap(posted_);
  }
  for (const std::function<void()>& one : work) one();
}

Result<void> LocalEngine::Worker::need_launcher() {
  if (launcher_) return {};
  FAIRLEAD_ASSIGN(Launcher made, Launcher::spawn(options_));
  launcher_.emplace(std::move(made));
  launcher_pid_ = launcher_->pid();
  launcher_born_ms_ = node::monotonic_ms();
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = this;
  (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, launcher_->get(), &event);
  return {};
}

void LocalEngine::Worker::launcher_died() {
  const bool young = node::monotonic_ms() - launcher_born_ms_ < kShortestLifeMs;
  launcher_.reset();
  std::string text = "the launcher of tasks died; running tasks go on";
  if (!young) {
    const auto made = need_launcher();
    text += made ? ", and another is there now" : "; no other can be made: " + made.error().text();
  }
  sink_(EngineWarning{text});
}

void LocalEngine::Worker::begin(const TaskLaunch& launch) {
  Item* item = find(launch.attempt);
  if (item == nullptr) return;
  auto folder = AttemptFolder::create(options_.state, launch.attempt);
  if (!folder && folder.error().code == ErrorCode::kAlreadyExists) {
    // Asked before this server began, and asked again.
    look_again(launch.attempt);
    return;
  }
  Result<void> written = folder ? folder->mark_soon("launch", launch_record(launch))
                                : Result<void>(fail(folder.error()));
  if (written) written = need_launcher();
  if (!written) {
    if (folder) refuse(options_.state, launch.attempt, written.error(), -1);
    conclude(*item, StartFailed{launch.attempt, written.error(), true});
    return;
  }
  hand_over(*item);
}

void LocalEngine::Worker::hand_over(Item& item) {
  auto ends = packet_pair();
  if (!ends) {
    refuse(options_.state, item.first, ends.error(), -1);
    conclude(item, StartFailed{item.first, ends.error(), true});
    return;
  }
  // A launcher that died just now is followed by one more try; no supervisor heard of this one.
  if (!launcher_->start(item.first, ends->second)) {
    launcher_died();
    if (!need_launcher() || !launcher_->start(item.first, ends->second)) {
      ends->second.reset();
    }
  }
  listen_to(item, std::move(ends->first));
}

void LocalEngine::Worker::listen_to(Item& item, Descriptor connection) {
  hang_up(item);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = &item;
  (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, connection.get(), &event);
  item.second.connection = std::move(connection);
  send_orders(item);
}

void LocalEngine::Worker::hang_up(Item& item) {
  item.second.connection.reset();
  for (auto& [id, answer] : std::exchange(item.second.questions, {})) {
    answer->set_value(fail(ErrorCode::kConflict, "the task has ended"));
  }
}

void LocalEngine::Worker::hear(Item& item) {
  if (!item.second.connection) return;
  Message message;
  switch (receive_message(item.second.connection.get(), message)) {
    case Received::kNothingYet:
      return;
    case Received::kClosed:
      hang_up(item);
      look_again(item.first);
      return;
    case Received::kMessage:
      break;
  }
  if (const auto fields = Fields::parse(message.text)) handle(item, *fields);
}

void LocalEngine::Worker::handle(Item& item, const Fields& message) {
  const std::string_view kind = message.find("kind").value_or("");
  if (kind == "started") {
    if (std::exchange(item.second.said_started, true)) return;
    sink_(Started{item.first, message.number("pid").value_or(0),
                  Instant{message.number("at").value_or(0)}});
  } else if (kind == "outcome") {
    const auto outcome = parse_outcome(item.first, message.find("record").value_or(""));
    if (outcome) conclude(item, *outcome);
  } else if (kind == "reply") {
    const auto found = item.second.questions.find(message.number("id").value_or(0));
    if (found == item.second.questions.end()) return;
    const Answer answer = found->second;
    item.second.questions.erase(found);
    if (message.number("ok") == 1) {
      answer->set_value({});
    } else {
      answer->set_value(fail(Error{static_cast<ErrorCode>(message.number("code").value_or(0)),
                                   message.text("message"),
                                   {},
                                   message.text("field"),
                                   message.text("cure")}));
    }
  }
}

void LocalEngine::Worker::conclude(Item& item, const Outcome& outcome) {
  if (item.second.state == State::kOver) return;
  hang_up(item);
  if (const auto* ended = std::get_if<Ended>(&outcome); ended != nullptr && ended->result.lost) {
    forget_lost(options_.runtime, item.first);
  }
  set_state(item, State::kOver);
  if (const auto* ended = std::get_if<Ended>(&outcome)) {
    sink_(*ended);
  } else if (const auto* failed = std::get_if<StartFailed>(&outcome)) {
    sink_(*failed);
  } else {
    sink_(StartFailed{item.first, never_began(item.first), true});
  }
}

// Without a connection: it has ended, its supervisor is gone, or can be reached anew.
void LocalEngine::Worker::look_again(const AttemptId& attempt) {
  Item* item = find(attempt);
  if (item == nullptr || item->second.state == State::kOver) return;
  if (item->second.connection) return send_orders(*item);
  const auto settled = settle(place(), attempt);
  if (settled && *settled) {
    conclude(*item, **settled);
    return;
  }
  if (auto connection = connect_to(options_.runtime, attempt)) {
    listen_to(*item, std::move(*connection));
    return;
  }
  if (!settled) sink_(EngineWarning{settled.error().text()});
  later_.emplace(node::monotonic_ms() + (settled ? kLookAgainMs : kShortestLifeMs), attempt);
}

void LocalEngine::Worker::stop(const AttemptId& attempt, const StopOrder& order) {
  Item* item = find(attempt);
  if (item == nullptr || item->second.state == State::kOver) return;
  const auto folder = AttemptFolder::open(options_.state, attempt);
  const std::string record = stop_record(folder ? joined(*folder, order) : order);
  // The file is for a supervisor that begins later, or hears nothing because this server dies.
  if (folder) {
    if (const auto written = folder->write("stop", record); !written) {
      sink_(EngineWarning{"a stop order is not durable: " + written.error().text()});
    }
  }
  item->second.unsent_stop = FieldWriter().add("kind", "stop").add("record", record).take();
  send_orders(*item);
}

void LocalEngine::Worker::set_pace(const AttemptId& attempt, const std::string& kind) {
  Item* item = find(attempt);
  if (item == nullptr || item->second.state == State::kOver) return;
  item->second.unsent_pace = FieldWriter().add("kind", kind).take();
  send_orders(*item);
}

// A supervisor that does not read (the machine is overloaded, somebody stopped it) is told later:
// the worker's thread serves all the others too, and must not wait for one.
void LocalEngine::Worker::send_orders(Item& item) {
  Entry& entry = item.second;
  for (std::string* order : {&entry.unsent_pace, &entry.unsent_stop}) {
    if (!entry.connection || order->empty()) continue;
    if (try_send_message(entry.connection.get(), *order) == Sent::kFull) {
      later_.emplace(node::monotonic_ms() + kOrderAgainMs, item.first);
      return;
    }
    order->clear();
  }
}

void LocalEngine::Worker::send_question(const AttemptId& attempt, const std::string& kind,
                                        const std::string& more, int beside, const Answer& answer) {
  Item* item = find(attempt);
  const bool there = item != nullptr && item->second.connection;
  if (!there) {
    answer->set_value(fail(ErrorCode::kConflict, "the task does not run", "try again"));
    return;
  }
  if (item->second.questions.size() >= kMostQuestions) {
    answer->set_value(fail(ErrorCode::kUnavailable,
                           std::to_string(kMostQuestions) + " sessions of attempt \"" + attempt +
                               "\" are being opened already",
                           "try again when they are open or refused"));
    return;
  }
  const std::int64_t id = next_question_++;
  switch (try_send_message(item->second.connection.get(),
                           FieldWriter().add("kind", kind).add("id", id).take() + more, beside)) {
    case Sent::kSent:
      item->second.questions.emplace(id, answer);
      return;
    case Sent::kFull:
      answer->set_value(fail(ErrorCode::kUnavailable,
                             "the supervisor of \"" + attempt + "\" does not take orders",
                             "look whether it is stopped: ps -C fairlead-task -o pid,stat"));
      return;
    case Sent::kGone:
      answer->set_value(fail(ErrorCode::kConflict, "the task does not run", "try again"));
      return;
  }
}

void LocalEngine::Worker::drop_question(const AttemptId& attempt, const Answer& answer) {
  Item* item = find(attempt);
  if (item == nullptr) return;
  std::erase_if(item->second.questions, [&](const auto& one) { return one.second == answer; });
}

Result<Adopted> LocalEngine::Worker::look(Item& item) {
  const AttemptId& attempt = item.first;
  const std::int64_t deadline = node::monotonic_ms() + kMostLookMs;
  while (node::monotonic_ms() < deadline) {
    FAIRLEAD_ASSIGN(const auto settled, settle(place(), attempt));
    if (settled) {
      set_state(item, State::kOver);
      return std::visit([](const auto& one) -> Adopted { return one; }, *settled);
    }
    FAIRLEAD_ASSIGN(const AttemptFolder folder, AttemptFolder::open(options_.state, attempt));
    if (auto connection = connect_to(options_.runtime, attempt)) {
      listen_to(item, std::move(*connection));
      Running running{attempt, 0, {}};
      const auto text = folder.read("started");
      if (text && *text) {
        if (const auto began = parse_started(**text)) {
          running.pid = began->process.pid;
          running.at = began->at;
          item.second.said_started = true;
        }
      }
      return running;
    }
    (void)::poll(nullptr, 0, kLookAgainMs);  // its supervisor is about to begin or to end
  }
  return fail(ErrorCode::kFailed, "the supervisor of \"" + attempt + "\" does not answer",
              "look at the process that holds " + AttemptFolder::path_of(options_.state, attempt) +
                  "/lock");
}

Result<std::vector<Adopted>> LocalEngine::Worker::adopt(const std::vector<AttemptId>& attempts) {
  std::vector<Adopted> adopted;
  for (const AttemptId& attempt : attempts) {
    Item* item = find(attempt);
    FAIRLEAD_ASSIGN(Adopted one, look(*item));
    adopted.push_back(std::move(one));
  }
  return adopted;
}

void LocalEngine::Worker::remove(const AttemptId& attempt) {
  const std::lock_guard guard(mutex_);
  table_.erase(attempt);
  removed_.push_back(attempt);
  something_removed_.notify_one();
}

// Deleting waits for the file system's journal, which starts must not.
void LocalEngine::Worker::delete_removed() {
  std::unique_lock lock(mutex_);
  for (;;) {
    something_removed_.wait(lock, [this] { return closed_ || !removed_.empty(); });
    if (removed_.empty()) return;
    const AttemptId attempt = removed_.front();
    removed_.pop_front();
    lock.unlock();
    const auto removed = AttemptFolder::remove(options_.state, attempt);
    if (!removed) post([this, removed] { sink_(EngineWarning{removed.error().text()}); });
    lock.lock();
  }
}

}  // namespace fairlead::engine
