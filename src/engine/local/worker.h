// Inside of LocalEngine: its thread, and what it knows of each attempt.
//
// Invariant: `table_` is written by the worker thread and by note(), under the mutex; descriptors
// in it are used by the worker alone. Not for use outside local_engine.cc.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "engine/local/launcher.h"
#include "engine/local/local_engine.h"
#include "engine/local/runtime_folder.h"
#include "engine/local/settle.h"
#include "engine/local/wire.h"

namespace fairlead::engine {

class LocalEngine::Worker {
 public:
  enum class State : std::uint8_t { kKnown, kOver };
  using Answer = std::shared_ptr<std::promise<Result<void>>>;

  Worker(LauncherOptions launcher, Sink sink, Descriptor state_lock, RuntimeFolder runtime);
  ~Worker();
  Result<void> open();

  // From any thread.
  const std::string& state() const { return options_.state; }
  pid_t launcher_pid() const { return launcher_pid_; }
  // False if it is known already.
  bool note(const AttemptId& attempt);
  std::optional<State> state_of(const AttemptId& attempt) const;
  void post(std::function<void()> work);
  Result<void> ask(const AttemptId& attempt, std::string kind, std::string more, Descriptor beside);
  // `kind`: "suspend" or "resume"; the last one counts.
  Result<void> order_pace(const AttemptId& attempt, std::string kind);

  // On the worker's thread.
  void begin(const TaskLaunch& launch);
  void stop(const AttemptId& attempt, const StopOrder& order);
  void set_pace(const AttemptId& attempt, const std::string& kind);
  Result<std::vector<Adopted>> adopt(const std::vector<AttemptId>& attempts);
  void remove(const AttemptId& attempt);
  void send_question(const AttemptId& attempt, const std::string& kind, const std::string& more,
                     int beside, const Answer& answer);
  // Nobody waits for the answer any more.
  void drop_question(const AttemptId& attempt, const Answer& answer);

 private:
  struct Entry {
    State state = State::kKnown;
    Descriptor connection;
    bool said_started = false;
    // Orders that its supervisor has not read yet.
    std::string unsent_pace;
    std::string unsent_stop;
    std::map<std::int64_t, Answer> questions;
  };
  using Item = std::pair<const AttemptId, Entry>;

  void run();
  void run_posted();
  void hear(Item& item);
  void handle(Item& item, const Fields& message);
  void listen_to(Item& item, Descriptor connection);
  void hang_up(Item& item);
  void send_orders(Item& item);
  void look_again(const AttemptId& attempt);
  void launcher_died();
  Result<void> need_launcher();
  void hand_over(Item& item);
  void conclude(Item& item, const Outcome& outcome);
  Result<Adopted> look(Item& item);
  SettlePlace place() const {
    return {options_.state, options_.group.empty() ? nullptr : &groups_};
  }
  Item* find(const AttemptId& attempt);
  void delete_removed();
  void set_state(Item& item, State state);
  int wait_ms() const;

  const LauncherOptions options_;
  const Sink sink_;
  const Descriptor state_lock_;
  const RuntimeFolder runtime_;
  node::CgroupTree groups_;
  Descriptor epoll_;
  Descriptor wake_;
  std::optional<Launcher> launcher_;
  std::atomic<pid_t> launcher_pid_{0};
  std::int64_t launcher_born_ms_ = 0;
  std::int64_t next_question_ = 1;
  std::multimap<std::int64_t, AttemptId> later_;  // to look at again, by monotonic_ms()

  mutable std::mutex mutex_;
  std::map<AttemptId, Entry> table_;          // guarded by mutex_, see above
  std::deque<std::function<void()>> posted_;  // guarded by mutex_
  bool closing_ = false;                      // guarded by mutex_
  bool closed_ = false;                       // guarded by mutex_; nothing is posted any more
  std::deque<AttemptId> removed_;             // guarded by mutex_; to be deleted
  std::condition_variable something_removed_;
  std::thread thread_;
  std::thread remover_;
};

}  // namespace fairlead::engine
