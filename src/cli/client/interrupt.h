// Ctrl-C as something that a command handles: while an Interrupt lives, SIGINT, SIGTERM, SIGHUP
// (the terminal closes) and SIGQUIT do not end the process but call a function, once, on a thread
// of its own.
//
// One at a time in a process. The signals' former ways are back when it is gone.
#pragma once

#include <array>
#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

namespace fairlead::cli {

inline constexpr int kExitInterrupted = 130;

class Interrupt {
 public:
  // `on_interrupt` must be quick and may run while the owner works.
  explicit Interrupt(std::function<void()> on_interrupt);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool came() const { return came_; }

 private:
  std::function<void()> on_interrupt_;
  std::atomic<bool> came_ = false;
  static constexpr std::array<int, 4> kSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  std::array<struct sigaction, kSignals.size()> before_{};
  std::thread thread_;
};

}  // namespace fairlead::cli
