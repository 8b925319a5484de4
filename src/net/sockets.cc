#include "net/sockets.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace fairlead::net {
namespace {

constexpr int kBacklog = 512;
constexpr int kKind = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

std::unexpected<Error> io_error(const std::string& what, int error, std::string cure = {}) {
  return fail(ErrorCode::kIo, what + ": " + std::strerror(error), std::move(cure));
}

Result<sockaddr_un> unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return fail(ErrorCode::kInvalidArgument,
                "\"" + path + "\" cannot be the path of a unix socket: it has " +
                    std::to_string(path.size()) + " bytes of 1 to " +
                    std::to_string(sizeof(address.sun_path) - 1),
                "choose a shorter path");
  }
  path.copy(address.sun_path, path.size());
  return address;
}

template <class Address>
const sockaddr* generic(const Address& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

bool somebody_answers(const sockaddr_un& address) {
  const Descriptor probe(::socket(AF_UNIX, kKind, 0));
  if (::connect(probe.get(), generic(address), sizeof address) == 0) return true;
  return errno == EAGAIN;  // its queue of connections is full
}

std::unexpected<Error> lives(const std::string& path) {
  return fail(ErrorCode::kConflict, "a server is already listening on " + path,
              "stop it first, or give this one another path");
}

// Waits for a connect that is under way; the errno it ended with.
int finish_connect(int fd, Duration limit) {
  pollfd wanted{fd, POLLOUT, 0};
  const int ready = ::poll(&wanted, 1, static_cast<int>(limit.ms));
  if (ready == 0) return ETIMEDOUT;
  if (ready < 0) return errno;
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    const Descriptor old(std::exchange(fd_, other.release()));
  }
  return *this;
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

int Descriptor::release() {
  return std::exchange(fd_, -1);
}

Result<Descriptor> listen_tcp(const std::string& address, std::uint16_t port) {
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  const bool is_v4 = ::inet_pton(AF_INET, address.c_str(), &v4.sin_addr) == 1;
  if (!is_v4 && ::inet_pton(AF_INET6, address.c_str(), &v6.sin6_addr) != 1) {
    return fail(ErrorCode::kInvalidArgument, "\"" + address + "\" is no address to listen on",
                "give a numeric one, like 127.0.0.1 or ::1");
  }
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  const std::string what =
      "cannot listen on " + (is_v4 ? address : "[" + address + "]") + ":" + std::to_string(port);

  Descriptor socket(::socket(is_v4 ? AF_INET : AF_INET6, kKind, 0));
  const int on = 1;
  if (socket.get() < 0) return io_error(what, errno);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (!is_v4) ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  const int bound = is_v4 ? ::bind(socket.get(), generic(v4), sizeof v4)
                          : ::bind(socket.get(), generic(v6), sizeof v6);
  if (bound != 0 || ::listen(socket.get(), kBacklog) != 0) {
    if (errno != EADDRINUSE) return io_error(what, errno);
    return fail(ErrorCode::kConflict, what + ": another program does",
                "stop it, or choose another port");
  }
  return socket;
}

std::uint16_t bound_port(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family == AF_INET) {
    return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  }
  if (address.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  }
  return 0;
}

Result<UnixSocket> UnixSocket::listen(const std::string& path, std::uint32_t mode) {
  const std::string unfinished = path + ".new";
  FAIRLEAD_TRY(unix_address(unfinished));
  FAIRLEAD_ASSIGN(const sockaddr_un address, unix_address(path));
  FAIRLEAD_ASSIGN(const sockaddr_un unfinished_address, unix_address(unfinished));

  UnixSocket made;
  const std::string lock = path + ".lock";
  made.lock_ = Descriptor(::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (made.lock_.get() < 0) {
    return io_error("cannot open " + lock, errno, "create its folder, or choose another path");
  }
  if (::flock(made.lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return lives(path);
    return io_error("cannot lock " + lock, errno);
  }
  struct stat status{};
  if (::lstat(path.c_str(), &status) == 0) {
    if (!S_ISSOCK(status.st_mode)) {
      return fail(ErrorCode::kConflict, path + " exists and is no socket",
                  "move it away, or choose another path");
    }
    if (somebody_answers(address)) return lives(path);
  }

  ::unlink(unfinished.c_str());
  made.socket_ = Descriptor(::socket(AF_UNIX, kKind, 0));
  if (made.socket_.get() < 0 ||
      ::bind(made.socket_.get(), generic(unfinished_address), sizeof unfinished_address) != 0) {
    return io_error("cannot listen on " + path, errno);
  }
  if (::chmod(unfinished.c_str(), mode) != 0 || ::listen(made.socket_.get(), kBacklog) != 0 ||
      ::rename(unfinished.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(unfinished.c_str());
    return io_error("cannot listen on " + path, error);
  }
  made.path_ = path;
  return made;
}

UnixSocket::~UnixSocket() {
  if (socket_.get() >= 0 && !path_.empty()) ::unlink(path_.c_str());
}

Peer peer_of(int fd) {
  Peer peer;
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return peer;
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    peer.port = ntohs(v4.sin_port);
  } else if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
    peer.port = ntohs(v6.sin6_port);
  } else {
    ucred credentials{};
    socklen_t length = sizeof credentials;
    if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0) {
      peer.unix_socket = true;
      peer.uid = credentials.uid;
      peer.gid = credentials.gid;
      peer.pid = credentials.pid;
    }
  }
  peer.address = text;
  return peer;
}

Result<Descriptor> connect_unix(const std::string& path) {
  FAIRLEAD_ASSIGN(const sockaddr_un address, unix_address(path));
  Descriptor socket(::socket(AF_UNIX, kKind, 0));
  if (socket.get() < 0 || ::connect(socket.get(), generic(address), sizeof address) != 0) {
    return io_error("cannot connect to " + path, errno);
  }
  return socket;
}

Result<Descriptor> connect_tcp(const std::string& host, std::uint16_t port, Duration limit) {
  const std::string service = std::to_string(port);
  const std::string what = "cannot connect to " + host + ":" + service;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int looked_up = ::getaddrinfo(host.c_str(), service.c_str(), &hints, &list);
  if (looked_up != 0) return fail(ErrorCode::kIo, what + ": " + ::gai_strerror(looked_up));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, &::freeaddrinfo);
  int error = ECONNREFUSED;
  for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
    Descriptor socket(::socket(each->ai_family, kKind, 0));
    if (socket.get() < 0) continue;
    const int connected = ::connect(socket.get(), each->ai_addr, each->ai_addrlen);
    error = connected == 0 ? 0 : errno;
    if (error == EINPROGRESS) error = finish_connect(socket.get(), limit);
    if (error != 0) continue;
    const int on = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return socket;
  }
  return io_error(what, error);
}

}  // namespace fairlead::net
