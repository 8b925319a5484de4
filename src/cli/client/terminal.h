// The terminal of the person: raw while a session or a view owns it, and as it was on every way
// out.
#pragma once

#include <optional>
#include <string>
#include <termios.h>

namespace fairlead::cli {

// Every key goes to the owner at once, unechoed. Does nothing where standard input is no terminal.
//
// The owner must handle the signals that would end the process (interrupt.h), so that this is
// destroyed. With kInterrupt Ctrl-C is one of them; Ctrl-Z and Ctrl-\ always come as keys.
class RawTerminal {
 public:
  enum class Signals : bool { kInterrupt, kAsKeys };

  explicit RawTerminal(Signals signals);
  ~RawTerminal();
  // Stops the process as Ctrl-Z does, with the terminal as it was; returns when it goes on.
  void suspend() const;
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

 private:
  bool changed_ = false;
  termios before_{};
  termios raw_{};
};

// Without echo, for a secret; nullopt if the person interrupts.
std::optional<std::string> ask_secret(const std::string& prompt);

struct WindowSize {
  int columns = 80;
  int rows = 24;
  friend bool operator==(WindowSize, WindowSize) = default;
};

// Of standard output.
WindowSize window_size();

}  // namespace fairlead::cli
