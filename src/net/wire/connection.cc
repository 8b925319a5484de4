#include "net/wire/connection.h"

#include <algorithm>
#include <utility>

#include <boost/asio/dispatch.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/websocket/rfc6455.hpp>

namespace fairlead::net::wire {
namespace {

constexpr Duration kLinger = seconds(2);
constexpr std::size_t kMostDiscarded = std::size_t{1} << 20U;
constexpr std::size_t kReadAhead = std::size_t{16} << 10U;

std::string text_of(beast::string_view text) {
  return {text.data(), text.size()};
}

bool is_http_error(error_code error) {
  return error.category() == http::make_error_code(http::error::end_of_stream).category();
}

// Of an answer: a status that ends a request, and fields that are fields.
bool is_sound(int status, const Headers& headers) {
  return headers.well_formed() && status >= 200 && status <= 999;
}

Response answer_to_bad_bytes(error_code error, const Limits& limits) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return problem(431, "the request line and header fields are longer than " +
                            std::to_string(limits.header_bytes) + " bytes");
  }
  if (error == http::error::body_limit) {
    return problem(413, "the body is longer than " + std::to_string(limits.body_bytes) + " bytes");
  }
  if (error == http::error::bad_version) return problem(505, "this server speaks HTTP/1.1");
  return problem(400, "the request is malformed: " + error.message());
}

}  // namespace

// What a ResponseWriter holds of a connection: nothing that keeps it, so that one that is gone is
// gone.
class Connection::Answer final : public AnswerPort {
 public:
  Answer(std::weak_ptr<Connection> connection, std::unique_ptr<Request> upgrade)
      : connection_(std::move(connection)), upgrade_(std::move(upgrade)) {}

  void respond(Response response) override {
    const auto connection = connection_.lock();
    if (!connection) return;
    connection->on_strand(
        [r = std::move(response)](Connection& c) mutable { c.answer(std::move(r)); });
  }

  BodyStream stream(int status, Headers headers, StreamOptions options) override {
    const auto outbox =
        std::make_shared<Outbox>(options.queue_bytes,
                                 Outbox::Callbacks{std::exchange(options.on_drained, {}),
                                                   std::exchange(options.on_closed, {})},
                                 [weak = connection_] {
                                   const auto connection = weak.lock();
                                   if (!connection) return;
                                   asio::post(connection->executor_, [weak] {
                                     if (const auto kept = weak.lock()) kept->pump();
                                   });
                                 });
    const auto connection = connection_.lock();
    if (!connection) {
      outbox->close();
      return BodyStream(outbox);
    }
    asio::dispatch(connection->executor_, [weak = connection_, status, h = std::move(headers),
                                           o = std::move(options), outbox]() mutable {
      const auto kept = weak.lock();
      if (!kept) return outbox->close();
      kept->begin_stream(status, std::move(h), std::move(o), outbox);
    });
    return BodyStream(outbox);
  }

  std::optional<WebSocket> accept_websocket(WebSocketOptions options) override {
    if (!upgrade_) {
      Response refusal = problem(426, "this is only for WebSockets");
      refusal.headers.add("Upgrade", "websocket");
      respond(std::move(refusal));
      return std::nullopt;
    }
    if (options.origin_allowed && !options.origin_allowed(*upgrade_)) {
      respond(problem(403, "pages of another origin may not connect"));
      return std::nullopt;
    }
    const auto connection = connection_.lock();
    if (!connection) return std::nullopt;
    const auto session = WebSocketSession::make(
        connection->executor_, std::move(options),
        [weak = connection_] {
          if (const auto kept = weak.lock()) kept->finish();
        },
        connection->core_);
    asio::dispatch(connection->executor_, [weak = connection_, session] {
      const auto kept = weak.lock();
      if (!kept) return session->cut();
      kept->begin_websocket(session);
    });
    return WebSocket(session);
  }

 private:
  const std::weak_ptr<Connection> connection_;
  const std::unique_ptr<Request> upgrade_;  // the request, if it asks to become a WebSocket
};

Connection::Connection(std::shared_ptr<Core> core, const ListenerOptions& listener, Stream stream,
                       Peer peer)
    : core_(std::move(core)),
      listener_(listener),
      peer_(std::move(peer)),
      stream_(std::move(stream)),
      executor_(stream_.get_executor()),
      timer_(executor_),
      buffer_(core_->options.limits.header_bytes + kReadAhead),
      heartbeat_(executor_) {}

template <class Work>
void Connection::on_strand(Work work) {
  asio::dispatch(executor_, [weak = weak_from_this(), w = std::move(work)]() mutable {
    const auto self = weak.lock();
    if (self && self->phase_ != Phase::kDone) w(*self);
  });
}

// -- deadlines ------------------------------------------------------------------------------------

void Connection::arm(Duration limit) {
  timed_out_ = false;
  timer_.expires_after(std::chrono::milliseconds(limit.ms));
  timer_.async_wait([weak = weak_from_this(), turn = ++timer_turn_](error_code error) {
    const auto self = weak.lock();
    if (!error && self && turn == self->timer_turn_) self->deadline_passed();
  });
}

void Connection::disarm() {
  timed_out_ = false;
  ++timer_turn_;
  timer_.cancel();
}

void Connection::deadline_passed() {
  if (phase_ == Phase::kHead || phase_ == Phase::kBody) {
    timed_out_ = true;  // the read ends now, and tells the peer
    stream_.cancel();
  } else {
    finish();
  }
}

// -- reading --------------------------------------------------------------------------------------

void Connection::serve() {
  on_strand([](Connection& self) {
    self.arm(self.core_->options.limits.header_time);
    self.stream_.handshake([kept = self.shared_from_this()](error_code error) {
      if (kept->phase_ == Phase::kDone) return;
      if (error) return kept->finish();
      kept->wait_for_request();
    });
  });
}

void Connection::refuse(Response response) {
  on_strand([r = std::move(response)](Connection& self) mutable { self.turn_away(std::move(r)); });
}

void Connection::wait_for_request() {
  if (core_->stopping) return finish();
  const Limits& limits = core_->options.limits;
  head_only_ = false;
  parser_.emplace();
  parser_->header_limit(limits.header_bytes);
  parser_->body_limit(limits.body_bytes);
  if (buffer_.size() > 0) return read_head();
  phase_ = Phase::kIdle;
  arm(first_ ? limits.header_time : limits.idle_time);
  read_raw();
}

// Between requests, beside a stream, and at the end: bytes that nobody parses yet.
void Connection::read_raw() {
  if (raw_reading_) return;
  raw_reading_ = true;
  stream_.async_read_some(buffer_.prepare(4096),
                          [self = shared_from_this()](error_code error, std::size_t bytes) {
                            self->raw_reading_ = false;
                            self->got_raw(error, bytes);
                          });
}

void Connection::got_raw(error_code error, std::size_t bytes) {
  switch (phase_) {
    case Phase::kIdle:
      if (error) return finish();
      buffer_.commit(bytes);
      return read_head();
    case Phase::kStreaming:
      if (error) return finish();
      buffer_.commit(bytes);  // the next request, which waits its turn
      return;
    case Phase::kLingering:
      discarded_ += bytes;
      if (error || discarded_ > kMostDiscarded) return finish();
      return read_raw();
    default:
      return;
  }
}

void Connection::read_head() {
  first_ = false;
  phase_ = Phase::kHead;
  arm(core_->options.limits.header_time);
  http::async_read_header(
      stream_, buffer_, *parser_,
      [self = shared_from_this()](error_code error, std::size_t) { self->got_head(error); });
}

void Connection::failed_to_read(error_code error) {
  if (timed_out_) {
    return turn_away(problem(408, phase_ == Phase::kHead ? "the header fields took too long"
                                                         : "the body took too long"));
  }
  const bool hung_up = error == http::error::end_of_stream || error == http::error::partial_message;
  if (hung_up || !is_http_error(error)) return finish();
  turn_away(answer_to_bad_bytes(error, core_->options.limits));
}

void Connection::got_head(error_code error) {
  if (phase_ == Phase::kDone) return;
  if (error) return failed_to_read(error);
  if (auto refusal = look_at_head()) return turn_away(std::move(*refusal));
  if (core_->options.gate) {
    std::optional<Response> refusal;
    try {
      refusal = core_->options.gate(request_);
    } catch (const std::exception& thrown) {
      if (core_->options.on_defect) core_->options.on_defect(thrown.what());
      refusal = problem(500, "the server failed on this request");
    }
    if (refusal) {
      if (!parser_->is_done()) return turn_away(std::move(*refusal));
      phase_ = Phase::kHandling;
      return answer(std::move(*refusal));
    }
  }
  if (parser_->is_done()) return handle();
  phase_ = Phase::kBody;
  arm(core_->options.limits.body_time);
  if (request_.headers.find("Expect")) return invite_body();
  read_body();
}

// Fills request_ but for the body; what is wrong with it, if anything.
std::optional<Response> Connection::look_at_head() {
  const auto& head = parser_->get();
  keep_alive_ = head.keep_alive();
  head_only_ = head.method() == http::verb::head;
  chunked_ = head.version() == 11;
  request_ = Request{};
  request_.method = text_of(head.method_string());
  request_.peer = peer_;
  request_.listener = listener_.name;
  request_.tls = listener_.tls.has_value();
  request_.websocket = beast::websocket::is_upgrade(head);
  for (const auto& field : head) {
    request_.headers.add(text_of(field.name_string()), text_of(field.value()));
  }

  if (head.version() != 11 && head.version() != 10) {
    return problem(505, "this server speaks HTTP/1.1");
  }
  if (request_.headers.size() > core_->options.limits.header_fields) {
    return problem(431, "there are more than " +
                            std::to_string(core_->options.limits.header_fields) + " header fields");
  }
  const std::size_t hosts = request_.headers.count("Host");
  if (hosts > 1 || (hosts == 0 && head.version() == 11)) {
    return problem(400, "a request has one Host field");
  }
  if (request_.headers.find("Transfer-Encoding") && !parser_->chunked()) {
    return problem(501, "the only transfer encoding this server knows is chunked");
  }
  const auto expect = request_.headers.find("Expect");
  if (expect && !same_ignoring_case(*expect, "100-continue")) {
    return problem(417, "the only expectation this server knows is 100-continue");
  }
  const std::string_view host = host_without_port(request_.headers.find("Host").value_or(""));
  const auto& allowed = listener_.allowed_hosts;
  if (!allowed.empty() && std::ranges::none_of(allowed, [&](const std::string& name) {
        return same_ignoring_case(name, host);
      })) {
    return problem(421, "this server does not go by the name in the Host field");
  }
  auto target = parse_target(text_of(head.target()));
  if (!target) return problem(400, target.error().text());
  request_.target = std::move(*target);
  return std::nullopt;
}

// Answers without reading on; nothing that follows on this connection could be understood.
void Connection::turn_away(Response response) {
  keep_alive_ = false;
  phase_ = Phase::kHandling;
  answer(std::move(response));
}

void Connection::invite_body() {
  if (!chunked_ || buffer_.size() > 0) return read_body();  // HTTP/1.0, or it did not wait
  batch_ = "HTTP/1.1 100 Continue\r\n\r\n";
  asio::async_write(stream_, asio::buffer(batch_),
                    [self = shared_from_this()](error_code error, std::size_t) {
                      if (self->phase_ == Phase::kDone) return;
                      if (error) return self->failed_to_read(error);
                      self->read_body();
                    });
}

void Connection::read_body() {
  http::async_read(
      stream_, buffer_, *parser_,
      [self = shared_from_this()](error_code error, std::size_t) { self->got_body(error); });
}

void Connection::got_body(error_code error) {
  if (phase_ == Phase::kDone) return;
  if (error) return failed_to_read(error);
  request_.body = std::move(parser_->get().body());
  handle();
}

void Connection::handle() {
  phase_ = Phase::kHandling;
  disarm();
  core_->requests.fetch_add(1, std::memory_order_relaxed);
  std::unique_ptr<Request> upgrade;
  if (request_.websocket) upgrade = std::make_unique<Request>(request_);
  const ResponseWriter writer(std::make_shared<Answer>(weak_from_this(), std::move(upgrade)));
  std::string what;
  try {
    return core_->options.handler(std::move(request_), writer);
  } catch (const std::exception& thrown) {
    what = thrown.what();
  } catch (...) {
    what = "something that is no std::exception";
  }
  if (core_->options.on_defect) core_->options.on_defect(what);
  writer.respond(problem(500, "the server failed on this request"));
}

// -- whole answers --------------------------------------------------------------------------------

void Connection::answer(Response response) {
  if (phase_ != Phase::kHandling) return;
  phase_ = Phase::kAnswering;
  begin_message(std::move(response));
  // Without a body by definition, or as asked.
  const int status = static_cast<int>(message_->result_int());
  if (status == 204 || status == 304 || status < 200) {
    message_->body().clear();
    message_->content_length(boost::none);
  } else {
    message_->content_length(message_->body().size());
  }
  serializer_->split(head_only_);
  write_message();
}

void Connection::begin_message(Response response) {
  if (!is_sound(response.status, response.headers)) {
    if (core_->options.on_defect) core_->options.on_defect("a handler made a malformed answer");
    response = problem(500, "the server made a malformed answer");
  }
  keep_alive_ = keep_alive_ && !core_->stopping;
  message_.emplace();
  message_->result(static_cast<unsigned>(response.status));
  message_->reason(reason_of(response.status));
  for (const std::string_view ours : {"Connection", "Content-Length", "Transfer-Encoding"}) {
    response.headers.remove(ours);
  }
  for (const auto& [name, value] : response.headers) message_->insert(name, value);
  message_->keep_alive(keep_alive_);
  message_->body() = std::move(response.body);
  serializer_.emplace(*message_);
}

// Piece by piece, so that the deadline is for each and not for the whole.
void Connection::write_message() {
  arm(core_->options.limits.write_time);
  http::async_write_some(
      stream_, *serializer_, [self = shared_from_this()](error_code error, std::size_t) {
        if (self->phase_ == Phase::kDone) return;
        if (error) return self->finish();
        const bool split = self->serializer_->split();
        const bool done =
            split ? self->serializer_->is_header_done() : self->serializer_->is_done();
        if (!done) return self->write_message();
        self->wrote_message();
      });
}

void Connection::wrote_message() {
  serializer_.reset();
  message_.reset();
  if (phase_ == Phase::kStreaming) {
    disarm();
    if (head_only_) return end_stream();
    writing_ = false;
    wait_for_heartbeat();
    return pump();
  }
  if (keep_alive_) return wait_for_request();
  linger();
}

// A close with bytes unread would reset the connection, and the peer might lose our last words.
void Connection::linger() {
  phase_ = Phase::kLingering;
  if (!raw_reading_) buffer_.clear();
  arm(kLinger);
  stream_.shutdown([self = shared_from_this()](error_code error) {
    if (self->phase_ == Phase::kDone) return;
    if (error || self->listener_.tls) return self->finish();
    self->read_raw();
  });
}

void Connection::finish() {
  if (phase_ == Phase::kDone) return;
  phase_ = Phase::kDone;
  const auto self = shared_from_this();
  disarm();
  heartbeat_.cancel();
  if (websocket_) {
    websocket_->cut();
  } else {
    stream_.close();
  }
  if (outbox_) outbox_->close();
  core_->forget(self, peer_);
}

void Connection::wind_down() {
  on_strand([](Connection& self) {
    switch (self.phase_) {
      case Phase::kOpening:
      case Phase::kIdle:
        return self.finish();
      case Phase::kStreaming:
        self.outbox_->finish({});
        return;
      case Phase::kWebSocket:
        self.websocket_->close(1001, "the server stops");
        return;
      default:
        return;
    }
  });
}

void Connection::cut() {
  on_strand([](Connection& self) { self.finish(); });
}

// -- streams --------------------------------------------------------------------------------------

void Connection::begin_stream(int status, Headers headers, StreamOptions options,
                              std::shared_ptr<Outbox> outbox) {
  if (phase_ != Phase::kHandling) return outbox->close();
  if (!is_sound(status, headers)) {
    outbox->close();
    return answer({status, std::move(headers), {}});  // which says so
  }
  phase_ = Phase::kStreaming;
  outbox_ = std::move(outbox);
  heartbeat_every_ = options.heartbeat;
  heartbeat_bytes_ = std::move(options.heartbeat_bytes);
  keep_alive_ = keep_alive_ && chunked_;
  begin_message({status, std::move(headers), {}});
  if (chunked_) message_->chunked(true);
  serializer_->split(true);
  end_written_ = false;
  writing_ = true;
  if (core_->stopping) outbox_->finish({});
  write_message();
  if (!head_only_ && buffer_.size() == 0) read_raw();
}

void Connection::pump() {
  if (phase_ != Phase::kStreaming || writing_) return;
  if (outbox_->abandoned()) return finish();
  std::string bytes;
  for (const Item& item : outbox_->take()) bytes += item.bytes;
  const bool last = outbox_->finished();
  if (!bytes.empty() || (last && chunked_)) return write_batch(std::move(bytes), last);
  if (last) return end_stream();
  outbox_->tell_drained();
}

void Connection::write_batch(std::string batch, bool last) {
  batch_.clear();
  if (!chunked_) {
    batch_ = std::move(batch);
  } else if (!batch.empty()) {
    char size[20];
    std::snprintf(size, sizeof size, "%zx\r\n", batch.size());
    batch_ = size + batch + "\r\n";
  }
  if (last && chunked_) batch_ += "0\r\n\r\n";
  writing_ = true;
  end_written_ = last;
  arm(core_->options.limits.write_time);
  asio::async_write(stream_, asio::buffer(batch_),
                    [self = shared_from_this()](error_code error, std::size_t) {
                      if (self->phase_ != Phase::kStreaming) return;
                      if (error) return self->finish();
                      self->writing_ = false;
                      self->disarm();
                      if (self->end_written_) return self->end_stream();
                      self->wait_for_heartbeat();
                      self->pump();
                    });
}

void Connection::end_stream() {
  heartbeat_.cancel();
  const auto outbox = std::exchange(outbox_, nullptr);
  if (keep_alive_ && !core_->stopping) {
    wait_for_request();
  } else {
    linger();
  }
  outbox->close();
}

void Connection::wait_for_heartbeat() {
  if (heartbeat_every_.ms <= 0) return;
  heartbeat_.expires_after(std::chrono::milliseconds(heartbeat_every_.ms));
  heartbeat_.async_wait([weak = weak_from_this()](error_code error) {
    const auto self = weak.lock();
    if (error || !self || self->phase_ != Phase::kStreaming || self->writing_) return;
    self->outbox_->push({self->heartbeat_bytes_});
  });
}

// -- WebSockets -----------------------------------------------------------------------------------

void Connection::begin_websocket(const std::shared_ptr<WebSocketSession>& session) {
  if (phase_ != Phase::kHandling) return session->cut();
  phase_ = Phase::kWebSocket;
  websocket_ = session;
  stream_.put_back(beast::buffers_to_string(buffer_.data()));
  websocket_->accept(std::move(stream_), parser_->get());
  if (core_->stopping) websocket_->close(1001, "the server stops");
}

}  // namespace fairlead::net::wire
