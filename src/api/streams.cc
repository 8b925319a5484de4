#include "api/streams.h"

#include <algorithm>
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
constexpr std::uint16_t kPolicy = 1008;

}  // namespace

class Streams::Parts {
 public:
  using Open = std::function<Result<engine::Descriptor>()>;

  explicit Parts(engine::Engine& engine) : engine_(engine) {}
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  ~Parts() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
      for (Session& session : sessions_) {
        if (session.relay) session.relay->stop(kGoingAway, "the server stops");
      }
    }
    sessions_.clear();  // joins them; those that are being opened have a bound of their own
  }

  engine::Engine& engine() { return engine_; }
  LogPump& logs() { return logs_; }

  // `open` gives the socket; it is called only if there is room for one more. It may wait for a
  // task that gets no CPU time, so it has the session's own thread for that: those of the server
  // serve everyone.
  void begin(Open open, std::unique_ptr<Dialect> dialect, net::ResponseWriter writer, Refuse refuse,
             std::shared_ptr<Leash> leash) {
    const std::lock_guard lock(mutex_);
    const Result<Place> place = take_place();
    if (!place) return refuse(place.error());
    (*place)->leash = std::move(leash);
    try {
      (*place)->thread =
          std::jthread([this, p = *place, o = std::move(open), d = std::move(dialect),
                        w = std::move(writer), r = refuse]() mutable {
            carry(p, {std::move(o), std::move(d), std::move(w), std::move(r)});
            p->done = true;
          });
    } catch (const std::system_error&) {
      sessions_.erase(*place);
      refuse({ErrorCode::kUnavailable,
              "no thread is left for the session",
              {},
              {},
              "try again when others have ended"});
    }
  }

 private:
  struct Session {
    bool opening = true;
    std::shared_ptr<Relay> relay;    // null: it is not accepted
    std::shared_ptr<Leash> leash;    // may be null
    std::atomic<bool> done = false;  // the thread only has to be joined
    std::jthread thread;
  };
  using Place = std::list<Session>::iterator;

  // What is needed until the session is open, and let go then.
  struct Wanted {
    Open open;
    std::unique_ptr<Dialect> dialect;
    net::ResponseWriter writer;
    Refuse refuse;
  };

  void carry(Place place, Wanted wanted) {
    if (const auto relay = accepted(place, std::move(wanted))) relay->run();
  }

  // Null: it was refused, or who asked has left.
  std::shared_ptr<Relay> accepted(Place place, Wanted wanted) {
    auto relay = open_relay(wanted.open, std::move(wanted.dialect));
    {
      const std::lock_guard lock(mutex_);
      place->opening = false;
    }
    if (!relay) {
      wanted.refuse(relay.error());
      return nullptr;
    }
    if (!(*relay)->accept(wanted.writer)) return nullptr;
    const std::lock_guard lock(mutex_);
    place->relay = *relay;
    if (closing_) (*relay)->stop(kGoingAway, "the server stops");
    if (place->leash) {
      place->leash->when_cut([weak = std::weak_ptr(*relay)] {
        if (const auto held = weak.lock()) held->stop(kPolicy, "you may not look into it any more");
      });
    }
    return place->relay;
  }

  static Result<std::shared_ptr<Relay>> open_relay(const Open& open,
                                                   std::unique_ptr<Dialect> dialect) {
    FAIRLEAD_ASSIGN(engine::Descriptor socket, open());
    return Relay::create(std::move(socket), std::move(dialect));
  }

  // Requires: mutex_ is held.
  Result<Place> take_place() {
    std::erase_if(sessions_, [](const Session& session) { return session.done.load(); });
    if (sessions_.size() >= kMostSessions) {
      return fail(ErrorCode::kUnavailable,
                  std::to_string(kMostSessions) + " sessions are open, which is the most",
                  "try again when others have ended");
    }
    const auto opening = std::count_if(sessions_.begin(), sessions_.end(),
                                       [](const Session& session) { return session.opening; });
    if (static_cast<std::size_t>(opening) >= kMostOpening) {
      return fail(ErrorCode::kUnavailable,
                  std::to_string(kMostOpening) + " sessions are being opened, which is the most",
                  "try again in some seconds");
    }
    return sessions_.emplace(sessions_.end());
  }

  engine::Engine& engine_;
  LogPump logs_;
  std::mutex mutex_;
  bool closing_ = false;         // guarded by mutex_
  std::list<Session> sessions_;  // guarded by mutex_
};

Streams::Streams(engine::Engine& engine) : parts_(std::make_unique<Parts>(engine)) {}

Streams::~Streams() = default;

Result<void> Streams::log(LogRequest request, const net::ResponseWriter& writer) {
  FAIRLEAD_ASSIGN(engine::OutputReader reader, parts_->engine().output(request.attempt));
  parts_->logs().add(std::move(request), std::move(reader), writer);
  return {};
}

void Streams::session(const engine::AttemptId& attempt, const engine::SessionRequest& request,
                      net::ResponseWriter writer, Refuse refuse, std::shared_ptr<Leash> leash) {
  parts_->begin(
      [this, attempt, request] { return parts_->engine().open_session(attempt, request); },
      session_dialect(), std::move(writer), std::move(refuse), std::move(leash));
}

void Streams::forward(std::uint32_t uid, std::uint16_t port, net::ResponseWriter writer,
                      Refuse refuse, std::shared_ptr<Leash> leash) {
  const auto open = [uid, port]() -> Result<engine::Descriptor> {
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
  parts_->begin(open, plain_dialect(), std::move(writer), std::move(refuse), std::move(leash));
}

}  // namespace fairlead::api
