#include "engine/local/session.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>

namespace fairlead::engine {

SessionExit exit_of(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    return {SessionExit::Kind::kSignal, WTERMSIG(wait_status), {}};
  }
  return {SessionExit::Kind::kExitCode, WEXITSTATUS(wait_status), {}};
}

Session::Session(Descriptor client, SessionKind kind) : client_(std::move(client)), kind_(kind) {
  (void)::fcntl(client_.get(), F_SETFL, O_NONBLOCK);
}

void Session::ended(int wait_status) {
  pid_ = 0;
  // All that it wrote before it ended is in the pipes by now.
  std::string bytes;
  for (const bool error : {false, true}) {
    while (streams_.read(error, bytes) == Streams::Got::kBytes) {
      append_frame(outgoing_, error ? Channel::kError : Channel::kOutput, bytes);
    }
  }
  streams_.close();
  say_exit(exit_of(wait_status));
}

void Session::say(Channel channel, std::string_view bytes) {
  if (said_exit_ || gone()) return;
  if (kind_ == SessionKind::kAttach && !wants_more()) {
    skipped_ += static_cast<std::int64_t>(bytes.size());
    return;
  }
  if (skipped_ > 0) {
    append_frame(outgoing_, Channel::kNote,
                 std::to_string(skipped_) + " bytes were skipped; the log has them");
    skipped_ = 0;
  }
  append_frame(outgoing_, channel, bytes);
}

void Session::say_exit(const SessionExit& exit) {
  if (said_exit_) return;
  outgoing_ += exit_frame(exit);
  said_exit_ = true;
}

void Session::flush() {
  while (!outgoing_.empty()) {
    const ssize_t sent =
        ::send(client_.get(), outgoing_.data(), outgoing_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    if (sent <= 0) {
      broken_ = true;
      return;
    }
    outgoing_.erase(0, static_cast<std::size_t>(sent));
  }
}

void Session::hear(Streams& to, bool hung_up) {
  char bytes[16384];
  const ssize_t got = ::recv(client_.get(), &bytes[0], sizeof bytes, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    // Only its sending side closed: that is the end of input, it still wants to read.
    heard_end_ = true;
    broken_ = broken_ || hung_up || got < 0;
    if (kind_ == SessionKind::kExec) to.end_input();
    to.push();
    return;
  }
  parser_.feed({&bytes[0], static_cast<std::size_t>(got)});
  for (;;) {
    auto frame = parser_.next();
    if (!frame) {
      broken_ = true;
      return;
    }
    if (!*frame) break;
    if ((*frame)->channel == Channel::kInput) {
      if ((*frame)->bytes.empty()) {
        to.end_input();
      } else {
        to.give((*frame)->bytes);
      }
      to.push();
    } else if ((*frame)->channel == Channel::kResize) {
      if (const auto window = parse_resize((*frame)->bytes)) to.resize(*window);
    }
  }
}

void Session::relay() {
  std::string bytes;
  for (const bool error : {false, true}) {
    while (wants_more() && streams_.read(error, bytes) == Streams::Got::kBytes) {
      say(error ? Channel::kError : Channel::kOutput, bytes);
    }
  }
}

}  // namespace fairlead::engine
