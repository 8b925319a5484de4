#include "api/streams.h"

#include <atomic>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "api/listeners.h"
#include "api/log_pump.h"
#include "api/relay.h"
#include "net/sockets.h"

namespace fairlead::api {
namespace {

constexpr Duration kConnectTime = seconds(1);
constexpr std::uint16_t kGoingAway = 1001;  // of RFC 6455, section 7.4.1
constexpr std::uint16_t kTryAgain = 1013;   // of IANA's registry of such codes

}  // namespace

class Streams::Parts {
 public:
  using Open = std::function<Result<engine::Descriptor>()>;

  explicit Parts(engine::Engine& engine) : engine_(engine) {}
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  ~Parts() {
    for (Session& session : sessions_) {
      if (session.relay) session.relay->stop(kGoingAway, "the server stops");
    }
    sessions_.clear();
  }

  engine::Engine& engine() { return engine_; }
  LogPump& logs() { return logs_; }

  // `open` gives the socket; it is called only if there is room for one more.
  Result<void> begin(const Open& open, std::unique_ptr<Dialect> dialect,
                     const net::ResponseWriter& writer) {
    FAIRLEAD_ASSIGN(const Place place, take_place());
    auto relay = open_relay(open, std::move(dialect));
    if (!relay || !(*relay)->accept(writer)) {
      const std::lock_guard lock(mutex_);
      sessions_.erase(place);
      if (!relay) return fail(std::move(relay).error());
      return {};
    }
    const std::lock_guard lock(mutex_);
    place->relay = std::move(*relay);
    try {
      place->thread = std::jthread([relay = place->relay, place] {
        relay->run();
        place->done = true;
      });
    } catch (const std::system_error&) {
      place->relay->stop(kTryAgain, "no thread is left for the session");
      place->relay->run();  // says so and returns
      sessions_.erase(place);
    }
    return {};
  }

 private:
  struct Session {
    std::shared_ptr<Relay> relay;    // null: it is being opened
    std::atomic<bool> done = false;  // the thread only has to be joined
    std::jthread thread;
  };
  using Place = std::list<Session>::iterator;

  static Result<std::shared_ptr<Relay>> open_relay(const Open& open,
                                                   std::unique_ptr<Dialect> dialect) {
    FAIRLEAD_ASSIGN(engine::Descriptor socket, open());
    return Relay::create(std::move(socket), std::move(dialect));
  }

  Result<Place> take_place() {
    const std::lock_guard lock(mutex_);
    std::erase_if(sessions_, [](const Session& session) { return session.done.load(); });
    if (sessions_.size() >= kMostSessions) {
      return fail(ErrorCode::kUnavailable,
                  std::to_string(kMostSessions) + " sessions are open, which is the most",
                  "try again when others have ended");
    }
    return sessions_.emplace(sessions_.end());
  }

  engine::Engine& engine_;
  LogPump logs_;
  std::mutex mutex_;
  std::list<Session> sessions_;  // guarded by mutex_
};

Streams::Streams(engine::Engine& engine) : parts_(std::make_unique<Parts>(engine)) {}

Streams::~Streams() = default;

Result<void> Streams::log(LogRequest request, const net::ResponseWriter& writer) {
  FAIRLEAD_ASSIGN(engine::OutputReader reader, parts_->engine().output(request.attempt));
  parts_->logs().add(std::move(request), std::move(reader), writer);
  return {};
}

Result<void> Streams::session(const engine::AttemptId& attempt,
                              const engine::SessionRequest& request,
                              const net::ResponseWriter& writer) {
  return parts_->begin([&] { return parts_->engine().open_session(attempt, request); },
                       session_dialect(), writer);
}

Result<void> Streams::forward(std::uint32_t uid, std::uint16_t port,
                              const net::ResponseWriter& writer) {
  const auto open = [&]() -> Result<engine::Descriptor> {
    FAIRLEAD_ASSIGN(const LocalListener listener, find_listener(port, uid));
    FAIRLEAD_ASSIGN(net::Descriptor socket, net::connect_tcp(listener.address, port, kConnectTime));
    // Another may have taken the port in between: it must be the same that was let through.
    FAIRLEAD_ASSIGN(const LocalListener still, find_listener(port, uid));
    if (still.inode != listener.inode) {
      return fail(Error{ErrorCode::kUnavailable,
                        "what listens on port " + std::to_string(port) + " has just changed",
                        {},
                        "port",
                        "try again"});
    }
    return engine::Descriptor(socket.release());
  };
  return parts_->begin(open, plain_dialect(), writer);
}

}  // namespace fairlead::api
