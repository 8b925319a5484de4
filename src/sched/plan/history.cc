#include "sched/plan/history.h"

#include <algorithm>

namespace fairlead::sched {

void RuntimeHistory::note(const std::string& user, const std::string& template_name, Duration ran) {
  if (user.empty() && template_name.empty()) return;
  const Key key{user, template_name};
  const auto [it, fresh] = by_key_.try_emplace(key);
  Kept& kept = it->second;
  if (fresh) {
    kept.noted = noted_.insert(noted_.end(), key);
    if (by_key_.size() > kMostKeys) {
      by_key_.erase(noted_.front());
      noted_.pop_front();
    }
  } else {
    noted_.splice(noted_.end(), noted_, kept.noted);
  }
  if (kept.last.size() < kKept) {
    kept.last.push_back(ran);
  } else {
    kept.last[kept.next] = ran;
    kept.next = (kept.next + 1) % kKept;
  }
}

std::optional<RuntimeHistory::Seen> RuntimeHistory::of(const std::string& user,
                                                       const std::string& template_name) const {
  const auto it = by_key_.find({user, template_name});
  if (it == by_key_.end() || it->second.last.size() < kFewest) return std::nullopt;
  std::vector<Duration> sorted = it->second.last;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t n = sorted.size();
  return Seen{sorted[(n - 1) / 2], sorted[(n * 9 + 9) / 10 - 1]};
}

}  // namespace fairlead::sched
