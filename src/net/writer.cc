#include "net/writer.h"

#include <atomic>
#include <utility>

namespace fairlead::net {

BodyStream::BodyStream(std::shared_ptr<Outbox> outbox)
    : outbox_(std::move(outbox)),
      guard_(nullptr, [kept = outbox_](std::nullptr_t) { kept->abandon(); }) {}

Push BodyStream::try_write(std::string bytes) const {
  if (!outbox_) return Push::kClosed;
  if (bytes.empty()) return outbox_->closed() ? Push::kClosed : Push::kQueued;
  return outbox_->push({std::move(bytes)});
}

bool BodyStream::finish(std::string last) const {
  return outbox_ && outbox_->finish(std::move(last));
}

bool BodyStream::closed() const {
  return !outbox_ || outbox_->closed();
}

WebSocket::WebSocket(const std::shared_ptr<WebSocketPort>& port)
    : port_(port), guard_(nullptr, [weak = port_](std::nullptr_t) {
        if (const auto kept = weak.lock()) kept->close(1000, {});
      }) {}

Push WebSocket::try_send(Message message) const {
  const auto port = port_.lock();
  return port ? port->send(std::move(message)) : Push::kClosed;
}

void WebSocket::close(std::uint16_t code, std::string reason) const {
  if (const auto port = port_.lock()) port->close(code, std::move(reason));
}

void WebSocket::ping() const {
  if (const auto port = port_.lock()) port->ping();
}

void WebSocket::pause() const {
  if (const auto port = port_.lock()) port->hold_reading(true);
}

void WebSocket::resume() const {
  if (const auto port = port_.lock()) port->hold_reading(false);
}

struct ResponseWriter::Once {
  explicit Once(std::shared_ptr<AnswerPort> p) : port(std::move(p)) {}
  Once(const Once&) = delete;
  Once& operator=(const Once&) = delete;
  ~Once() {
    if (first()) port->respond(problem(500, "the server let the request go without an answer"));
  }

  bool first() { return !answered.exchange(true); }

  const std::shared_ptr<AnswerPort> port;
  std::atomic<bool> answered = false;
};

ResponseWriter::ResponseWriter(std::shared_ptr<AnswerPort> port)
    : once_(std::make_shared<Once>(std::move(port))) {}

bool ResponseWriter::respond(Response response) const {
  if (!once_->first()) return false;
  once_->port->respond(std::move(response));
  return true;
}

bool ResponseWriter::respond(int status, Headers headers, std::string body) const {
  return respond(Response{status, std::move(headers), std::move(body)});
}

BodyStream ResponseWriter::stream(int status, Headers headers, StreamOptions options) const {
  if (!once_->first()) return {};
  return once_->port->stream(status, std::move(headers), std::move(options));
}

std::optional<WebSocket> ResponseWriter::accept_websocket(WebSocketOptions options) const {
  if (!once_->first()) return std::nullopt;
  return once_->port->accept_websocket(std::move(options));
}

}  // namespace fairlead::net
