// The client's end of a WebSocket, for programs that block: one thread receives, another sends.
//
// Thread-safety: receive() in one thread; send() and close() in any.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "net/headers.h"
#include "net/writer.h"

namespace fairlead::net {

struct WebSocketClientOptions {
  // What the Host field says ("[::1]" of IPv6), and whom a certificate must name.
  std::string host = "localhost";
  std::uint16_t port = 80;
  std::string unix_socket;  // connects there in place of host and port
  bool tls = false;
  std::string ca_file;  // empty: those that the system trusts
  std::string bearer_token;
  std::string target = "/";
  std::string protocol;  // asked for; empty: none
  Headers headers;
  Duration connect_time = seconds(10);
  std::size_t most_message_bytes = std::size_t{16} << 20U;
  std::size_t queue_bytes = std::size_t{1} << 20U;  // each way
};

class WebSocketClient {
 public:
  // Errors: kIo (nobody answers, it took too long, a certificate that is not trusted), kFailed (the
  // server answered with another status than 101, which is in the message).
  static Result<std::unique_ptr<WebSocketClient>> connect(const WebSocketClientOptions& options);

  WebSocketClient(const WebSocketClient&) = delete;
  WebSocketClient& operator=(const WebSocketClient&) = delete;
  ~WebSocketClient();  // cuts the connection unless it is closed

  // The next message; empty once the server closed with 1000 or after close(). Error: kIo, with the
  // code and reason of the server, if there are any.
  Result<std::optional<Message>> receive();

  // Returns when the message is queued, which waits while the server is slow. Error: kIo if it is
  // over.
  Result<void> send(Message message);

  // Sends what is queued and says goodbye; receive() returns what is still to come, then nothing.
  void close(std::uint16_t code = 1000, std::string reason = {});

 private:
  struct Parts;
  explicit WebSocketClient(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace fairlead::net
