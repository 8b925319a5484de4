#include "net/wire/websocket_session.h"

#include <chrono>
#include <utility>

#include <boost/asio/dispatch.hpp>
#include <boost/beast/core/buffers_to_string.hpp>

namespace fairlead::net::wire {
namespace {

constexpr auto kHandshake = std::chrono::seconds(10);  // opening and closing

}  // namespace

std::shared_ptr<WebSocketSession> WebSocketSession::make(Stream::executor_type executor,
                                                         WebSocketOptions options, OnEnd on_end,
                                                         std::shared_ptr<const void> keeps) {
  std::shared_ptr<WebSocketSession> session(new WebSocketSession(
      std::move(executor), std::move(options), std::move(on_end), std::move(keeps)));
  session->outbox_ = std::make_shared<Outbox>(session->options_.queue_bytes,
                                              Outbox::Callbacks{session->options_.on_drained, {}},
                                              [weak = session->weak_from_this()] {
                                                if (const auto self = weak.lock())
                                                  self->post([](WebSocketSession& s) { s.pump(); });
                                              });
  return session;
}

WebSocketSession::WebSocketSession(Stream::executor_type executor, WebSocketOptions options,
                                   OnEnd on_end, std::shared_ptr<const void> keeps)
    : keeps_(std::move(keeps)),
      executor_(std::move(executor)),
      options_(std::move(options)),
      on_end_(std::move(on_end)) {}

template <class Work>
void WebSocketSession::post(Work work) {
  asio::post(executor_, [weak = weak_from_this(), w = std::move(work)] {
    if (const auto self = weak.lock()) w(*self);
  });
}

void WebSocketSession::open(Stream stream) {
  socket_.emplace(std::move(stream));
  socket_->read_message_max(options_.most_message_bytes);
  socket_->auto_fragment(false);
  set_idle(true);
}

// Beast counts silence while nothing is read too, so it must not count while reading is held.
void WebSocketSession::set_idle(bool watched) {
  auto timeout = websocket::stream_base::timeout{kHandshake, websocket::stream_base::none(), false};
  if (watched && options_.idle.ms > 0) {
    timeout.idle_timeout = std::chrono::milliseconds(options_.idle.ms);
    timeout.keep_alive_pings = true;
  }
  socket_->set_option(timeout);
}

void WebSocketSession::accept(Stream stream, const http::request<http::string_body>& request) {
  open(std::move(stream));
  if (!options_.protocol.empty()) {
    socket_->set_option(websocket::stream_base::decorator(
        [protocol = options_.protocol](websocket::response_type& response) {
          response.set(http::field::sec_websocket_protocol, protocol);
        }));
  }
  socket_->async_accept(request, [self = shared_from_this()](error_code error) {
    if (error) return self->end();
    self->started();
  });
}

void WebSocketSession::connect(Stream stream, const std::string& host, const std::string& target,
                               Headers headers, std::function<void(error_code, int status)> done) {
  open(std::move(stream));
  socket_->set_option(websocket::stream_base::decorator(
      [fields = std::move(headers)](websocket::request_type& request) {
        for (const auto& [name, value] : fields) request.insert(name, value);
      }));
  const auto response = std::make_shared<websocket::response_type>();
  socket_->async_handshake(
      *response, host, target,
      [self = shared_from_this(), response, d = std::move(done)](error_code error) {
        d(error, static_cast<int>(response->result_int()));
        if (error) return self->end();
        self->started();
      });
}

void WebSocketSession::started() {
  if (ended_) return;
  ready_ = true;
  read();
  pump();
}

void WebSocketSession::read() {
  if (!ready_ || ended_ || reading_ || held_) return;
  reading_ = true;
  socket_->async_read(
      buffer_, [self = shared_from_this()](error_code error, std::size_t) { self->got(error); });
}

void WebSocketSession::got(error_code error) {
  reading_ = false;
  if (ended_) return;
  if (error) return end();
  Message message{beast::buffers_to_string(buffer_.data()), socket_->got_binary()};
  buffer_.clear();
  try {
    if (options_.on_message) options_.on_message(std::move(message));
  } catch (...) {
    close(websocket::close_code::internal_error, "the server failed on this message");
    throw;  // to whoever runs the thread, who reports it
  }
  read();
}

void WebSocketSession::pump() {
  if (!ready_ || ended_ || busy_) return;
  if (writing_.empty()) writing_ = outbox_->take();
  if (!writing_.empty()) {
    busy_ = true;
    socket_->binary(writing_.front().binary);
    socket_->async_write(
        asio::buffer(writing_.front().bytes),
        [self = shared_from_this()](error_code error, std::size_t) { self->wrote(error); });
  } else if (outbox_->finished()) {
    busy_ = true;
    if (held_) set_idle(false);
    socket_->async_close(close_, [self = shared_from_this()](error_code) {
      // A read that is under way sees the end itself, with the peer's reason.
      if (!self->reading_) self->end();
    });
  } else {
    outbox_->tell_drained();
  }
}

void WebSocketSession::wrote(error_code error) {
  busy_ = false;
  if (ended_) return;
  if (error) return end();
  writing_.pop_front();
  pump();
}

void WebSocketSession::end() {
  if (std::exchange(ended_, true)) return;
  std::uint16_t code = websocket::close_code::abnormal;
  std::string reason;
  if (socket_) {
    if (socket_->reason().code != websocket::close_code::none) {
      code = socket_->reason().code;
      reason = std::string(socket_->reason().reason.data(), socket_->reason().reason.size());
    }
    // Beast's timer would run on and keep the threads waiting for it.
    const auto none = websocket::stream_base::none();
    socket_->set_option(websocket::stream_base::timeout{none, none, false});
    socket_->next_layer().close();
  }
  outbox_->close();
  const auto on_closed = std::exchange(options_.on_closed, {});
  options_.on_message = {};
  if (on_closed) on_closed(code, std::move(reason));
  if (const auto on_end = std::exchange(on_end_, {})) on_end();
}

void WebSocketSession::cut() {
  end();
}

Push WebSocketSession::send(Message message) {
  return outbox_->push(std::move(message));
}

void WebSocketSession::close(std::uint16_t code, std::string reason) {
  constexpr std::size_t kMostReason = 123;  // RFC 6455, section 5.5.1
  reason.resize(std::min(reason.size(), kMostReason));
  post([code, r = std::move(reason)](WebSocketSession& self) {
    if (self.outbox_->closed()) return;
    self.close_ = websocket::close_reason(static_cast<websocket::close_code>(code), r);
    self.outbox_->finish({});
  });
}

void WebSocketSession::ping() {
  post([](WebSocketSession& self) {
    if (!self.ready_ || self.ended_ || std::exchange(self.pinging_, true)) return;
    self.socket_->async_ping(
        {}, [kept = self.shared_from_this()](error_code) { kept->pinging_ = false; });
  });
}

void WebSocketSession::hold_reading(bool hold) {
  asio::dispatch(executor_, [weak = weak_from_this(), hold] {
    const auto self = weak.lock();
    if (!self || self->ended_ || self->held_ == hold) return;
    self->held_ = hold;
    if (self->ready_) self->set_idle(!hold);
    self->read();
  });
}

}  // namespace fairlead::net::wire
