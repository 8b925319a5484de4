// For tests: a server on free ports and in a folder of its own, and a client that sends raw bytes.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "net/server.h"
#include "net/sockets.h"

namespace fairlead::net::testing {

// A folder that is removed with what is in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  std::string path(std::string_view name) const { return folder_ + "/" + std::string(name); }

 private:
  std::string folder_;
};

// Something that a test waits for and another thread says. wait() gives up after half a minute.
class Signal {
 public:
  void set();
  bool wait();
  bool is_set();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
};

// Blocks; what takes longer than half a minute reads as the end.
class RawClient {
 public:
  static RawClient tcp(std::uint16_t port);
  static RawClient unix_socket(const std::string& path);

  // False if the other end is gone.
  bool send(std::string_view bytes);
  void finish_sending();
  // Up to and including `end`; what there was if the peer hung up first.
  std::string read_until(std::string_view end);
  // One response, told by its Content-Length; its head and body.
  std::string read_response();
  std::string read_all();
  void close() { socket_ = Descriptor(); }

 private:
  explicit RawClient(Descriptor socket);
  bool read_some();

  Descriptor socket_;
  std::string read_;
};

using HandlerFunction = std::function<void(Request, ResponseWriter)>;

// A server with the listeners "tcp" (127.0.0.1) and "unix", whose handler is given.
class TestServer {
 public:
  explicit TestServer(HandlerFunction handler, Limits limits = {},
                      const std::function<void(ServerOptions&)>& change = {});

  RawClient tcp() const { return RawClient::tcp(port()); }
  RawClient unix_socket() const { return RawClient::unix_socket(socket_path()); }
  std::uint16_t port() const { return server->port("tcp"); }
  std::string socket_path() const { return folder.path("s"); }

  TemporaryFolder folder;
  std::unique_ptr<HttpServer> server;
};

// "GET /x HTTP/1.1", Host, and the end of the head.
std::string get(std::string_view target, std::string_view fields = {});
std::string post(std::string_view target, std::string_view body);

// Answers with method, path, and body.
void echo(Request request, const ResponseWriter& writer);

}  // namespace fairlead::net::testing
