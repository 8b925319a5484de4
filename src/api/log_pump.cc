#include "api/log_pump.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "api/log_text.h"

namespace fairlead::api {
namespace {

constexpr auto kLook = std::chrono::milliseconds(200);
constexpr std::size_t kPage = std::size_t{64} << 10;

// What the server's threads say of one stream.
struct Client {
  std::atomic<bool> takes = true;  // there may be room
  std::atomic<bool> gone = false;
};

}  // namespace

struct LogPump::Bell {
  std::mutex mutex;
  std::condition_variable rung;
  bool ringing = false;  // guarded by mutex, as the rest is
  bool stopping = false;
  std::list<std::shared_ptr<Follower>> arrived;

  void ring() {
    const std::lock_guard lock(mutex);
    ringing = true;
    rung.notify_one();
  }
};

// One request. Only the thread of the pump touches it once it has arrived.
class LogPump::Follower {
 public:
  enum class Turn { kMore, kSlowClient, kNothingNew, kOver };

  Follower(LogRequest request, engine::OutputReader reader)
      : request_(std::move(request)), reader_(std::move(reader)) {}

  void begin(const net::ResponseWriter& writer, const std::shared_ptr<Bell>& bell) {
    net::StreamOptions options;
    options.on_drained = [client = client_, bell] {
      client->takes = true;
      bell->ring();
    };
    options.on_closed = [client = client_, bell] {
      client->gone = true;
      bell->ring();
    };
    net::Headers headers;
    headers.add("Content-Type", "text/plain; charset=utf-8");
    headers.add("X-Content-Type-Options", "nosniff");
    headers.add("Cache-Control", "no-store");
    stream_ = writer.stream(200, std::move(headers), std::move(options));
  }

  // Sends one page if there is one and the client takes it.
  Turn turn(bool look_for_new) {
    if (client_->gone) return Turn::kOver;
    if (request_.leash && request_.leash->is_cut()) return Turn::kOver;
    if (!client_->takes) return Turn::kSlowClient;
    if (!waiting_.empty()) return push();
    if (last_) {
      stream_.finish();
      return Turn::kOver;
    }
    if (at_end_ && !look_for_new) return Turn::kNothingNew;
    // Asked before reading, so that what the task wrote at its very end is not missed.
    const bool over = !request_.follow || (at_end_ && request_.over());
    if (const auto read = read_page(); !read) {
      if (!text_) text_.emplace(0, false, std::nullopt, request_.offsets);
      waiting_ = text_->remark("the log " + read.error().text());
      last_ = true;
    } else {
      last_ = text_->full() || (over && at_end_);
    }
    if (!waiting_.empty()) return push();
    return at_end_ && !last_ ? Turn::kNothingNew : Turn::kMore;
  }

 private:
  Result<void> read_page() {
    if (!text_) FAIRLEAD_TRY(find_begin());
    if (text_->full()) return {};
    FAIRLEAD_ASSIGN(const engine::OutputPage page, reader_.read(next_, kPage));
    next_ = page.next;
    at_end_ = page.at_end;
    waiting_ = text_->text_of(page);
    return {};
  }

  Result<void> find_begin() {
    if (request_.since) {
      FAIRLEAD_ASSIGN(next_, reader_.offset_since(*request_.since));
    }
    if (request_.tail >= 0) {
      FAIRLEAD_ASSIGN(const std::int64_t tail, reader_.offset_of_tail(request_.tail));
      next_ = std::max(next_, tail);
    }
    if (request_.offset) next_ = *request_.offset;
    text_.emplace(next_, request_.timestamps, request_.limit_bytes, request_.offsets);
    return {};
  }

  Turn push() {
    // Said before the try, so that a client that drains in between is not missed.
    client_->takes = false;
    const net::Push push = stream_.try_write(waiting_);
    if (push == net::Push::kClosed) return Turn::kOver;
    if (push == net::Push::kFull) return client_->takes ? Turn::kMore : Turn::kSlowClient;
    client_->takes = true;
    waiting_.clear();
    return Turn::kMore;
  }

  const LogRequest request_;
  engine::OutputReader reader_;
  net::BodyStream stream_;
  const std::shared_ptr<Client> client_ = std::make_shared<Client>();

  std::optional<LogText> text_;  // nullopt: where to begin is not known yet
  std::int64_t next_ = 0;
  bool at_end_ = false;
  bool last_ = false;    // nothing comes after what waits
  std::string waiting_;  // refused by the stream, or not offered yet
};

LogPump::LogPump() : bell_(std::make_shared<Bell>()), thread_([this] { run(); }) {}

LogPump::~LogPump() {
  {
    const std::lock_guard lock(bell_->mutex);
    bell_->stopping = true;
  }
  bell_->ring();
  thread_.join();
  // A follower holds its stream, whose callbacks hold the bell.
  bell_->arrived.clear();
}

void LogPump::add(LogRequest request, engine::OutputReader reader,
                  const net::ResponseWriter& writer) {
  auto follower = std::make_shared<Follower>(std::move(request), std::move(reader));
  follower->begin(writer, bell_);
  {
    const std::lock_guard lock(bell_->mutex);
    bell_->arrived.push_back(std::move(follower));
  }
  bell_->ring();
}

void LogPump::run() {
  std::list<std::shared_ptr<Follower>> followers;
  auto look_at = std::chrono::steady_clock::now();
  bool more = false;
  while (true) {
    {
      std::unique_lock lock(bell_->mutex);
      const auto called = [this] { return bell_->ringing || bell_->stopping; };
      if (followers.empty()) {
        bell_->rung.wait(lock, called);
      } else if (!more) {
        bell_->rung.wait_until(lock, look_at, called);
      }
      if (bell_->stopping) return;
      bell_->ringing = false;
      followers.splice(followers.end(), bell_->arrived);
    }
    const auto now = std::chrono::steady_clock::now();
    const bool look_for_new = now >= look_at;
    if (look_for_new) look_at = now + kLook;
    more = serve(followers, look_for_new);
  }
}

// Whether somebody would take more at once.
bool LogPump::serve(std::list<std::shared_ptr<Follower>>& followers, bool look_for_new) {
  bool more = false;
  std::erase_if(followers, [&](const std::shared_ptr<Follower>& follower) {
    const Follower::Turn turn = follower->turn(look_for_new);
    more = more || turn == Follower::Turn::kMore;
    return turn == Follower::Turn::kOver;
  });
  return more;
}

}  // namespace fairlead::api
