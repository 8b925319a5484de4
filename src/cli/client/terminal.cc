#include "cli/client/terminal.h"

#include <csignal>
#include <iostream>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/client/interrupt.h"

namespace fairlead::cli {
namespace {

constexpr int kLookMs = 100;  // for an interrupt

}  // namespace

RawTerminal::RawTerminal(Signals signals) {
  if (::tcgetattr(STDIN_FILENO, &before_) != 0) return;
  raw_ = before_;
  ::cfmakeraw(&raw_);
  if (signals == Signals::kInterrupt) {
    raw_.c_lflag |= ISIG;
    raw_.c_oflag |= OPOST;
    raw_.c_cc[VSUSP] = _POSIX_VDISABLE;
    raw_.c_cc[VQUIT] = _POSIX_VDISABLE;
  }
  changed_ = ::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw_) == 0;
}

RawTerminal::~RawTerminal() {
  if (changed_) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
}

void RawTerminal::suspend() const {
  if (!changed_) return;
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
  ::kill(0, SIGTSTP);  // all of the pipeline, as the terminal would
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw_);
}

std::optional<std::string> ask_secret(const std::string& prompt) {
  termios before{};
  const bool terminal = ::tcgetattr(STDIN_FILENO, &before) == 0;
  bool interrupted = false;
  std::string secret;
  {
    const Interrupt interrupt([] {});
    if (terminal) {
      termios silent = before;
      silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
      ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
    }
    std::cerr << prompt << std::flush;
    while (!interrupt.came()) {
      pollfd input{STDIN_FILENO, POLLIN, 0};
      if (::poll(&input, 1, kLookMs) <= 0) continue;
      char key = 0;
      if (::read(STDIN_FILENO, &key, 1) <= 0 || key == '\n') break;
      secret += key;
    }
    interrupted = interrupt.came();
    if (terminal) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
  }
  std::cerr << "\n";
  if (interrupted) return std::nullopt;
  return secret;
}

WindowSize window_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {};
  return {size.ws_col, size.ws_row};
}

}  // namespace fairlead::cli
