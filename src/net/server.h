// An HTTP/1.1 server on any number of listeners: TCP, TLS, unix sockets.
//
// Handlers see Request and ResponseWriter (writer.h) and run on one of the server's few threads:
// they return at once and answer now or later. Requests of one connection are served one after
// another, in their order; what the peer sends ahead waits in its socket.
//
// Invariant: whatever a peer sends or leaves out, memory and time that it can take are bounded by
// Limits; it is answered by a problem document where it can still be told.
// Thread-safety: all of HttpServer may be called from any thread but its own handlers' (stop()
// waits for those).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "net/writer.h"

namespace fairlead::net {

struct Limits {
  std::uint32_t header_bytes = 32U << 10U;  // request line and fields: 431 above
  std::size_t header_fields = 100;          // 431 above
  std::uint64_t body_bytes = 8U << 20U;     // 413 above
  std::size_t connections = 1024;           // of one listener: 503 above, others go on
  std::size_t connections_per_address = 0;  // of TCP: 503 above; 0: no bound of its own
  Duration header_time = seconds(10);       // from the first byte (or the connect) to the last: 408
  Duration body_time = seconds(60);         // 408
  Duration idle_time = seconds(75);         // between requests: closed
  Duration write_time = seconds(30);        // without the peer taking a byte: cut
};

struct TcpListener {
  std::string address = "127.0.0.1";  // a numeric address, of IPv4 or IPv6
  std::uint16_t port = 0;             // 0: any free one
};

// The socket of a server that died is replaced; where one lives, start() fails. A file PATH.lock
// beside it is what tells them apart.
struct UnixListener {
  std::string path;
  std::uint32_t mode = 0600;
};

struct TlsFiles {
  std::string certificate;  // PEM: the server's own first, then those between it and a root
  std::string key;          // PEM
};

struct ListenerOptions {
  std::string name;  // comes back in Request::listener
  std::variant<TcpListener, UnixListener> at;
  std::optional<TlsFiles> tls;  // TCP only
  // Names that the Host of a request may give, without port ("localhost", "[::1]"); others get 421.
  // Empty: any. Guards what listens on loopback against pages whose name resolves there.
  std::vector<std::string> allowed_hosts;
};

struct ServerOptions {
  std::vector<ListenerOptions> listeners;
  Limits limits;
  unsigned threads = 2;
  // Sees each request before its body is read (body is empty): what it returns is the answer, so
  // that a stranger cannot make the server read megabytes. Optional.
  std::function<std::optional<Response>(const Request&)> gate;
  std::function<void(Request, ResponseWriter)> handler;
  // What a handler or callback threw, which is a defect: the peer got 500, a WebSocket ends with
  // 1011. Optional.
  std::function<void(const std::string& what)> on_defect;
};

struct ServerCounts {
  std::size_t open = 0;  // connections now
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;  // by the bounds on connections
  std::uint64_t requests = 0;
};

class HttpServer {
 public:
  // Listens on all or none. Errors: kInvalidArgument (an address, a path too long, a certificate or
  // key that cannot be read or do not fit), kConflict (somebody listens there), kIo.
  static Result<std::unique_ptr<HttpServer>> start(ServerOptions options);

  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();  // stop() without grace

  // The port in use of a TCP listener; 0 if there is none of that name.
  std::uint16_t port(std::string_view listener) const;

  // Reads certificate and key files again, for connections to come. On an error the old ones stay.
  Result<void> reload_tls();

  // Accepts no more, ends body streams and WebSockets, lets requests under way be answered for so
  // long, then cuts what is left. Returns when no thread of the server runs.
  void stop(Duration grace);

  ServerCounts counts() const;

 private:
  struct Parts;
  explicit HttpServer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace fairlead::net
