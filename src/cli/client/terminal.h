// The terminal of the person: raw while a session or a view owns it, and as it was on every way
// out.
#pragma once

#include <string>
#include <termios.h>

namespace fairlead::cli {

// Every key goes to the owner at once, unechoed. Does nothing where standard input is no terminal.
class RawTerminal {
 public:
  enum class Signals : bool { kKept, kAsKeys };

  explicit RawTerminal(Signals signals);
  ~RawTerminal();
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

 private:
  bool changed_ = false;
  termios before_{};
};

// Without echo, for a secret.
std::string ask_secret(const std::string& prompt);

struct WindowSize {
  int columns = 80;
  int rows = 24;
  friend bool operator==(WindowSize, WindowSize) = default;
};

// Of standard output.
WindowSize window_size();

}  // namespace fairlead::cli
