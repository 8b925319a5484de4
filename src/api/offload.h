// Makes answers that take long, one after the other, on a thread of its own: neither the control
// thread nor those of the HTTP server wait for them.
//
// Thread-safe.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace fairlead::api {

class Offload {
 public:
  static constexpr std::size_t kMost = 8;  // that wait

  Offload();
  Offload(const Offload&) = delete;
  Offload& operator=(const Offload&) = delete;
  ~Offload();  // after the one under way; what waits is dropped

  // False: so many wait already.
  bool add(std::function<void()> work);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  // All below: guarded by mutex_.
  std::deque<std::function<void()>> waiting_;
  bool stop_ = false;
  std::jthread thread_;
};

}  // namespace fairlead::api
