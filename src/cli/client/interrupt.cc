#include "cli/client/interrupt.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

#include "base/check.h"

namespace fairlead::cli {
namespace {

// What the signal handler writes to; -1 while there is no Interrupt.
volatile std::sig_atomic_t pipe_write = -1;
int pipe_read = -1;

void on_signal(int) {
  const int before = errno;
  const char byte = 'i';
  if (pipe_write >= 0) (void)!::write(pipe_write, &byte, 1);
  errno = before;
}

}  // namespace

Interrupt::Interrupt(std::function<void()> on_interrupt) : on_interrupt_(std::move(on_interrupt)) {
  FAIRLEAD_CHECK(pipe_write < 0, "one Interrupt at a time");
  int ends[2];
  FAIRLEAD_CHECK(::pipe2(ends, O_CLOEXEC) == 0, "a pipe can be made");
  pipe_read = ends[0];
  pipe_write = ends[1];
  struct sigaction action{};
  action.sa_handler = &on_signal;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], nullptr, &before_[i]);
    // What is ignored stays so: nohup means it.
    if (before_[i].sa_handler != SIG_IGN) ::sigaction(kSignals[i], &action, nullptr);
  }
  thread_ = std::thread([this] {
    char byte = 0;
    while (::read(pipe_read, &byte, 1) < 0 && errno == EINTR) {
    }
    if (byte != 'i') return;
    came_ = true;
    on_interrupt_();
  });
}

Interrupt::~Interrupt() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], &before_[i], nullptr);
  }
  const int write_end = pipe_write;
  const char byte = 'q';
  (void)!::write(write_end, &byte, 1);
  thread_.join();
  pipe_write = -1;
  ::close(write_end);
  ::close(pipe_read);
}

}  // namespace fairlead::cli
