#include "control/change_log.h"

#include <algorithm>

namespace fairlead::control {

void ChangeLog::publish(std::vector<Change> changes) {
  const std::scoped_lock lock(mutex_);
  for (Change& change : changes) {
    for (const auto& [ticket, watcher] : watchers_) watcher(change);
    last_ = change.revision;
    changes_.push_back(std::move(change));
    if (changes_.size() > keep_) {
      first_ = changes_.front().revision;
      changes_.pop_front();
    }
  }
}

bool ChangeLog::begin(std::int64_t since, Watcher watcher, Ticket& ticket) {
  const std::scoped_lock lock(mutex_);
  if (since < first_ || since > last_) return false;
  const auto after = std::upper_bound(
      changes_.begin(), changes_.end(), since,
      [](std::int64_t revision, const Change& change) { return revision < change.revision; });
  for (auto it = after; it != changes_.end(); ++it) watcher(*it);
  ticket = next_ticket_++;
  watchers_.emplace(ticket, std::move(watcher));
  return true;
}

void ChangeLog::end(Ticket ticket) {
  const std::scoped_lock lock(mutex_);
  watchers_.erase(ticket);
}

std::int64_t ChangeLog::last() const {
  const std::scoped_lock lock(mutex_);
  return last_;
}

std::size_t ChangeLog::watchers() const {
  const std::scoped_lock lock(mutex_);
  return watchers_.size();
}

}  // namespace fairlead::control
