#include "sched/plan/forecast.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <queue>
#include <set>
#include <utility>

namespace fairlead::sched {

// One course of events: room, and what will end when.
class Forecast::Play {
 public:
  Play(const Forecast& forecast, bool late) : forecast_(forecast), room_(forecast.free_) {
    std::vector<End> ends;
    for (const auto& [end, most] : forecast.running_) {
      ends.push_back(end);
      if (late) ends.back().at = most;
      ends.back().at = std::max(ends.back().at, forecast.now_);
    }
    ends_ = std::priority_queue<End, std::vector<End>, std::greater<>>(std::greater<>(),
                                                                       std::move(ends));
  }

  bool fits(std::size_t id) const {
    const Need& need = forecast_.needs_[id];
    if (need.cpu > room_.cpu || need.memory > room_.memory) return false;
    std::int64_t milli = 0;
    for (std::size_t g = 0; g < need.groups.size(); ++g) {
      if (need.groups[g]) milli += room_.milli[g];
    }
    return need.milli <= milli;
  }

  // Requires: it fits. What has no length never gives its room back.
  void start(std::size_t id, Instant at, std::optional<Duration> length) {
    const Need& need = forecast_.needs_[id];
    End end;
    std::int64_t left = need.milli;
    for (std::size_t g = 0; g < need.groups.size() && left > 0; ++g) {
      if (!need.groups[g]) continue;
      const std::int64_t taken = std::min(left, room_.milli[g]);
      room_.milli[g] -= taken;
      left -= taken;
      if (taken > 0) end.milli.emplace_back(g, taken);
    }
    room_.cpu -= end.cpu = need.cpu;
    room_.memory -= end.memory = need.memory;
    if (!length) return;
    end.at = at + *length;
    ends_.push(std::move(end));
  }

  // Moves on to when something ends next, and gives back its room; nothing if nothing does.
  std::optional<Instant> next() {
    if (ends_.empty()) return std::nullopt;
    const Instant at = ends_.top().at;
    while (!ends_.empty() && ends_.top().at == at) {
      const End& end = ends_.top();
      for (const auto& [group, milli] : end.milli) room_.milli[group] += milli;
      room_.cpu += end.cpu;
      room_.memory += end.memory;
      ends_.pop();
    }
    return at;
  }

 private:
  const Forecast& forecast_;
  ForecastRoom room_;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

void Forecast::ends(Instant likely, Instant most, std::size_t group, std::int64_t milli,
                    std::int64_t cpu, std::int64_t memory) {
  running_.push_back({{likely, {{group, milli}}, cpu, memory}, most});
}

void Forecast::waits(std::size_t need, std::optional<Duration> likely,
                     std::optional<Duration> most) {
  waiting_.push_back({need, likely, most});
}

std::size_t Forecast::need(Need need) {
  const auto it = std::find(needs_.begin(), needs_.end(), need);
  if (it != needs_.end()) return static_cast<std::size_t>(it - needs_.begin());
  needs_.push_back(std::move(need));
  return needs_.size() - 1;
}

std::vector<Forecast::Range> Forecast::play() const {
  std::vector<Range> out(waiting_.size());
  Play late(*this, true);
  Instant t = now_;
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    std::optional<Instant> next = t;
    while (next && !late.fits(waiting_[i].need)) next = late.next();
    if (!next) break;  // nor does anything behind it
    t = std::max(t, *next);
    out[i].latest = t;
    late.start(waiting_[i].need, t, waiting_[i].most);
  }

  Play early(*this, false);
  std::vector<std::deque<std::size_t>> lines(needs_.size());
  for (std::size_t i = 0; i < waiting_.size(); ++i) lines[waiting_[i].need].push_back(i);
  std::set<std::size_t> firsts;  // of the lines
  for (const auto& line : lines) {
    if (!line.empty()) firsts.insert(line.front());
  }
  for (std::optional<Instant> now = now_; now && !firsts.empty(); now = early.next()) {
    std::size_t looked_at = 0;
    for (auto it = firsts.begin(); it != firsts.end() && looked_at < kLookAhead; ++looked_at) {
      const std::size_t i = *it;
      const std::size_t need = waiting_[i].need;
      if (!early.fits(need)) {
        ++it;
        continue;
      }
      out[i].earliest = *now;
      early.start(need, *now, waiting_[i].likely);
      firsts.erase(it);
      lines[need].pop_front();
      if (!lines[need].empty()) firsts.insert(lines[need].front());
      it = firsts.begin();
      looked_at = 0;
    }
  }
  // Filling holes may make what is long wait longer than in its turn.
  for (Range& range : out) {
    if (range.earliest && range.latest && *range.earliest > *range.latest)
      std::swap(range.earliest, range.latest);
  }
  return out;
}

}  // namespace fairlead::sched
