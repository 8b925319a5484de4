// A local engine with a state directory of its own, for tests: collects reports and waits for them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <mutex>
#include <poll.h>
#include <sys/stat.h>
#include <vector>

#include <gtest/gtest.h>

#include "engine/frames.h"
#include "engine/local/attempt_folder.h"
#include "engine/local/local_engine.h"
#include "node/processes.h"

namespace fairlead::engine {

inline constexpr int kPatienceMs = 30'000;  // for what comes at once unless something is broken

// A named pipe: a task writes to it by its path, the test waits for what it wrote.
class Signpost {
 public:
  explicit Signpost(std::string path) : path_(std::move(path)) {
    ::mkfifo(path_.c_str(), 0666);
    ::chmod(path_.c_str(), 0666);
    pipe_.reset(::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  }
  const std::string& path() const { return path_; }

  // The next line; "" if none comes.
  std::string line() {
    for (;;) {
      const std::size_t end = have_.find('\n');
      if (end != std::string::npos) {
        std::string line = have_.substr(0, end);
        have_.erase(0, end + 1);
        return line;
      }
      pollfd wanted{pipe_.get(), POLLIN, 0};
      if (::poll(&wanted, 1, kPatienceMs) <= 0) return "";
      char bytes[512];
      const ssize_t got = ::read(pipe_.get(), &bytes[0], sizeof bytes);
      if (got > 0) have_.append(&bytes[0], static_cast<std::size_t>(got));
    }
  }

 private:
  std::string path_;
  Descriptor pipe_;
  std::string have_;
};

class EngineTest : public testing::Test {
 protected:
  EngineTest() : folder_("/tmp/fairlead-engine-XXXXXX") {
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
    ::chmod(folder_.c_str(), 0711);
    options_.state = folder_ + "/state";
    options_.runtime = folder_ + "/runtime";
  }
  ~EngineTest() override {
    end_all();
    engine_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  void open() {
    auto opened = LocalEngine::open(options_, [this](Report report) {
      const std::lock_guard guard(mutex_);
      reports_.push_back(std::move(report));
      arrived_.notify_all();
    });
    ASSERT_TRUE(opened) << opened.error().text();
    engine_ = std::move(*opened);
  }
  // As if the server were killed: nothing is said, nothing waits.
  void close() { engine_.reset(); }

  static TaskLaunch shell(const AttemptId& attempt, const std::string& script) {
    TaskLaunch launch;
    launch.attempt = attempt;
    launch.command = {"/bin/sh", "-c", script};
    launch.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
    return launch;
  }

  void start(const TaskLaunch& launch) {
    const auto started = engine_->start(launch);
    ASSERT_TRUE(started) << started.error().text();
  }

  template <class Kind>
  std::optional<Kind> wait_for(const AttemptId& attempt) {
    std::unique_lock lock(mutex_);
    std::optional<Kind> found;
    arrived_.wait_for(lock, std::chrono::milliseconds(kPatienceMs), [&] {
      for (auto it = reports_.begin(); it != reports_.end(); ++it) {
        const auto* one = std::get_if<Kind>(&*it);
        if (one == nullptr) continue;
        if constexpr (!std::is_same_v<Kind, EngineWarning>) {
          if (one->attempt != attempt) continue;
        }
        found = *one;
        reports_.erase(it);
        return true;
      }
      return false;
    });
    EXPECT_TRUE(found) << "no such report of " << attempt;
    return found;
  }
  TaskResult result_of(const AttemptId& attempt) {
    const auto ended = wait_for<Ended>(attempt);
    return ended ? ended->result : TaskResult{};
  }
  std::size_t reports() {
    const std::lock_guard guard(mutex_);
    return reports_.size();
  }

  // All that is kept of the task's output, of one stream or of all.
  std::string output_of(const AttemptId& attempt, std::optional<Stream> stream = std::nullopt) {
    auto reader = engine_->output(attempt);
    EXPECT_TRUE(reader);
    std::string text;
    for (std::int64_t at = 0; reader;) {
      const auto page = reader->read(at);
      if (!page) {
        ADD_FAILURE() << page.error().text();
        break;
      }
      for (const OutputChunk& chunk : page->chunks) {
        if (!stream || chunk.stream == *stream) text += chunk.bytes;
      }
      at = page->next;
      if (page->at_end) break;
    }
    return text;
  }

  // Frames until the exit frame, or the end.
  struct Heard {
    std::string output;
    std::string error;
    std::optional<SessionExit> exit;
  };
  static Heard hear(const Descriptor& session, const std::string& until = {}) {
    Heard heard;
    FrameParser parser;
    while (!heard.exit && (until.empty() || heard.output.find(until) == std::string::npos)) {
      pollfd wanted{session.get(), POLLIN, 0};
      char bytes[4096];
      ssize_t got = 0;
      if (::poll(&wanted, 1, kPatienceMs) <= 0 ||
          (got = ::read(session.get(), &bytes[0], sizeof bytes)) <= 0) {
        break;
      }
      parser.feed({&bytes[0], static_cast<std::size_t>(got)});
      for (auto frame = parser.next(); frame && *frame; frame = parser.next()) {
        if ((*frame)->channel == Channel::kOutput) heard.output += (*frame)->bytes;
        if ((*frame)->channel == Channel::kError) heard.error += (*frame)->bytes;
        if ((*frame)->channel == Channel::kExit) heard.exit = parse_exit((*frame)->bytes);
      }
    }
    return heard;
  }
  static void say(const Descriptor& session, std::string_view bytes) {
    std::string frame;
    append_frame(frame, Channel::kInput, bytes);
    EXPECT_EQ(::write(session.get(), frame.data(), frame.size()),
              static_cast<ssize_t>(frame.size()));
  }

  // Tasks outlive their engine, but not their test.
  void end_all() {
    const std::string attempts = options_.state + "/attempts";
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(attempts, ignored)) {
      const AttemptId attempt = entry.path().filename();
      if (!engine_) open();
      const auto adopted = engine_->adopt({attempt});
      if (adopted && std::holds_alternative<Running>(adopted->front())) {
        (void)engine_->stop(attempt, {"test-over", "", SIGTERM, Duration{0}});
      }
    }
    for (const auto& entry : std::filesystem::directory_iterator(attempts, ignored)) {
      const auto folder = AttemptFolder::open(options_.state, entry.path().filename());
      for (const std::int64_t end = node::monotonic_ms() + kPatienceMs;
           folder && !folder->try_lock() && node::monotonic_ms() < end;) {
        (void)::poll(nullptr, 0, 1);
      }
    }
  }

  // Until a process is gone, or only waits to be reaped.
  static bool gone(pid_t pid) {
    for (const std::int64_t end = node::monotonic_ms() + kPatienceMs; node::monotonic_ms() < end;) {
      const auto process = node::find_process(pid);
      if (!process || process->state == 'Z') return true;
      node::wait_until_gone({process->ref}, kPatienceMs);
    }
    return false;
  }
  static pid_t parent_of(std::int64_t pid) {
    const auto process = node::find_process(static_cast<pid_t>(pid));
    return process ? process->parent : 0;
  }

  Signpost signpost(const std::string& name) const { return Signpost(folder_ + "/" + name); }

  std::string folder_;
  LocalEngineOptions options_;
  std::unique_ptr<LocalEngine> engine_;

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Report> reports_;
};

}  // namespace fairlead::engine
