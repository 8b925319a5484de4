// One WebSocket, of a server or of a client, over any stream.
//
// Thread-safety: what WebSocketPort has, from any thread; accept(), connect() and cut() on the
// stream's executor. Callbacks run there. `on_end` is called once, last.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/websocket/stream.hpp>

#include "net/outbox.h"
#include "net/wire/stream.h"
#include "net/writer.h"

namespace fairlead::net::wire {

namespace http = beast::http;
namespace websocket = beast::websocket;

class WebSocketSession final : public WebSocketPort,
                               public std::enable_shared_from_this<WebSocketSession> {
 public:
  using OnEnd = std::function<void()>;

  // `keeps` owns the executor's context and lives as long as the session: a thread that is just
  // calling one of those below may be the last to hold it, when the server is gone already. Empty
  // if the caller sees to that.
  static std::shared_ptr<WebSocketSession> make(Stream::executor_type executor,
                                                WebSocketOptions options, OnEnd on_end,
                                                std::shared_ptr<const void> keeps);

  void accept(Stream stream, const http::request<http::string_body>& request);
  // `done` gets the error and the status that a refusal came with.
  void connect(Stream stream, const std::string& host, const std::string& target, Headers headers,
               std::function<void(error_code, int status)> done);
  void cut();

  Push send(Message message) override;
  void close(std::uint16_t code, std::string reason) override;
  void ping() override;
  void hold_reading(bool hold) override;

 private:
  WebSocketSession(Stream::executor_type executor, WebSocketOptions options, OnEnd on_end,
                   std::shared_ptr<const void> keeps);

  template <class Work>
  void post(Work work);  // with *this, on the executor, unless it is gone by then
  void open(Stream stream);
  void set_idle(bool watched);
  void started();
  void read();
  void got(error_code error);
  void pump();
  void wrote(error_code error);
  void end();

  const std::shared_ptr<const void> keeps_;  // first: what is below needs the context
  const Stream::executor_type executor_;
  WebSocketOptions options_;
  OnEnd on_end_;
  std::shared_ptr<Outbox> outbox_;

  std::optional<websocket::stream<Stream, false>> socket_;
  beast::flat_buffer buffer_;
  std::deque<Item> writing_;
  websocket::close_reason close_{websocket::close_code::normal};
  bool ready_ = false;    // the handshake is through
  bool busy_ = false;     // a write or close is under way
  bool reading_ = false;  // a read is under way
  bool held_ = false;
  bool pinging_ = false;
  bool ended_ = false;
};

}  // namespace fairlead::net::wire
