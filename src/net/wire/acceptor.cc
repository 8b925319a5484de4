#include "net/wire/acceptor.h"

#include <cerrno>
#include <chrono>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/post.hpp>

namespace fairlead::net::wire {
namespace {

using boost::system::error_code;

// So many at a time, then others get their turn.
constexpr int kMostAtOnce = 16;
// Without descriptors or memory accepting would only spin.
constexpr auto kPause = std::chrono::milliseconds(50);

}  // namespace

Acceptor::Acceptor(boost::asio::io_context& context, int fd, OnAccept on_accept)
    : fd_(fd),
      on_accept_(std::move(on_accept)),
      strand_(boost::asio::make_strand(context)),
      waiting_(strand_, fd),
      pause_(strand_) {}

Acceptor::~Acceptor() {
  waiting_.release();
}

void Acceptor::open() {
  boost::asio::post(strand_, [self = shared_from_this()] { self->wait(); });
}

void Acceptor::stop() {
  boost::asio::post(strand_, [self = shared_from_this()] {
    self->stopped_ = true;
    error_code ignored;
    self->waiting_.cancel(ignored);
    self->pause_.cancel();
  });
}

void Acceptor::wait() {
  if (stopped_) return;
  waiting_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                      [self = shared_from_this()](error_code error) {
                        if (!error && !self->stopped_) self->accept_all();
                      });
}

void Acceptor::accept_all() {
  for (int i = 0; i < kMostAtOnce; ++i) {
    Descriptor socket(::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.get() >= 0) {
      const int on = 1;
      ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // no-op on unix ones
      on_accept_(std::move(socket));
      continue;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) break;
    if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM) continue;
    pause_.expires_after(kPause);
    pause_.async_wait([self = shared_from_this()](error_code error) {
      if (!error) self->wait();
    });
    return;
  }
  wait();
}

}  // namespace fairlead::net::wire
