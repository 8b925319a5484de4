// Who holds something open that goes on: a terminal in a task, a log that is followed, a watch.
// What they hold ends when they may not have it any more: their token or session is removed or
// over, their user deleted, disabled or given fewer rights.
//
// Cost: nothing while nobody's rights change; then one look at each guest, within kPeriod.
// Thread-safe.
#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include "control/caller.h"

namespace fairlead::api {

// Of one guest. What is held calls when_cut() once it can be ended.
class Leash {
 public:
  explicit Leash(control::Caller caller) : caller_(std::move(caller)) {}

  const control::Caller& caller() const { return caller_; }
  // `end` is called once, at once if it is cut already. It must not block.
  void when_cut(std::function<void()> end);
  void cut();
  bool is_cut() const;

 private:
  const control::Caller caller_;
  mutable std::mutex mutex_;
  bool cut_ = false;           // guarded by mutex_
  std::function<void()> end_;  // guarded by mutex_
};

class Guests {
 public:
  static constexpr Duration kPeriod = seconds(1);

  // `may`: whether the caller may still do what they might when they came. `rights`: a number that
  // changes whenever somebody's rights do.
  Guests(std::function<bool(const control::Caller&)> may, std::function<std::uint64_t()> rights,
         std::function<Instant()> now);
  Guests(const Guests&) = delete;
  Guests& operator=(const Guests&) = delete;
  ~Guests();

  std::shared_ptr<Leash> admit(const control::Caller& caller);

 private:
  void run();
  bool due(std::uint64_t rights, Instant now);

  const std::function<bool(const control::Caller&)> may_;
  const std::function<std::uint64_t()> rights_;
  const std::function<Instant()> now_;

  std::mutex mutex_;
  std::condition_variable stopping_;
  // All below: guarded by mutex_.
  bool stop_ = false;
  std::list<std::weak_ptr<Leash>> leashes_;
  std::uint64_t seen_ = 0;      // of rights_
  Instant first_end_ = kNever;  // of what they came with
  std::jthread thread_;
};

}  // namespace fairlead::api
