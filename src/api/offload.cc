#include "api/offload.h"

#include <utility>

namespace fairlead::api {

Offload::Offload() : thread_([this] { run(); }) {}

Offload::~Offload() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
}

bool Offload::add(std::function<void()> work) {
  {
    const std::scoped_lock lock(mutex_);
    if (waiting_.size() >= kMost) return false;
    waiting_.push_back(std::move(work));
  }
  changed_.notify_one();
  return true;
}

void Offload::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
    if (stop_) return;
    const std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

}  // namespace fairlead::api
