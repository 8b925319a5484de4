#include "cli/server/unknown_tasks.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <vector>

#include "engine/local/kept_attempts.h"
#include "engine/local/local_engine.h"

namespace fairlead::cli {
namespace {

constexpr Duration kGrace = seconds(30);
constexpr auto kMostEnding = std::chrono::seconds(60);  // the grace, and what the kernel takes
constexpr std::size_t kMostNamed = 8;

using Kept = std::vector<engine::KeptAttempt>;

std::string count_of(std::size_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

std::string names_of(const Kept& running) {
  std::string out;
  for (std::size_t i = 0; i < std::min(running.size(), kMostNamed); ++i) {
    const engine::KeptAttempt& one = running[i];
    out += out.empty() ? "" : ", ";
    out += one.project + "/" + one.workload + " (attempt " + one.id;
    if (one.pid > 0) out += ", process " + std::to_string(one.pid);
    out += ")";
  }
  if (running.size() > kMostNamed) {
    out += " and " + std::to_string(running.size() - kMostNamed) + " more";
  }
  return out;
}

// An empty store knows none of them. Of what has ended a store that lives may have forgotten some:
// a server that was killed between the two has left its folder.
Result<Kept> unknown(const UnknownTasksCheck& check, const store::Store* store) {
  FAIRLEAD_ASSIGN(Kept kept, engine::kept_attempts(check.engine_state));
  if (store == nullptr) return kept;
  FAIRLEAD_ASSIGN(const std::int64_t revision, store->revision());
  if (revision == 0) return kept;
  Kept out;
  for (engine::KeptAttempt& one : kept) {
    if (!one.may_run) continue;
    FAIRLEAD_ASSIGN(const auto record, store->get("attempt", one.id));
    if (!record) out.push_back(std::move(one));
  }
  return out;
}

Error refusal(const UnknownTasksCheck& check, bool lost, const Kept& tasks) {
  Kept running;
  std::copy_if(tasks.begin(), tasks.end(), std::back_inserter(running),
               [](const engine::KeptAttempt& one) { return one.may_run; });
  Error error;
  error.code = ErrorCode::kConflict;
  error.message = "the store " + check.store_path +
                  (lost ? " is missing or empty" : " is older than what runs here") + ", and " +
                  check.engine_state + "/attempts holds " + count_of(tasks.size(), "attempt") +
                  " that it does not know; ";
  error.message += running.empty() ? "none of them runs"
                                   : count_of(running.size(), "task") +
                                         " may still run on devices "
                                         "that would be granted twice: " +
                                         names_of(running);
  error.cure =
      "put the latest store.db back (with store.db-wal, if there is one). To begin without it, "
      "start with --end-unknown-tasks, which ends what runs with its grace and sets aside what is "
      "kept of it";
  return error;
}

// Counts those that it still waits for.
class Endings {
 public:
  void await(const engine::AttemptId& attempt) {
    const std::lock_guard lock(mutex_);
    awaited_.insert(attempt);
  }
  void ended(const engine::AttemptId& attempt) {
    const std::lock_guard lock(mutex_);
    awaited_.erase(attempt);
    changed_.notify_all();
  }
  // Those that have not ended in time.
  std::set<engine::AttemptId> wait() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kMostEnding, [&] { return awaited_.empty(); });
    return awaited_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<engine::AttemptId> awaited_;
};

Result<void> end_all(const UnknownTasksCheck& check, const Kept& tasks) {
  Endings endings;
  engine::LocalEngineOptions options;
  options.state = check.engine_state;
  FAIRLEAD_ASSIGN(const auto local,
                  engine::LocalEngine::open(options, [&](const engine::Report& report) {
                    if (const auto* ended = std::get_if<engine::Ended>(&report)) {
                      endings.ended(ended->attempt);
                    } else if (const auto* failed = std::get_if<engine::StartFailed>(&report)) {
                      endings.ended(failed->attempt);
                    }
                  }));
  std::vector<engine::AttemptId> open;
  for (const engine::KeptAttempt& one : tasks) {
    if (!one.over) open.push_back(one.id);
  }
  for (const engine::AttemptId& one : open) endings.await(one);
  FAIRLEAD_ASSIGN(const auto adopted, local->adopt(open));
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (!std::holds_alternative<engine::Running>(adopted[i])) {
      endings.ended(open[i]);
      continue;
    }
    check.warn("ending " + open[i] + ", which the store does not know");
    FAIRLEAD_TRY(local->stop(
        open[i], {"unknown", "the server's store does not know this task", SIGTERM, kGrace}));
  }
  const auto left = endings.wait();
  if (left.empty()) return {};
  return fail(ErrorCode::kFailed,
              "the task " + *left.begin() + " cannot be ended, and " +
                  std::to_string(left.size() - 1) + " more",
              "look what holds its processes: fairlead doctor, ps");
}

}  // namespace

Result<void> check_unknown_tasks(const UnknownTasksCheck& check, const store::Store* store) {
  FAIRLEAD_ASSIGN(const Kept tasks, unknown(check, store));
  if (tasks.empty()) return {};
  if (!check.end_them) {
    bool lost = store == nullptr;
    if (!lost) {
      FAIRLEAD_ASSIGN(const std::int64_t revision, store->revision());
      lost = revision == 0;
    }
    return fail(refusal(check, lost, tasks));
  }
  FAIRLEAD_TRY(end_all(check, tasks));
  std::vector<engine::AttemptId> ids;
  for (const engine::KeptAttempt& one : tasks) ids.push_back(one.id);
  FAIRLEAD_ASSIGN(const std::string place, engine::set_aside(check.engine_state, ids));
  check.warn("what is kept of " + count_of(ids.size(), "attempt") +
             " that the store does not know was moved to " + place);
  return {};
}

}  // namespace fairlead::cli
