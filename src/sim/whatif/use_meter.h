// GPU time used and offered during a run, in all and by equal parts of its time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "sched/event.h"

namespace fairlead::sim {

class UseMeter {
 public:
  UseMeter(Instant start, Instant end, std::size_t buckets);

  // Counts the time up to `now`. Before the changes of `now`. Cost: O(buckets passed).
  void advance(Instant now);
  void use(std::int64_t milli) { used_ += milli; }  // negative: given back
  // What nodes there are; an event that the core accepted.
  void note(const sched::Event& event);

  // GPUs × ms.
  double used_gpu_ms() const;
  double capacity_gpu_ms() const;
  // Mean GPUs used and offered, by bucket.
  std::vector<std::pair<double, double>> means() const;

 private:
  struct Sums {
    double used = 0;  // milli-GPU × ms
    double capacity = 0;
  };
  void count_node(const std::string& name);

  Instant start_;
  Instant end_;
  Instant now_;
  std::vector<Sums> buckets_;
  std::map<std::string, NodeSpec> nodes_;
  std::map<std::string, std::int64_t> offered_;  // by node
  std::int64_t used_ = 0;
  std::int64_t capacity_ = 0;
};

}  // namespace fairlead::sim
