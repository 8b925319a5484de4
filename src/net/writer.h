// How a handler answers: whole, as a stream, or by becoming a WebSocket; once, from any thread, now
// or later.
//
// Invariant: every request gets an answer. A writer whose last copy goes away unused answers 500; a
// body stream whose last copy goes away unfinished cuts the connection, so that nobody takes half a
// body for the whole.
// Thread-safety: everything here may be called from any thread and never blocks. Callbacks run on a
// thread of the server, must not block either, and are not called after the server is gone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "net/message.h"
#include "net/outbox.h"

namespace fairlead::net {

struct StreamOptions {
  std::size_t queue_bytes = std::size_t{256} << 10U;  // what may wait for a slow client
  Duration heartbeat;                                 // 0: none
  std::string heartbeat_bytes;                        // written when nothing else was for so long
  std::function<void()> on_drained;                   // there is room again after kFull
  std::function<void()> on_closed;                    // finished, cut, or the client is gone; once
};

class BodyStream {
 public:
  BodyStream() = default;
  explicit BodyStream(std::shared_ptr<Outbox> outbox);

  Push try_write(std::string bytes) const;
  // The body ends after `last`, which is taken even if the queue is full. False if it was over.
  bool finish(std::string last = {}) const;
  bool closed() const;

 private:
  std::shared_ptr<Outbox> outbox_;
  std::shared_ptr<void> guard_;  // abandons the outbox when the last copy goes
};

// One message of a WebSocket.
using Message = Item;

struct WebSocketOptions {
  std::string protocol;  // the one chosen; empty: none is named
  std::size_t most_message_bytes = std::size_t{1} << 20U;
  std::size_t queue_bytes = std::size_t{1} << 20U;  // what may wait for a slow peer
  Duration idle = minutes(5);  // a peer silent for so long is gone; it is pinged at the half
  std::function<bool(const Request&)> origin_allowed = same_origin;
  std::function<void(Message)> on_message;
  std::function<void()> on_drained;
  std::function<void(std::uint16_t code, std::string reason)> on_closed;  // 1006: without a word
};

// What carries a WebSocket; implemented over a connection.
class WebSocketPort {
 public:
  WebSocketPort() = default;
  WebSocketPort(const WebSocketPort&) = delete;
  WebSocketPort& operator=(const WebSocketPort&) = delete;
  virtual ~WebSocketPort() = default;
  virtual Push send(Message message) = 0;
  virtual void close(std::uint16_t code, std::string reason) = 0;
  virtual void ping() = 0;
  virtual void hold_reading(bool hold) = 0;
};

class WebSocket {
 public:
  WebSocket() = default;
  explicit WebSocket(const std::shared_ptr<WebSocketPort>& port);

  Push try_send(Message message) const;
  // What is queued is sent first. The last copy that goes away closes with 1000.
  void close(std::uint16_t code = 1000, std::string reason = {}) const;
  void ping() const;
  // No message is read after the present one until resume(); the peer is slowed down by TCP.
  void pause() const;
  void resume() const;

 private:
  std::weak_ptr<WebSocketPort> port_;
  std::shared_ptr<void> guard_;
};

// What carries an answer; implemented by a connection, and by tests of handlers.
class AnswerPort {
 public:
  AnswerPort() = default;
  AnswerPort(const AnswerPort&) = delete;
  AnswerPort& operator=(const AnswerPort&) = delete;
  virtual ~AnswerPort() = default;
  virtual void respond(Response response) = 0;
  virtual BodyStream stream(int status, Headers headers, StreamOptions options) = 0;
  virtual std::optional<WebSocket> accept_websocket(WebSocketOptions options) = 0;
};

class ResponseWriter {
 public:
  explicit ResponseWriter(std::shared_ptr<AnswerPort> port);

  // False if the request was answered before: the first answer stands.
  bool respond(Response response) const;
  bool respond(int status, Headers headers, std::string body) const;

  // Begins a body whose length is not known. After another answer: a stream that is closed.
  BodyStream stream(int status, Headers headers, StreamOptions options) const;

  // Empty if the request asks for no WebSocket (answered 426), its origin may not (403), or it was
  // answered before.
  std::optional<WebSocket> accept_websocket(WebSocketOptions options) const;

 private:
  struct Once;
  std::shared_ptr<Once> once_;
};

}  // namespace fairlead::net
