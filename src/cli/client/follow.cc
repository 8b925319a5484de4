#include "cli/client/follow.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <ostream>
#include <set>
#include <thread>
#include <utility>

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

// How far a log was read, by the offsets that the server puts before its lines.
class LogPlace {
 public:
  // A bound on bytes counts the offsets too, so that such a log is read without them, once.
  explicit LogPlace(const Query& asked)
      : offsets_(std::none_of(asked.begin(), asked.end(),
                              [](const auto& pair) { return pair.first == "limitBytes"; })) {}

  bool can_go_on() const { return offsets_; }

  // Where to begin: as the person asked, or at the line that was read last.
  Query begin(const Query& asked) {
    Query query;
    if (offsets_) query.emplace_back("offsets", "true");
    if (at_.empty()) {
      query.insert(query.end(), asked.begin(), asked.end());
      return query;
    }
    query.emplace_back("offset", at_);
    for (const auto& [name, value] : asked) {
      if (name == "timestamps") query.emplace_back(name, value);
    }
    known_ = true;
    return query;
  }

  // The line without its offset; nullopt for the one that was read before.
  std::optional<std::string_view> take(std::string_view line) {
    if (!offsets_) return line;
    const std::size_t blank = std::min(line.find(' '), line.size());
    const std::string_view offset = line.substr(0, blank);
    const std::string_view text = line.substr(std::min(blank + 1, line.size()));
    if (offset == "-") return text;  // a remark of the server
    const bool again = std::exchange(known_, false) && offset == at_;
    at_ = offset;
    return again ? std::nullopt : std::optional(text);
  }

 private:
  bool offsets_;
  std::string at_;      // of the last line; empty: none was read
  bool known_ = false;  // the next line may be that one
};

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
          stop();
          return report(context_, workload.error());
        }
        say_away();
        pause(std::chrono::seconds(1));
        continue;
      }
      say_back();
      away = 0;
      const Value& state = *workload->value;
      say_state(state);
      if (!follow_tasks()) {
        stop();
        return context_.exit_status;
      }
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

  void say_away() {
    if (!away_said_.exchange(true)) say("the server is away; its tasks run on, waiting for it");
  }
  void say_back() {
    if (away_said_.exchange(false)) say("the server is back; going on where it was");
  }

  // One line whenever it is another one.
  void say_state(const Value& workload) {
    if (!options_.say_state) return;
    const std::string phase = text_at(workload, "status.phase");
    std::string line = "[" + phase + "]";
    std::string news = line;
    if (phase == "pending") {
      const auto why = api_.get(api_path({"workloads", id_, "explanation"}));
      const std::string text = why ? waiting_text(why->root(), wall_clock()) : "";
      line += text.empty() ? "" : " " + text;
      news += text.substr(0, text.find(','));  // the place; times pass by themselves
    } else if (is_over(phase)) {
      const auto code = number_at(workload, "status.exitCode");
      if (code) line += " exit code " + std::to_string(*code);
    } else {
      const std::string nodes = joined_at(workload, "status.nodes");
      if (!nodes.empty()) line += " on " + nodes;
    }
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
    const Query query{{"follow", "true"}, {"attempt", attempt}};
    stream.thread = std::thread([this, &stream, query, task, name] {
      LogPlace place(options_.log);
      for (int away = 0; !stopped_;) {
        Query whole = query;
        const Query begin = place.begin(options_.log);
        whole.insert(whole.end(), begin.begin(), begin.end());
        const std::string prefix = prefixed_ ? "[" + name + "] " : "";
        const auto done =
            stream.api.stream(api_path({"tasks", task, "log"}), whole, [&](std::string_view line) {
              away = 0;
              say_back();
              const auto text = place.take(line);
              if (!text) return !stopped_;
              const std::lock_guard lock_output(output_);
              context_.out << prefix << *text << "\n" << std::flush;
              return !stopped_;
            });
        if (done || stopped_) return;
        if (done.error().code != ErrorCode::kUnavailable || !place.can_go_on() ||
            ++away > kTriesWhileAway) {
          return say("warning: the log of " + name + " ends: " + done.error().text());
        }
        say_away();
        pause(std::chrono::seconds(1));
      }
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
  std::atomic<bool> away_said_ = false;
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
