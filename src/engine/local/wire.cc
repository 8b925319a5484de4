#include "engine/local/wire.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace fairlead::engine {
namespace {

constexpr int kMostTries = 10;
constexpr const char* kAnotherFolder = "name another folder for sockets and notices";

Result<std::pair<Descriptor, Descriptor>> pair_of(int type) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, &ends[0]) != 0) {
    return fail(ErrorCode::kIo, std::string("a socket cannot be made: ") + std::strerror(errno),
                errno == EMFILE || errno == ENFILE ? "raise the limit on open files" : "");
  }
  return std::pair(Descriptor(ends[0]), Descriptor(ends[1]));
}

std::string socket_name(const std::string& attempt) {
  return attempt + ".sock";
}

// Binds or connects through the open folder.
Result<Descriptor> at_address(const std::string& folder, const std::string& attempt, int flags,
                              int (*call)(int, const sockaddr*, socklen_t)) {
  const Descriptor directory(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0));
  const std::string path =
      "/proc/self/fd/" + std::to_string(directory.get()) + "/" + socket_name(attempt);
  // On the socket before its name is there: what it is bound to takes its mode, whatever the umask.
  if (socket) (void)::fchmod(socket.get(), 0600);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (directory && socket && path.size() < sizeof address.sun_path) {
    std::memcpy(&address.sun_path[0], path.c_str(), path.size() + 1);
    if (call(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
      return socket;
    }
  }
  const bool nobody = errno == ENOENT || errno == ECONNREFUSED;
  return fail(Error{nobody ? ErrorCode::kNotFound : ErrorCode::kIo,
                    std::string("the supervisor's socket: ") + std::strerror(errno),
                    folder + "/" + socket_name(attempt),
                    {},
                    {}});
}

}  // namespace

Result<void> make_runtime_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0711) != 0 && errno != EEXIST) {
    return fail(Error{ErrorCode::kIo,
                      std::string("cannot be made: ") + std::strerror(errno),
                      path,
                      {},
                      kAnotherFolder});
  }
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return {};  // removed again: who uses it sees that
  if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() ||
      ::chmod(path.c_str(), 0711) != 0) {
    return fail(Error{
        ErrorCode::kIo, "is not a folder of the server's own user", path, {}, kAnotherFolder});
  }
  return {};
}

Result<Descriptor> listen_for(const std::string& folder, const std::string& attempt) {
  forget(folder, attempt);
  Result<Descriptor> bound = at_address(folder, attempt, SOCK_NONBLOCK, &::bind);
  for (int i = 0; i < kMostTries && !bound && bound.error().code == ErrorCode::kNotFound; ++i) {
    FAIRLEAD_TRY(make_runtime_folder(folder));
    bound = at_address(folder, attempt, SOCK_NONBLOCK, &::bind);
  }
  FAIRLEAD_ASSIGN(Descriptor socket, std::move(bound));
  if (::listen(socket.get(), 16) == 0) return socket;
  return fail(ErrorCode::kIo, std::string("a socket cannot listen: ") + std::strerror(errno));
}

Descriptor accept_trusted(int listener) {
  Descriptor connection(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  ucred peer{};
  socklen_t size = sizeof peer;
  if (!connection || ::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return {};
  }
  return peer.uid == 0 || peer.uid == ::geteuid() ? std::move(connection) : Descriptor();
}

Result<Descriptor> connect_to(const std::string& folder, const std::string& attempt) {
  return at_address(folder, attempt, SOCK_NONBLOCK, &::connect);
}

void forget(const std::string& folder, const std::string& attempt) {
  ::unlink((folder + "/" + socket_name(attempt)).c_str());
}

namespace {

Sent send_with(int flags, int socket, std::string_view text, int descriptor) {
  iovec part{const_cast<char*>(text.data()), text.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char beside[CMSG_SPACE(sizeof(int))] = {};
  if (descriptor >= 0) {
    header.msg_control = &beside[0];
    header.msg_controllen = sizeof beside;
    cmsghdr* item = CMSG_FIRSTHDR(&header);
    item->cmsg_level = SOL_SOCKET;
    item->cmsg_type = SCM_RIGHTS;
    item->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(item), &descriptor, sizeof descriptor);
  }
  ssize_t sent = -1;
  do {
    sent = ::sendmsg(socket, &header, MSG_NOSIGNAL | flags);
  } while (sent < 0 && errno == EINTR);
  if (sent == static_cast<ssize_t>(text.size())) return Sent::kSent;
  return sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? Sent::kFull : Sent::kGone;
}

}  // namespace

bool send_message(int socket, std::string_view text, int descriptor) {
  return send_with(0, socket, text, descriptor) == Sent::kSent;
}

Sent try_send_message(int socket, std::string_view text, int descriptor) {
  return send_with(MSG_DONTWAIT, socket, text, descriptor);
}

Received receive_message(int socket, Message& message, bool wait) {
  message.text.resize(kLongestMessage);
  iovec part{message.text.data(), message.text.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char beside[CMSG_SPACE(sizeof(int))] = {};
  header.msg_control = &beside[0];
  header.msg_controllen = sizeof beside;
  ssize_t got = -1;
  do {
    got = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
  } while (got < 0 && errno == EINTR);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    message.text.clear();
    return Received::kNothingYet;
  }
  message.text.resize(static_cast<std::size_t>(got > 0 ? got : 0));
  for (cmsghdr* item = CMSG_FIRSTHDR(&header); item != nullptr; item = CMSG_NXTHDR(&header, item)) {
    if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS) continue;
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(item), sizeof descriptor);
    message.descriptor.reset(descriptor);
  }
  return got > 0 ? Received::kMessage : Received::kClosed;
}

Result<std::pair<Descriptor, Descriptor>> packet_pair() {
  return pair_of(SOCK_SEQPACKET);
}

Result<std::pair<Descriptor, Descriptor>> stream_pair() {
  return pair_of(SOCK_STREAM);
}

}  // namespace fairlead::engine
