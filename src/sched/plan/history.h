// How long tasks of one template and user ran (9.1): the last few of each.
//
// Cost: O(log keys) to note one, O(kept) to ask. Memory: kKept durations for at most kMostKeys
// keys; of more, the one that was noted longest ago is forgotten.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"

namespace fairlead::sched {

class RuntimeHistory {
 public:
  static constexpr std::size_t kKept = 32;
  static constexpr std::size_t kFewest = 3;  // of fewer nothing is concluded
  static constexpr std::size_t kMostKeys = 10'000;

  struct Seen {
    Duration likely;  // the median
    Duration most;    // nine of ten took no longer
  };

  // Without a template and without a user nothing is alike.
  void note(const std::string& user, const std::string& template_name, Duration ran);
  // Those of before, the oldest first: as if noted before all that is known of them.
  void restore(const std::string& user, const std::string& template_name,
               const std::vector<Duration>& last);
  std::optional<Seen> of(const std::string& user, const std::string& template_name) const;

  using Key = std::pair<std::string, std::string>;
  // What was noted longest ago first; of each the oldest run first.
  std::vector<std::pair<Key, std::vector<Duration>>> all() const;

 private:
  struct Kept {
    std::vector<Duration> last;  // a ring
    std::size_t next = 0;
    std::list<Key>::iterator noted;
  };
  std::map<Key, Kept> by_key_;
  std::list<Key> noted_;  // the latest last
};

}  // namespace fairlead::sched
