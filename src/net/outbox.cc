#include "net/outbox.h"

#include <utility>

namespace fairlead::net {

Outbox::Outbox(std::size_t limit, Callbacks callbacks, std::function<void()> wake)
    : limit_(limit), callbacks_(std::move(callbacks)), wake_(std::move(wake)) {}

Push Outbox::push(Item item) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || finished_ || abandoned_) return Push::kClosed;
    if (!items_.empty() && bytes_ + item.bytes.size() > limit_) {
      refused_ = true;
      return Push::kFull;
    }
    bytes_ += item.bytes.size();
    items_.push_back(std::move(item));
    if (std::exchange(woken_, true)) return Push::kQueued;
  }
  wake_();
  return Push::kQueued;
}

bool Outbox::finish(std::string last) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || finished_ || abandoned_) return false;
    finished_ = true;
    if (!last.empty()) items_.push_back({std::move(last)});
    woken_ = true;
  }
  wake_();
  return true;
}

void Outbox::abandon() {
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || finished_) return;
    abandoned_ = true;
  }
  wake_();
}

bool Outbox::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_ || finished_ || abandoned_;
}

std::deque<Item> Outbox::take() {
  const std::lock_guard lock(mutex_);
  bytes_ = 0;
  if (items_.empty()) woken_ = false;
  return std::exchange(items_, {});
}

bool Outbox::finished() const {
  const std::lock_guard lock(mutex_);
  return finished_ && items_.empty();
}

bool Outbox::abandoned() const {
  const std::lock_guard lock(mutex_);
  return abandoned_;
}

void Outbox::tell_drained() {
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || !std::exchange(refused_, false)) return;
  }
  if (callbacks_.drained) callbacks_.drained();
}

void Outbox::close() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(closed_, true)) return;
    items_.clear();
    bytes_ = 0;
  }
  const Callbacks last = std::exchange(callbacks_, {});
  if (last.closed) last.closed();
}

}  // namespace fairlead::net
