#include "engine/local/wire.h"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace fairlead::engine {
namespace {

Result<std::pair<Descriptor, Descriptor>> pair_of(int type) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, &ends[0]) != 0) {
    return fail(ErrorCode::kIo, std::string("a socket cannot be made: ") + std::strerror(errno),
                errno == EMFILE || errno == ENFILE ? "raise the limit on open files" : "");
  }
  return std::pair(Descriptor(ends[0]), Descriptor(ends[1]));
}

}  // namespace

bool send_message(int socket, std::string_view text, int descriptor) {
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
    sent = ::sendmsg(socket, &header, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(text.size());
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
