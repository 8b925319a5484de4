#include "net/websocket_client.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>

#include "net/sockets.h"
#include "net/wire/tls.h"
#include "net/wire/websocket_session.h"

namespace fairlead::net {

// One thread runs the connection; what it gets waits here for receive().
struct WebSocketClient::Parts {
  boost::asio::io_context context{1};
  boost::asio::strand<boost::asio::io_context::executor_type> strand{context.get_executor()};
  // Where reading is held nothing is under way, and yet it is not over.
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{
      context.get_executor()};
  std::shared_ptr<wire::WebSocketSession> session;
  std::jthread thread;

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Message> inbox;
  std::size_t inbox_bytes = 0;
  std::size_t most_inbox_bytes = 0;
  bool held = false;
  bool closing = false;
  bool over = false;
  std::uint16_t code = 0;
  std::string reason;

  void got(Message message) {
    const std::lock_guard lock(mutex);
    inbox_bytes += message.bytes.size();
    inbox.push_back(std::move(message));
    if (inbox_bytes >= most_inbox_bytes && !std::exchange(held, true)) session->hold_reading(true);
    changed.notify_all();
  }

  void ended(std::uint16_t with, std::string why) {
    const std::lock_guard lock(mutex);
    over = true;
    work.reset();
    code = with;
    reason = std::move(why);
    changed.notify_all();
  }

  std::string farewell() const {
    if (code == wire::websocket::close_code::abnormal) return "the connection broke";
    std::string text = "the server closed with code " + std::to_string(code);
    if (!reason.empty()) text += ": " + reason;
    return text;
  }
};

WebSocketClient::WebSocketClient(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

namespace {

// "[::1]" as names are resolved and as certificates name it: "::1".
std::string bare(const std::string& host) {
  const bool in_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  return in_brackets ? host.substr(1, host.size() - 2) : host;
}

// As a Host field says it.
std::string bracketed(const std::string& host) {
  const std::string name = bare(host);
  return name.find(':') == std::string::npos ? name : "[" + name + "]";
}

}  // namespace

Result<std::unique_ptr<WebSocketClient>> WebSocketClient::connect(
    const WebSocketClientOptions& options) {
  auto parts = std::make_unique<Parts>();
  Parts* const raw = parts.get();
  raw->most_inbox_bytes = options.queue_bytes;

  std::shared_ptr<boost::asio::ssl::context> tls;
  if (options.tls) {
    FAIRLEAD_ASSIGN(tls, wire::client_context(options.ca_file));
  }
  Headers headers = options.headers;
  if (!options.bearer_token.empty()) {
    headers.set("Authorization", "Bearer " + options.bearer_token);
  }
  if (!options.protocol.empty()) headers.set("Sec-WebSocket-Protocol", options.protocol);
  if (!headers.well_formed()) {
    return fail(ErrorCode::kInvalidArgument, "a header field holds characters that it must not",
                "look for line ends in the token");
  }
  FAIRLEAD_ASSIGN(Descriptor socket,
                  options.unix_socket.empty()
                      ? connect_tcp(bare(options.host), options.port, options.connect_time)
                      : connect_unix(options.unix_socket));

  WebSocketOptions session_options;
  session_options.most_message_bytes = options.most_message_bytes;
  session_options.queue_bytes = options.queue_bytes;
  session_options.on_message = [raw](Message message) { raw->got(std::move(message)); };
  session_options.on_drained = [raw] {
    const std::lock_guard lock(raw->mutex);
    raw->changed.notify_all();
  };
  session_options.on_closed = [raw](std::uint16_t code, std::string reason) {
    raw->ended(code, std::move(reason));
  };
  raw->session = wire::WebSocketSession::make(raw->strand, std::move(session_options), {}, {});

  // The deadline covers both handshakes; a session that ends without having opened is the failure.
  std::string failure;
  bool opened = false;
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(options.connect_time.ms);
  const auto stream = std::make_shared<wire::Stream>(
      tls ? wire::tls_stream(raw->strand, socket.release(), tls, bare(options.host))
          : wire::plain_stream(raw->strand, socket.release()));
  const bool usual_port = !options.unix_socket.empty() || options.port == (options.tls ? 443 : 80);
  const std::string host = usual_port
                               ? bracketed(options.host)
                               : bracketed(options.host) + ":" + std::to_string(options.port);
  bool done = false;
  stream->handshake([&, stream](wire::error_code error) {
    if (error) {
      failure = "TLS: " + error.message();
      done = true;
      return;
    }
    raw->session->connect(std::move(*stream), host, options.target, std::move(headers),
                          [&](wire::error_code refused, int status) {
                            opened = !refused;
                            if (refused == wire::websocket::error::upgrade_declined) {
                              failure = "status " + std::to_string(status);
                            } else if (refused) {
                              failure = refused.message();
                            }
                            done = true;
                          });
  });
  while (!done && raw->context.run_one_until(deadline) > 0) {
  }
  if (!opened) {
    const std::string whom = options.unix_socket.empty() ? options.host : options.unix_socket;
    const bool declined = failure.starts_with("status");
    raw->session->cut();
    return fail(declined ? ErrorCode::kFailed : ErrorCode::kIo,
                "no WebSocket from " + whom + ": " + (done ? failure : "it took too long"));
  }
  raw->thread = std::jthread([raw] { raw->context.run(); });
  return std::unique_ptr<WebSocketClient>(new WebSocketClient(std::move(parts)));
}

WebSocketClient::~WebSocketClient() {
  boost::asio::post(parts_->strand, [session = parts_->session] { session->cut(); });
  parts_->thread.join();
}

Result<std::optional<Message>> WebSocketClient::receive() {
  Parts& parts = *parts_;
  std::unique_lock lock(parts.mutex);
  parts.changed.wait(lock, [&] { return parts.over || !parts.inbox.empty(); });
  if (parts.inbox.empty()) {
    if (parts.closing || parts.code == wire::websocket::close_code::normal) return std::nullopt;
    return fail(ErrorCode::kIo, parts.farewell());
  }
  Message message = std::move(parts.inbox.front());
  parts.inbox.pop_front();
  parts.inbox_bytes -= message.bytes.size();
  if (parts.held && parts.inbox_bytes < parts.most_inbox_bytes) {
    parts.held = false;
    parts.session->hold_reading(false);
  }
  return message;
}

Result<void> WebSocketClient::send(Message message) {
  Parts& parts = *parts_;
  std::unique_lock lock(parts.mutex);
  while (true) {
    if (parts.closing) return fail(ErrorCode::kIo, "the WebSocket was closed");
    if (parts.over) return fail(ErrorCode::kIo, parts.farewell());
    const Push push = parts.session->send(message);
    if (push == Push::kQueued) return {};
    // Told under the same mutex, so that the word cannot come between the refusal and the wait.
    parts.changed.wait(lock);
  }
}

void WebSocketClient::close(std::uint16_t code, std::string reason) {
  const std::lock_guard lock(parts_->mutex);
  parts_->closing = true;
  parts_->session->close(code, std::move(reason));
  parts_->changed.notify_all();
}

}  // namespace fairlead::net
