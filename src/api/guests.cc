#include "api/guests.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace fairlead::api {

void Leash::when_cut(std::function<void()> end) {
  {
    const std::scoped_lock lock(mutex_);
    if (!cut_) {
      end_ = std::move(end);
      return;
    }
  }
  end();
}

void Leash::cut() {
  std::function<void()> end;
  {
    const std::scoped_lock lock(mutex_);
    cut_ = true;
    end = std::exchange(end_, nullptr);
  }
  if (end) end();
}

bool Leash::is_cut() const {
  const std::scoped_lock lock(mutex_);
  return cut_;
}

Guests::Guests(std::function<bool(const control::Caller&)> may,
               std::function<std::uint64_t()> rights, std::function<Instant()> now)
    : may_(std::move(may)),
      rights_(std::move(rights)),
      now_(std::move(now)),
      seen_(rights_()),
      thread_([this] { run(); }) {}

Guests::~Guests() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  stopping_.notify_all();
}

std::shared_ptr<Leash> Guests::admit(const control::Caller& caller) {
  auto leash = std::make_shared<Leash>(caller);
  const std::scoped_lock lock(mutex_);
  std::erase_if(leashes_, [](const std::weak_ptr<Leash>& one) { return one.expired(); });
  leashes_.push_back(leash);
  first_end_ = std::min(first_end_, caller.until);
  // Their rights may have changed between the look at them and this.
  seen_ = UINT64_MAX;
  return leash;
}

// Requires: mutex_ is held.
bool Guests::due(std::uint64_t rights, Instant now) {
  const bool due = rights != seen_ || first_end_ <= now;
  seen_ = rights;
  return due;
}

void Guests::run() {
  std::unique_lock lock(mutex_);
  while (
      !stopping_.wait_for(lock, std::chrono::milliseconds(kPeriod.ms), [this] { return stop_; })) {
    if (!due(rights_(), now_())) continue;
    std::vector<std::shared_ptr<Leash>> guests;
    first_end_ = kNever;
    for (const auto& one : leashes_) {
      auto leash = one.lock();
      if (!leash || leash->is_cut()) continue;
      first_end_ = std::min(first_end_, leash->caller().until);
      guests.push_back(std::move(leash));
    }
    lock.unlock();
    for (const auto& guest : guests) {
      if (!may_(guest->caller())) guest->cut();
    }
    guests.clear();
    lock.lock();
  }
}

}  // namespace fairlead::api
