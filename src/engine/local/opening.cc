#include "engine/local/opening.h"

#include <utility>

#include "engine/local/fields.h"
#include "engine/local/wire.h"
#include "node/processes.h"

namespace fairlead::engine {
namespace {

constexpr std::int64_t kMostOpeningMs = 8000;  // below what the engine waits for the answer

}  // namespace

Opening::Opening(Session session, TaskProcess process, Descriptor asker, std::int64_t question)
    : session_(std::move(session)),
      process_(std::move(process)),
      pid_(process_.pid()),
      asker_(std::move(asker)),
      question_(question),
      deadline_ms_(node::monotonic_ms() + kMostOpeningMs) {}

void Opening::hear() {
  if (over_) return;
  const Result<bool> runs = process_.proceed();
  if (runs && !*runs) return;
  over_ = true;
  runs_ = runs.has_value();
  tell(runs ? Result<void>() : fail(runs.error()));
}

void Opening::refuse(const Error& error) {
  if (std::exchange(over_, true)) return;
  process_.kill();
  tell(fail(error));
}

void Opening::refuse_if_late() {
  if (node::monotonic_ms() < deadline_ms_) return;
  refuse({ErrorCode::kUnavailable,
          "the program did not begin within " + std::to_string(kMostOpeningMs / 1000) + " s",
          {},
          {},
          "the task's CPU limit leaves it no time, or its working folder does not answer; try "
          "again, or give the task more CPU"});
}

bool Opening::ended(pid_t pid, int wait_status) {
  if (pid != pid_ || wait_status_) return false;
  process_.reaped();
  wait_status_ = wait_status;
  return true;
}

std::optional<Session> Opening::take() {
  if (!runs_) return std::nullopt;
  session_.began(pid_);
  if (wait_status_) {
    session_.ended(*wait_status_);
    session_.flush();
  }
  return std::move(session_);
}

void Opening::tell(const Result<void>& result) {
  (void)send_message(asker_.get(), reply_message(question_, result));
}

std::string reply_message(std::int64_t question, const Result<void>& result) {
  FieldWriter reply;
  reply.add("kind", "reply").add("id", question).add("ok", result.has_value());
  if (!result) {
    reply.add("code", static_cast<std::int64_t>(result.error().code))
        .add("message", result.error().message)
        .add("field", result.error().field)
        .add("cure", result.error().cure);
  }
  return reply.take();
}

}  // namespace fairlead::engine
