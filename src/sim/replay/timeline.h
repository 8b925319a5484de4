// What is to happen, by time; at one time by kind, then in the order it was added.
#pragma once

#include <cstdint>
#include <queue>
#include <tuple>
#include <vector>

#include "base/time.h"

namespace fairlead::sim {

enum class TimedKind : std::uint8_t {
  kFinish,    // subject: job
  kRepair,    // subject: fault
  kFault,     // subject: fault; work stops
  kNotice,    // subject: fault; the core is told
  kDemotion,  // subject: job; its level of attained service changes
  kArrival,   // subject: job
  kWake,      // a back-off ends, a window opens
};

struct Timed {
  Instant at;
  TimedKind kind = TimedKind::kWake;
  std::uint32_t subject = 0;
  std::uint32_t version = 0;
};

class Timeline {
 public:
  void add(Timed what) { heap_.push(Entry{what, count_++}); }
  bool empty() const { return heap_.empty(); }
  Instant next() const { return heap_.top().what.at; }
  Timed take() {
    const Timed what = heap_.top().what;
    heap_.pop();
    return what;
  }

 private:
  struct Entry {
    Timed what;
    std::uint64_t number;
    friend bool operator<(const Entry& a, const Entry& b) {  // the heap's top is the earliest
      return std::tuple(b.what.at, b.what.kind, b.number) <
             std::tuple(a.what.at, a.what.kind, a.number);
    }
  };
  std::priority_queue<Entry> heap_;
  std::uint64_t count_ = 0;
};

}  // namespace fairlead::sim
