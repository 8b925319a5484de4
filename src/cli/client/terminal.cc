#include "cli/client/terminal.h"

#include <iostream>
#include <sys/ioctl.h>
#include <unistd.h>

namespace fairlead::cli {

RawTerminal::RawTerminal(Signals signals) {
  if (::tcgetattr(STDIN_FILENO, &before_) != 0) return;
  termios raw = before_;
  ::cfmakeraw(&raw);
  if (signals == Signals::kKept) {
    raw.c_lflag |= ISIG;
    raw.c_oflag |= OPOST;
  }
  changed_ = ::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
}

RawTerminal::~RawTerminal() {
  if (changed_) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
}

std::string ask_secret(const std::string& prompt) {
  std::cerr << prompt << std::flush;
  termios before{};
  const bool terminal = ::tcgetattr(STDIN_FILENO, &before) == 0;
  if (terminal) {
    termios silent = before;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
  }
  std::string secret;
  std::getline(std::cin, secret);
  if (terminal) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
  std::cerr << "\n";
  return secret;
}

WindowSize window_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {};
  return {size.ws_col, size.ws_row};
}

}  // namespace fairlead::cli
