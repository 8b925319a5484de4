// One connection of the server: reads a request, has it handled, writes the answer, and again.
//
// A machine of phases on one strand. Exactly one read and one write are under way at most; whatever
// waits for the peer has a deadline. Kept alive by Core's list from admit() to finish().
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/string_body.hpp>

#include "net/outbox.h"
#include "net/server.h"
#include "net/wire/core.h"
#include "net/wire/stream.h"
#include "net/wire/websocket_session.h"

namespace fairlead::net::wire {

class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<Core> core, const ListenerOptions& listener, Stream stream, Peer peer);

  // From any thread.
  void serve();
  void refuse(Response response);
  void wind_down();  // the server stops: ends when what is under way is done
  void cut();

 private:
  class Answer;
  using Message = http::response<http::string_body>;

  enum class Phase {
    kOpening,    // TLS handshake
    kIdle,       // waits for the first byte of a request
    kHead,       // reads the request line and fields
    kBody,       // reads the body
    kHandling,   // a handler has the request
    kAnswering,  // writes a whole answer
    kStreaming,  // writes what the handler hands over bit by bit
    kWebSocket,  // became one
    kLingering,  // everything is said; waits for the peer to hang up
    kDone,
  };

  template <class Work>
  void on_strand(Work work);
  void arm(Duration limit);
  void disarm();
  void deadline_passed();

  void wait_for_request();
  void read_raw();
  void got_raw(error_code error, std::size_t bytes);
  void read_head();
  void got_head(error_code error);
  std::optional<Response> look_at_head();
  void turn_away(Response response);
  void failed_to_read(error_code error);
  void invite_body();
  void read_body();
  void got_body(error_code error);
  void handle();

  void answer(Response response);
  void begin_message(Response response);
  void write_message();
  void wrote_message();
  void linger();
  void finish();

  void begin_stream(int status, Headers headers, StreamOptions options,
                    std::shared_ptr<Outbox> outbox);
  void pump();
  void write_batch(std::string batch, bool last);
  void end_stream();
  void wait_for_heartbeat();
  void begin_websocket(const std::shared_ptr<WebSocketSession>& session);

  const std::shared_ptr<Core> core_;  // first: what is below needs its io_context
  const ListenerOptions& listener_;
  const Peer peer_;
  Stream stream_;  // empty once it became a WebSocket
  const Stream::executor_type executor_;
  asio::steady_timer timer_;
  std::uint64_t timer_turn_ = 0;  // tells a late expiry from one that counts

  Phase phase_ = Phase::kOpening;
  bool first_ = true;
  bool raw_reading_ = false;
  bool timed_out_ = false;
  bool keep_alive_ = true;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  Request request_;
  bool head_only_ = false;  // the request was HEAD
  bool chunked_ = true;
  std::size_t discarded_ = 0;

  std::optional<Message> message_;
  std::optional<http::response_serializer<http::string_body>> serializer_;

  std::shared_ptr<Outbox> outbox_;
  asio::steady_timer heartbeat_;
  Duration heartbeat_every_;
  std::string heartbeat_bytes_;
  std::string batch_;
  bool writing_ = false;
  bool end_written_ = false;

  std::shared_ptr<WebSocketSession> websocket_;
};

}  // namespace fairlead::net::wire
