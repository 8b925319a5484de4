// What a producer on any thread has handed over and a slow peer has not taken yet: a bounded queue.
//
// Invariant: never holds more than `limit` bytes, but for one item that goes into an empty queue
// and one last item. The callbacks run on the consumer's thread, without a lock held; after
// `closed` none comes any more. Thread-safety: push, finish, abandon and closed() from any thread;
// the rest is the consumer's.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>

namespace fairlead::net {

// What became of a write: taken, refused because the peer is too slow, refused because it is over.
enum class Push { kQueued, kFull, kClosed };

struct Item {
  std::string bytes;
  bool binary = false;
};

class Outbox {
 public:
  struct Callbacks {
    std::function<void()> drained;  // empty again, after a push was refused
    std::function<void()> closed;   // over, for whatever reason; once
  };

  // `wake` makes the consumer look, soon and on its own thread; it may be called from any.
  Outbox(std::size_t limit, Callbacks callbacks, std::function<void()> wake);

  Push push(Item item);
  // Nothing more comes after `last`, which is taken however full the queue is. False if it was
  // over.
  bool finish(std::string last);
  // The producer went away without finish().
  void abandon();
  bool closed() const;

  // For the consumer. Takes all that waits; empty if nothing does.
  std::deque<Item> take();
  bool finished() const;  // and all is taken
  bool abandoned() const;
  void tell_drained();  // calls `drained` if someone waits for it
  void close();         // calls `closed`, the first time

 private:
  const std::size_t limit_;
  Callbacks callbacks_;
  const std::function<void()> wake_;

  mutable std::mutex mutex_;
  std::deque<Item> items_;
  std::size_t bytes_ = 0;
  bool woken_ = false;
  bool refused_ = false;
  bool finished_ = false;
  bool abandoned_ = false;
  bool closed_ = false;
};

}  // namespace fairlead::net
