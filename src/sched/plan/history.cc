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

void RuntimeHistory::restore(const std::string& user, const std::string& template_name,
                             const std::vector<Duration>& last) {
  std::vector<Duration> known;
  const auto it = by_key_.find({user, template_name});
  if (it != by_key_.end()) {
    const Kept& kept = it->second;
    for (std::size_t i = 0; i < kept.last.size(); ++i)
      known.push_back(kept.last[(kept.next + i) % kept.last.size()]);
    noted_.erase(kept.noted);
    by_key_.erase(it);
  }
  for (const Duration ran : last) note(user, template_name, ran);
  for (const Duration ran : known) note(user, template_name, ran);
}

std::vector<std::pair<RuntimeHistory::Key, std::vector<Duration>>> RuntimeHistory::all() const {
  std::vector<std::pair<Key, std::vector<Duration>>> out;
  for (const Key& key : noted_) {
    const Kept& kept = by_key_.at(key);
    std::vector<Duration> last;
    for (std::size_t i = 0; i < kept.last.size(); ++i)
      last.push_back(kept.last[(kept.next + i) % kept.last.size()]);
    out.emplace_back(key, std::move(last));
  }
  return out;
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
