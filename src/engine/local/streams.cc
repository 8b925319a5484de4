#include "engine/local/streams.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>

namespace fairlead::engine {
namespace {

constexpr std::size_t kMostRead = std::size_t{64} << 10;

Result<void> make_pipe(Descriptor& reads, Descriptor& writes, bool ours_reads) {
  int ends[2];
  if (::pipe2(&ends[0], O_CLOEXEC) != 0) {
    return fail(ErrorCode::kIo, std::string("no pipe can be made: ") + std::strerror(errno));
  }
  reads.reset(ends[0]);
  writes.reset(ends[1]);
  (void)::fcntl(ends[ours_reads ? 0 : 1], F_SETFL, O_NONBLOCK);
  return {};
}

}  // namespace

Result<void> Streams::open(bool terminal, bool input, WindowSize window, ProcessPlan& plan) {
  terminal_ = terminal;
  plan.terminal = terminal;
  if (terminal) {
    FAIRLEAD_ASSIGN(Terminal made, open_terminal(window, plan.launch->run_as));
    output_ = std::move(made.master);
    input_.reset(::fcntl(output_.get(), F_DUPFD_CLOEXEC, 3));
    far_[0] = std::move(made.slave);
    plan.input = plan.output = plan.error = far_[0].get();
    return {};
  }
  if (input) {
    FAIRLEAD_TRY(make_pipe(far_[0], input_, false));
  } else {
    far_[0].reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  FAIRLEAD_TRY(make_pipe(output_, far_[1], true));
  FAIRLEAD_TRY(make_pipe(error_, far_[2], true));
  plan.input = far_[0].get();
  plan.output = far_[1].get();
  plan.error = far_[2].get();
  return {};
}

void Streams::close_far_side() {
  for (Descriptor& one : far_) one.reset();
}

Streams::Got Streams::read(bool error, std::string& bytes) {
  Descriptor& from = error ? error_ : output_;
  if (!from) return Got::kEnd;
  bytes.resize(kMostRead);
  ssize_t got = -1;
  do {
    got = ::read(from.get(), bytes.data(), bytes.size());
  } while (got < 0 && errno == EINTR);
  bytes.resize(static_cast<std::size_t>(got > 0 ? got : 0));
  if (got > 0) return Got::kBytes;
  if (got < 0 && errno == EAGAIN) return Got::kNothingYet;
  from.reset();  // a terminal says EIO once nobody has its slave open
  return Got::kEnd;
}

void Streams::push() {
  while (input_ && !pending_.empty()) {
    const ssize_t written = ::write(input_.get(), pending_.data(), pending_.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) return;
    if (written <= 0) {
      input_.reset();
      pending_.clear();
      return;
    }
    pending_.erase(0, static_cast<std::size_t>(written));
  }
  if (ended_ && !terminal_) input_.reset();
}

void Streams::close() {
  input_.reset();
  output_.reset();
  error_.reset();
}

}  // namespace fairlead::engine
