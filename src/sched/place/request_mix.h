// The observed mix of requests (rule 6.2): how often each task class was asked for lately.
//
// Counts decay: once their sum passes a bound all are halved, so a mix follows the site over some
// ten thousand requests. rebuild_due() paces the users of the mix: scores that depend on it are
// void at each rebuild, so rebuilds get rarer as the mix settles. Of observed classes the kMost
// heaviest are remembered, of equal ones the latest; their table keeps them while they are.
// Cost: observe() O(1), O(classes) for a new one beyond kMost.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sched/state/task_class.h"

namespace fairlead::sched {

class RequestMix {
 public:
  struct Item {
    const TaskClass* task = nullptr;
    std::int64_t weight = 0;
  };

  RequestMix() = default;
  RequestMix(const RequestMix&) = delete;
  RequestMix& operator=(const RequestMix&) = delete;
  ~RequestMix();

  void observe(const TaskClass& task);
  // Replaces everything; from then on the mix is what was stated.
  void state(const std::vector<std::pair<const TaskClass*, std::int64_t>>& mix);

  // True once after enough was observed since the last time.
  bool rebuild_due();

  // Classes with a weight above 0, by id.
  std::vector<Item> items() const;
  std::int64_t total() const { return total_; }
  // All that are remembered, also those stated with a weight of 0.
  std::vector<TaskClassId> classes() const;

  // Below this many observed requests there is no mix to speak of.
  static constexpr std::int64_t kEnough = 100;
  static constexpr std::size_t kMost = 1024;

 private:
  struct Kept {
    Item item;                // no task: not remembered
    std::uint64_t since = 0;  // order in which they came
  };
  Kept& kept(const TaskClass& task);
  void drop(Kept& kept);
  void drop_lightest();

  std::vector<Kept> by_class_;
  std::size_t count_ = 0;
  std::uint64_t next_ = 0;
  std::int64_t total_ = 0;
  std::int64_t seen_ = 0;
  std::int64_t next_rebuild_ = kEnough;
  bool stated_ = false;
  bool due_ = false;
};

}  // namespace fairlead::sched
