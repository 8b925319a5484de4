// One session of a task as its supervisor sees it: a client that speaks frames, and either the
// task's own streams (attach) or a process of its own (exec).
//
// A slow client of exec holds its process up; a slow client of attach loses output (and is told),
// for the task must not wait for it.
#pragma once

#include <string>
#include <sys/types.h>

#include "engine/frames.h"
#include "engine/local/streams.h"

namespace fairlead::engine {

class Session {
 public:
  Session(Descriptor client, SessionKind kind);

  SessionKind kind() const { return kind_; }
  int client() const { return client_.get(); }
  bool gone() const { return !client_ || broken_; }
  bool finished() const { return said_exit_ && outgoing_.empty(); }

  // Of exec.
  pid_t pid() const { return pid_; }
  Streams& streams() { return streams_; }
  void began(pid_t pid) { pid_ = pid; }
  void ended(int wait_status);

  bool wants_more() const { return outgoing_.size() < kRoom; }
  bool wants_to_say() const { return !outgoing_.empty(); }
  bool listens() const { return !heard_end_; }

  void say(Channel channel, std::string_view bytes);
  void say_exit(const SessionExit& exit);
  void flush();
  // Reads frames; input and sizes go to `to`. `hung_up`: the other side is closed altogether.
  void hear(Streams& to, bool hung_up);
  // What the process of exec wrote, until there is nothing or no room.
  void relay();

 private:
  static constexpr std::size_t kRoom = std::size_t{256} << 10;

  Descriptor client_;
  SessionKind kind_;
  bool broken_ = false;
  bool heard_end_ = false;
  bool said_exit_ = false;
  FrameParser parser_;
  std::string outgoing_;
  std::int64_t skipped_ = 0;
  pid_t pid_ = 0;
  Streams streams_;
};

SessionExit exit_of(int wait_status);

}  // namespace fairlead::engine
