// Reads logs for all who asked, on one thread: as fast as each client takes what is there, and for
// those who follow some times a second for what is new.
//
// Invariant: for one client there wait its stream's queue and the text of one page, no more.
// Cost: one page of each client that takes it, in turns. Thread-safe.
#pragma once

#include <list>
#include <memory>
#include <thread>

#include "api/streams.h"

namespace fairlead::api {

class LogPump {
 public:
  LogPump();
  LogPump(const LogPump&) = delete;
  LogPump& operator=(const LogPump&) = delete;
  ~LogPump();  // cuts what is under way

  // Answers by `writer` from now on.
  void add(LogRequest request, engine::OutputReader reader, const net::ResponseWriter& writer);

 private:
  class Follower;
  struct Bell;

  void run();
  bool serve(std::list<std::shared_ptr<Follower>>& followers, bool look_for_new);

  // Of its own, for the callbacks of streams that are still there when this is gone.
  const std::shared_ptr<Bell> bell_;
  std::jthread thread_;
};

}  // namespace fairlead::api
