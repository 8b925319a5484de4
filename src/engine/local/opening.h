// An exec on its way: its process is being prepared, and who asked for it waits for an answer.
//
// The supervisor has its task to serve meanwhile, so nothing here waits; a process that gets no CPU
// time (its control group has hardly any, or is used up) must not hold up output and stop orders.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/descriptor.h"
#include "engine/local/session.h"
#include "engine/local/task_process.h"

namespace fairlead::engine {

class Opening {
 public:
  // `asker`: the connection that is told how it went, as the answer to `question`.
  Opening(Session session, TaskProcess process, Descriptor asker, std::int64_t question);

  int voice() const { return process_.voice(); }
  int client() const { return session_.client(); }
  std::int64_t deadline_ms() const { return deadline_ms_; }  // by node::monotonic_ms()

  // voice() can be read.
  void hear();
  // It is refused, and its process killed.
  void refuse(const Error& error);
  void refuse_if_late();
  // False if it is not the process of this one.
  bool ended(pid_t pid, int wait_status);

  bool over() const { return over_; }
  // The session, if over() and it runs; its end too, if it has ended already.
  std::optional<Session> take();

 private:
  void tell(const Result<void>& result);

  Session session_;
  TaskProcess process_;
  pid_t pid_;
  Descriptor asker_;
  std::int64_t question_;
  std::int64_t deadline_ms_;
  std::optional<int> wait_status_;
  bool over_ = false;
  bool runs_ = false;
};

// The answer to a question of the engine.
std::string reply_message(std::int64_t question, const Result<void>& result);

}  // namespace fairlead::engine
