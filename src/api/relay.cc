#include "api/relay.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <utility>

#include "api/session_words.h"

namespace fairlead::api {
namespace {

constexpr std::size_t kMostWaiting = std::size_t{256} << 10;  // each way
constexpr std::size_t kBlock = std::size_t{64} << 10;

// Of RFC 6455, section 7.4.1.
constexpr std::uint16_t kNormal = 1000;
constexpr std::uint16_t kCannotAccept = 1003;
constexpr std::uint16_t kInternal = 1011;

class SessionDialect final : public Dialect {
 public:
  std::string protocol() const override { return kSessionProtocol; }

  Result<Inward> inward(net::Message message) override {
    FAIRLEAD_ASSIGN(std::string frame, frame_of(message));
    return Inward{std::move(frame), false};
  }

  Result<std::deque<std::string>> outward(std::string_view bytes) override {
    std::deque<std::string> out;
    parser_.feed(bytes);
    while (true) {
      FAIRLEAD_ASSIGN(const std::optional<engine::Frame> frame, parser_.next());
      if (!frame) return out;
      FAIRLEAD_ASSIGN(std::vector<std::string> messages, messages_of(*frame));
      for (std::string& message : messages) out.push_back(std::move(message));
      exited_ = exited_ || frame->channel == engine::Channel::kExit;
    }
  }

  bool whole() const override { return exited_; }

 private:
  engine::FrameParser parser_;
  bool exited_ = false;
};

class PlainDialect final : public Dialect {
 public:
  std::string protocol() const override { return {}; }
  Result<Inward> inward(net::Message message) override {
    if (!message.binary) return fail(ErrorCode::kInvalidArgument, "messages are binary");
    const bool end = message.bytes.empty();
    return Inward{std::move(message.bytes), end};
  }
  Result<std::deque<std::string>> outward(std::string_view bytes) override {
    return std::deque<std::string>{std::string(bytes)};
  }
  bool whole() const override { return true; }
  bool ends_by_halves() const override { return true; }
};

}  // namespace

std::unique_ptr<Dialect> session_dialect() {
  return std::make_unique<SessionDialect>();
}

std::unique_ptr<Dialect> plain_dialect() {
  return std::make_unique<PlainDialect>();
}

Result<std::shared_ptr<Relay>> Relay::create(engine::Descriptor socket,
                                             std::unique_ptr<Dialect> dialect) {
  engine::Descriptor bell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!bell) {
    return fail(ErrorCode::kUnavailable,
                std::string("no descriptor for the session: ") + std::strerror(errno),
                "try again when others have ended");
  }
  return std::shared_ptr<Relay>(new Relay(std::move(socket), std::move(bell), std::move(dialect)));
}

bool Relay::accept(const net::ResponseWriter& writer) {
  net::WebSocketOptions options;
  options.protocol = dialect_->protocol();
  options.queue_bytes = kMostWaiting;
  options.on_message = [self = shared_from_this()](net::Message message) {
    self->got(std::move(message));
  };
  options.on_drained = [self = shared_from_this()] {
    self->takes_ = true;
    self->ring();
  };
  // May be called before accept_websocket() returns, so it must not lock.
  options.on_closed = [self = shared_from_this()](std::uint16_t, const std::string&) {
    self->gone_ = true;
    self->ring();
  };
  const std::lock_guard lock(mutex_);
  auto web = writer.accept_websocket(std::move(options));
  if (!web) return false;
  web_ = std::move(*web);
  return true;
}

void Relay::ring() const {
  (void)::eventfd_write(bell_.get(), 1);
}

void Relay::got(net::Message message) {
  const std::lock_guard lock(mutex_);
  if (farewell_ != 0 || inbox_ended_) return;
  auto inward = dialect_->inward(std::move(message));
  if (!inward) {
    farewell_ = kCannotAccept;
    farewell_words_ = inward.error().message;
  } else {
    inbox_ += inward->bytes;
    inbox_ended_ = inward->end;
    if (inbox_.size() >= kMostWaiting && !std::exchange(paused_, true)) web_.pause();
  }
  ring();
}

void Relay::stop(std::uint16_t code, const std::string& words) {
  {
    const std::lock_guard lock(mutex_);
    farewell_ = code;
    farewell_words_ = words;
  }
  ring();
}

void Relay::run() {
  while (!ended()) {
    send_in();
    send_out();
    if (out_over_ && out_.empty() && dialect_->ends_by_halves() && !in_over_) {
      // The task says no more, and may still listen.
      if (!std::exchange(end_said_, true)) {
        out_.emplace_back();
      } else {
        wait();
      }
    } else if (out_over_ && out_.empty()) {
      const bool whole = dialect_->whole();
      stop(whole ? kNormal : kInternal, whole ? "" : "the session broke off");
    } else {
      wait();
    }
  }
  socket_.reset();  // the other end is to see now that it is over
}

bool Relay::ended() {
  if (gone_) {
    // What it sent before it left still belongs to the task, as far as that takes it now.
    send_in();
    return true;
  }
  const std::lock_guard lock(mutex_);
  if (farewell_ == 0) return false;
  web_.close(farewell_, farewell_words_);
  return true;
}

// What the peer has sent, as far as the socket takes it.
void Relay::send_in() {
  do {
    const std::lock_guard lock(mutex_);
    if (in_over_) inbox_.clear();
    if (in_.empty()) in_.swap(inbox_);
    if (inbox_.empty() && std::exchange(paused_, false)) web_.resume();
    if (!in_.empty()) continue;
    if (inbox_ended_ && !std::exchange(in_over_, true)) (void)::shutdown(socket_.get(), SHUT_WR);
    return;
  } while (send_some());
}

// False if the socket takes nothing more at present.
bool Relay::send_some() {
  const ssize_t sent = ::send(socket_.get(), in_.data(), in_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent >= 0) {
    in_.erase(0, static_cast<std::size_t>(sent));
  } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
    return false;
  } else if (errno != EINTR) {
    in_over_ = true;  // it may still say something
    in_.clear();
  }
  return true;
}

void Relay::send_out() {
  while (!out_.empty() && takes_) {
    // Said before the try, so that a peer that drains in between is not missed.
    takes_ = false;
    const net::Push push = web_.try_send({out_.front(), true});
    if (push == net::Push::kFull) continue;
    if (push == net::Push::kClosed) {
      gone_ = true;
      ring();
      return;
    }
    takes_ = true;
    out_.pop_front();
  }
}

void Relay::read_socket() {
  std::array<char, kBlock> block{};
  const ssize_t got = ::recv(socket_.get(), block.data(), block.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) return;
  if (got <= 0) {
    out_over_ = true;
    return;
  }
  auto messages = dialect_->outward({block.data(), static_cast<std::size_t>(got)});
  if (messages) {
    out_ = std::move(*messages);
  } else {
    stop(kInternal, messages.error().message);
  }
}

// Until there is something to do. A socket that is asked for nothing is not polled at all: its end
// would be told again and again.
void Relay::wait() {
  short wanted = 0;
  if (out_.empty() && !out_over_) wanted |= POLLIN;
  if (!in_.empty()) wanted |= POLLOUT;
  std::array<pollfd, 2> polled{pollfd{wanted == 0 ? -1 : socket_.get(), wanted, 0},
                               pollfd{bell_.get(), POLLIN, 0}};
  if (::poll(polled.data(), polled.size(), -1) < 0) return;
  if (polled[1].revents != 0) {
    eventfd_t count = 0;
    (void)::eventfd_read(bell_.get(), &count);
  }
  const bool readable = (polled[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0;
  if (readable && (wanted & POLLIN) != 0) read_socket();
}

}  // namespace fairlead::api
