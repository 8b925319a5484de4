// Carries bytes between a WebSocket and a stream socket, on a thread of its own, until one of them
// ends.
//
// Invariant: what waits is bounded both ways. A slow WebSocket is not read for from the socket; a
// slow socket stops the reading of the WebSocket. Thread-safe but for accept(), which comes before
// run().
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/descriptor.h"
#include "net/writer.h"

namespace fairlead::api {

// How the two ends speak. Each way is called by one thread at a time, and both at once.
class Dialect {
 public:
  struct Inward {
    std::string bytes;
    bool end = false;  // no more will come this way
  };

  Dialect() = default;
  Dialect(const Dialect&) = delete;
  Dialect& operator=(const Dialect&) = delete;
  virtual ~Dialect() = default;

  virtual std::string protocol() const = 0;  // of the WebSocket; may be empty
  virtual Result<Inward> inward(net::Message message) = 0;
  virtual Result<std::deque<std::string>> outward(std::string_view bytes) = 0;
  // Whether the socket may end after what it has said.
  virtual bool whole() const = 0;
  // Whether one way may end before the other; an empty message says so.
  virtual bool ends_by_halves() const { return false; }
};

std::unique_ptr<Dialect> session_dialect();  // session_words.h
std::unique_ptr<Dialect> plain_dialect();    // bytes as they are; an empty message is their end

class Relay : public std::enable_shared_from_this<Relay> {
 public:
  // Error: kUnavailable (no descriptor is left).
  static Result<std::shared_ptr<Relay>> create(engine::Descriptor socket,
                                               std::unique_ptr<Dialect> dialect);

  // False if the writer answered something else, or has before.
  bool accept(const net::ResponseWriter& writer);
  void run();
  // Makes run() return soon; the peer is told `words`.
  void stop(std::uint16_t code, const std::string& words);

 private:
  Relay(engine::Descriptor socket, engine::Descriptor bell, std::unique_ptr<Dialect> dialect)
      : bell_(std::move(bell)), dialect_(std::move(dialect)), socket_(std::move(socket)) {}

  void ring() const;
  void got(net::Message message);
  bool ended();
  void send_in();
  bool send_some();
  void send_out();
  void read_socket();
  void wait();

  const engine::Descriptor bell_;  // an eventfd that wakes run()
  const std::unique_ptr<Dialect> dialect_;

  std::atomic<bool> gone_ = false;  // the WebSocket is closed
  std::atomic<bool> takes_ = true;  // the WebSocket may have room

  std::mutex mutex_;  // guards what follows
  net::WebSocket web_;
  std::string inbox_;
  bool inbox_ended_ = false;
  bool paused_ = false;
  std::uint16_t farewell_ = 0;  // the code to close with; 0: go on
  std::string farewell_words_;

  // Of the thread of run().
  engine::Descriptor socket_;
  std::string in_;
  bool in_over_ = false;  // the socket takes nothing more
  std::deque<std::string> out_;
  bool out_over_ = false;  // the socket says nothing more
  bool end_said_ = false;  // and the peer was told
};

}  // namespace fairlead::api
