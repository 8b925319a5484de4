#include "cli/client/follow.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <ostream>
#include <set>
#include <thread>

#include "cli/client/answer.h"
#include "cli/client/interrupt.h"
#include "cli/client/outside.h"
#include "cli/client/voice.h"

namespace fairlead::cli {
namespace {

constexpr auto kPause = std::chrono::milliseconds(300);  // between two looks at the state
constexpr int kTriesWhileAway = 60;                      // seconds that a server may be away

bool is_over(const std::string& phase) {
  return phase == "succeeded" || phase == "failed" || phase == "timed-out" || phase == "deleted" ||
         phase == "deleting" || phase == "suspended";
}

class Follower {
 public:
  Follower(ApiClient& api, std::string id, const FollowOptions& options, CliContext& context)
      : api_(api), id_(std::move(id)), options_(options), context_(context) {}

  ~Follower() { join(); }
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  int run() {
    Interrupt interrupt([this] { stop(); });
    for (int away = 0; !stopped_;) {
      auto workload = read_workload(api_, id_);
      if (stopped_) break;
      if (!workload) {
        if (workload.error().code != ErrorCode::kUnavailable || ++away > kTriesWhileAway) {
          return report(context_, workload.error());
        }
        if (away == 1) say("the server is away; its tasks run on, waiting for it");
        pause(std::chrono::seconds(1));
        continue;
      }
      away = 0;
      const Value& state = *workload->value;
      say_state(state);
      if (!follow_tasks()) return context_.exit_status;
      if (is_over(text_at(state, "status.phase"))) {
        join();
        return stopped_ ? interrupted() : end_status(state);
      }
      wait_for_change(number_at(state, "revision").value_or(0));
    }
    join();
    return interrupted();
  }

 private:
  struct Stream {
    ApiClient api;
    std::thread thread;
  };

  int interrupted() {
    if (!options_.if_interrupted.empty()) say(options_.if_interrupted);
    return kExitInterrupted;
  }

  // On a thread of Interrupt: ends what is under way.
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    wake_.notify_all();
    api_.cancel();
    for (Stream& stream : streams_) stream.api.cancel();
  }

  void join() {
    for (Stream& stream : streams_) {
      if (stream.thread.joinable()) stream.thread.join();
    }
  }

  void pause(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, time, [this] { return stopped_.load(); });
  }

  void say(const std::string& text) {
    const std::lock_guard lock(output_);
    context_.err << text << "\n" << std::flush;
  }

  // One line whenever it is another one.
  void say_state(const Value& workload) {
    if (!options_.say_state) return;
    std::string line = "[" + text_at(workload, "status.phase") + "]";
    if (text_at(workload, "status.phase") == "pending") {
      const auto why = api_.get(api_path({"workloads", id_, "explanation"}));
      const std::string text = why ? waiting_text(why->root(), wall_clock()) : "";
      line += text.empty() ? "" : " " + text;
    } else {
      line += " " + state_text(workload, wall_clock());
    }
    // Times pass; only a new place or phase is news.
    const std::string news = line.substr(0, line.find(','));
    if (news == last_news_) return;
    last_news_ = news;
    say(line);
  }

  // Begins with those that are new. False if they cannot be read.
  bool follow_tasks() {
    const auto tasks = api_.list(api_path({"workloads", id_, "tasks"}));
    if (!tasks) {
      if (stopped_ || tasks.error().code == ErrorCode::kUnavailable) return true;
      context_.exit_status = report(context_, tasks.error());
      return false;
    }
    if (tasks->items.empty()) return true;
    const auto chosen = choose_tasks(*tasks, options_.choice, id_);
    if (!chosen) return true;  // it may come yet
    prefixed_ = prefixed_ || chosen->size() > 1;
    for (const Value* task : *chosen) {
      if (text_at(*task, "phase") == "starting") continue;
      const std::string attempt = text_at(*task, "attempt", "1");
      if (!begun_.insert(text_at(*task, "id") + " " + attempt).second) continue;
      follow(text_at(*task, "id"), attempt, task_name(*task));
    }
    return true;
  }

  void follow(const std::string& task, const std::string& attempt, const std::string& name) {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    Stream& stream = streams_.emplace_back(Stream{ApiClient(api_.connection()), {}});
    Query query = options_.log;
    query.emplace_back("follow", "true");
    query.emplace_back("attempt", attempt);
    stream.thread = std::thread([this, &stream, query, task, name] {
      const std::string prefix = prefixed_ ? "[" + name + "] " : "";
      const auto done =
          stream.api.stream(api_path({"tasks", task, "log"}), query, [&](std::string_view line) {
            const std::lock_guard lock_output(output_);
            context_.out << prefix << line << "\n" << std::flush;
            return !stopped_;
          });
      if (!done && !stopped_) say("warning: the log of " + name + " ends: " + done.error().text());
    });
  }

  // Until something of the workload is other than at `revision`, or for a while.
  void wait_for_change(std::int64_t revision) {
    pause(kPause);
    if (stopped_) return;
    const Query query{
        {"workload", id_}, {"kinds", "workload,task"}, {"since", std::to_string(revision)}};
    const auto watched =
        api_.events(api_path({"watch"}), query,
                    [](std::string_view name, std::string_view) { return name == "bookmark"; });
    if (!watched) pause(std::chrono::seconds(1));
  }

  int end_status(const Value& workload) {
    const std::string phase = text_at(workload, "status.phase");
    const std::int64_t code = number_at(workload, "status.exitCode").value_or(0);
    if (options_.say_state && phase != "succeeded") {
      const std::string reason = text_at(workload, "status.reason");
      if (!reason.empty()) say(reason);
    }
    if (!options_.keep_code || phase == "succeeded") return 0;
    if (phase == "timed-out") return exit_code(ErrorCode::kTimeout);
    return code > 0 && code < 256 ? static_cast<int>(code) : 1;
  }

  ApiClient& api_;
  const std::string id_;
  const FollowOptions& options_;
  CliContext& context_;

  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;   // streams_, and for wake_
  std::mutex output_;  // whole lines
  std::condition_variable wake_;
  std::list<Stream> streams_;
  std::set<std::string> begun_;
  std::string last_news_;
  std::atomic<bool> prefixed_ = false;
};

}  // namespace

int follow_workload(ApiClient& api, const std::string& id, const FollowOptions& options,
                    CliContext& context) {
  return Follower(api, id, options, context).run();
}

int print_logs(ApiClient& api, const std::vector<const Value*>& tasks, const Query& log,
               CliContext& context) {
  for (const Value* task : tasks) {
    const std::string prefix = tasks.size() > 1 ? "[" + task_name(*task) + "] " : "";
    const auto done = api.stream(api_path({"tasks", text_at(*task, "id"), "log"}), log,
                                 [&](std::string_view line) {
                                   context.out << prefix << line << "\n";
                                   return static_cast<bool>(context.out);
                                 });
    if (!done) return report(context, done.error());
  }
  return 0;
}

}  // namespace fairlead::cli
