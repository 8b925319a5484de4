// The supervisor's ends of a process' input and output: three pipes, or a terminal's master.
#pragma once

#include <string>

#include "engine/descriptor.h"
#include "engine/local/task_process.h"
#include "engine/local/terminal.h"

namespace fairlead::engine {

class Streams {
 public:
  // Makes both sides; those of the process are put into `plan` and closed by close_far_side().
  // Without `input` the process reads nothing. Error: kIo.
  Result<void> open(bool terminal, bool input, WindowSize window, ProcessPlan& plan);
  void close_far_side();

  bool terminal() const { return terminal_; }
  int output() const { return output_.get(); }  // of a terminal: all of it
  int error() const { return error_.get(); }

  enum class Got : std::uint8_t { kBytes, kNothingYet, kEnd };
  // Reads what is there from output() or error(), and closes it at its end.
  Got read(bool error, std::string& bytes);

  // Input is kept until the process takes it.
  void give(std::string_view bytes) {
    if (input_) pending_ += bytes;
  }
  void end_input() { ended_ = true; }
  // Where to wait for room, -1 if nothing waits.
  int wants_room() const { return input_ && !pending_.empty() ? input_.get() : -1; }
  std::size_t pending() const { return pending_.size(); }
  void push();

  void resize(WindowSize window) {
    if (terminal_) resize_terminal(output_.get(), window);
  }
  void close();

 private:
  bool terminal_ = false;
  Descriptor input_;
  Descriptor output_;
  Descriptor error_;
  Descriptor far_[3];
  std::string pending_;
  bool ended_ = false;
};

}  // namespace fairlead::engine
