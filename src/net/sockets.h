// Sockets that listen and sockets that connect, made with plain system calls.
//
// Descriptors are close-on-exec and do not block.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "net/message.h"

namespace fairlead::net {

// A file descriptor that is closed with its owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  int get() const { return fd_; }
  int release();

 private:
  int fd_ = -1;
};

// Error: kInvalidArgument unless `address` is numeric; kConflict if the port is taken; kIo.
Result<Descriptor> listen_tcp(const std::string& address, std::uint16_t port);
std::uint16_t bound_port(int fd);

// A unix socket that listens at a path, for as long as this lives. It appears there with its mode
// and already listening, so that nobody finds it half made.
class UnixSocket {
 public:
  // Error: kConflict if a server lives there or the path is no socket; kInvalidArgument for a path
  // that is too long; kIo.
  static Result<UnixSocket> listen(const std::string& path, std::uint32_t mode);

  UnixSocket(UnixSocket&&) = default;
  UnixSocket& operator=(UnixSocket&&) = delete;
  ~UnixSocket();  // takes the socket away

  int get() const { return socket_.get(); }

 private:
  UnixSocket() = default;

  std::string path_;
  Descriptor lock_;  // held by flock: of two servers one has it
  Descriptor socket_;
};

// Who is at the other end of an accepted connection.
Peer peer_of(int fd);

// Errors: kIo, naming whom and why.
Result<Descriptor> connect_unix(const std::string& path);
Result<Descriptor> connect_tcp(const std::string& host, std::uint16_t port, Duration limit);

}  // namespace fairlead::net
