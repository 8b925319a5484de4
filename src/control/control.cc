#include "control/control.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>

#include "control/secrets.h"

namespace fairlead::control {
namespace {

constexpr std::size_t kMostInABatch = 512;
constexpr Duration kRetry = seconds(1);

Error stopped() {
  return {ErrorCode::kUnavailable, "the server is stopping", {}, {}, "try again when it is back"};
}

}  // namespace

Control::Control(DeskOptions options, store::Store& store, const Clock& clock, IdSource& ids,
                 ChangeLog& log)
    : store_(store), clock_(clock), options_(std::move(options)), ids_(ids), log_(log) {}

Control::~Control() {
  stop();
}

engine::Sink Control::sink() {
  return [this](engine::Report report) {
    {
      const std::scoped_lock lock(mutex_);
      reports_.push_back(std::move(report));
    }
    changed_.notify_one();
  };
}

Result<void> Control::start(engine::Engine& engine) {
  desk_ = std::make_unique<Desk>(options_, store_, engine, clock_, ids_, log_);
  FAIRLEAD_TRY(desk_->recover(true));
  if (const auto written = desk_->finish(); !written) {
    // A full disk is no reason not to start: what runs is told, and writes are refused until there
    // is room. What the engine said is written then.
    if (written.error().code != ErrorCode::kUnavailable) return written;
    options_.warn("nothing can be written: " + written.error().text());
    trouble_ = written.error();
    FAIRLEAD_TRY(desk_->recover(false));
  }
  thread_ = std::thread([this] { run(); });
  return {};
}

void Control::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (!thread_.joinable()) return;
  thread_.join();
  if (const auto closed = desk_->close(); !closed) {
    options_.warn("usage history is not written: " + closed.error().text());
  }
}

void Control::write(Write write, Operation operation, Reply reply) {
  Request request{true, std::move(write), std::move(operation), std::move(reply)};
  {
    const std::scoped_lock lock(mutex_);
    if (!stopping_) {
      requests_.push_back(std::move(request));
      changed_.notify_one();
      return;
    }
  }
  request.reply(fail(stopped()));
}

void Control::read(Operation operation, Reply reply) {
  Request request{false, {}, std::move(operation), std::move(reply)};
  {
    const std::scoped_lock lock(mutex_);
    if (!stopping_) {
      requests_.push_back(std::move(request));
      changed_.notify_one();
      return;
    }
  }
  request.reply(fail(stopped()));
}

std::optional<Error> Control::trouble() const {
  const std::scoped_lock lock(mutex_);
  return trouble_;
}

// False: the server stops.
bool Control::wait_for_work(std::unique_lock<std::mutex>& lock) {
  // A day at most, so that nothing overflows.
  const auto ms_until = [&](Instant at) {
    const Instant now = clock_.now();
    return at <= now ? 0 : std::min<std::int64_t>((at - now).ms, 86'400'000);
  };
  while (!stopping_) {
    if (!requests_.empty()) return true;
    // What could not be written is not hurried.
    if (!reports_.empty() && !trouble_) return true;
    const Instant wake = trouble_ ? clock_.now() + kRetry : desk_->wake_at();
    const std::int64_t ms = ms_until(wake);
    if (ms == 0) return true;
    if (changed_.wait_for(lock, std::chrono::milliseconds(ms)) == std::cv_status::timeout) {
      return !stopping_;
    }
  }
  return false;
}

void Control::run() {
  std::unique_lock lock(mutex_);
  while (wait_for_work(lock)) {
    std::deque<Request> requests;
    while (!requests_.empty() && requests.size() < kMostInABatch) {
      requests.push_back(std::move(requests_.front()));
      requests_.pop_front();
    }
    std::deque<engine::Report> reports = std::exchange(reports_, {});
    lock.unlock();
    work(std::move(requests), std::move(reports));
    lock.lock();
  }
  auto left = std::exchange(requests_, {});
  lock.unlock();
  for (Request& request : left) request.reply(fail(stopped()));
}

void Control::work(std::deque<Request> requests, std::deque<engine::Report> reports) {
  desk_->begin();
  for (const engine::Report& report : reports) desk_->report(report);
  desk_->tick();
  std::vector<std::shared_ptr<Answered>> answered;
  std::set<std::pair<std::string, std::string>> keys;
  std::deque<Request> later;
  for (Request& request : requests) {
    if (!request.is_write) continue;
    // Asked for twice at once: the second gets the answer of the first, which is not kept yet.
    const Write& write = request.write;
    if (!write.key.empty() && !keys.insert({write.intent.caller.user, write.key}).second) {
      later.push_back(std::move(request));
      request.reply = nullptr;
      continue;
    }
    answered.push_back(carry_out(request));
  }
  const auto finished = desk_->finish();
  {
    const std::scoped_lock lock(mutex_);
    trouble_ = finished ? std::nullopt : std::optional(finished.error());
    for (engine::Report& refused : desk_->take_refused()) reports_.push_back(std::move(refused));
    requests_.insert(requests_.begin(), std::make_move_iterator(later.begin()),
                     std::make_move_iterator(later.end()));
    if (!finished) reports_.insert(reports_.begin(), reports.begin(), reports.end());
  }
  if (!finished) {
    options_.warn("nothing can be written: " + finished.error().text());
    for (const auto& one : answered) one->answer = fail(finished.error());
    if (const auto again = desk_->recover(false); !again) {
      options_.warn("the store cannot be read: " + again.error().text());
    }
  }
  for (const auto& one : answered) one->reply(std::move(one->answer));
  for (Request& request : requests) {
    if (request.is_write) continue;
    Result<Outcome> outcome = request.operation(*desk_);
    if (!outcome) {
      request.reply(fail(outcome.error()));
      continue;
    }
    auto [body, revision] = desk_->body_of(*outcome);
    request.reply(Answer{outcome->status, std::move(body), revision, outcome->location});
  }
}

std::optional<Result<Answer>> Control::kept_answer(const Write& write) {
  if (write.key.empty()) return std::nullopt;
  const auto kept = store_.answer(write.intent.caller.user, write.key);
  if (!kept) return fail(kept.error());
  if (!*kept) return std::nullopt;
  if ((*kept)->digest != write.digest) {
    return fail({ErrorCode::kConflict,
                 "Idempotency-Key " + write.key + " was used for another request",
                 {},
                 "Idempotency-Key",
                 "use a key once for each thing you ask for"});
  }
  return Answer{(*kept)->status, (*kept)->body, 0, {}};
}

// The answer is filled in when the batch is decided; it counts when the batch is written.
std::shared_ptr<Control::Answered> Control::carry_out(Request& request) {
  auto answered = std::make_shared<Answered>(Answered{std::move(request.reply), Answer{}});
  const Write& write = request.write;
  const Result<void> admitted = desk_->check_caller(write.intent.caller);
  if (admitted) {
    if (auto kept = kept_answer(write)) {
      answered->answer = std::move(*kept);
      return answered;
    }
  }
  Result<Outcome> outcome =
      admitted ? request.operation(*desk_) : Result<Outcome>(fail(admitted.error()));
  store::AuditEntry audit;
  audit.at = clock_.now();
  audit.user = write.intent.caller.user;
  audit.via = write.intent.caller.via;
  audit.method = write.method;
  audit.path = write.path;
  audit.request = write.intent.caller.request;
  if (!outcome) {
    answered->answer = fail(outcome.error());
    audit.code = error_code_name(outcome.error().code);
    audit.status = http_status(outcome.error().code);
    if (!write.intent.dry_run) desk_->add_audit(std::move(audit));
    return answered;
  }
  audit.status = outcome->status;
  if (!write.intent.dry_run) desk_->add_audit(std::move(audit));
  desk_->when_decided([this, answered, outcome = std::move(*outcome), key = write.key,
                       digest = write.digest, user = write.intent.caller.user,
                       dry = write.intent.dry_run] {
    auto [body, revision] = desk_->body_of(outcome);
    if (!key.empty() && !dry) {
      desk_->keep_answer({user, key, digest, outcome.status, body, clock_.now()});
    }
    answered->answer = Answer{outcome.status, std::move(body), revision, outcome.location};
  });
  return answered;
}

}  // namespace fairlead::control
