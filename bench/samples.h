// Times of single operations, reported as percentiles beside Google Benchmark's mean.
//
// Processor time of this thread: what others do on the machine meanwhile does not count.
#pragma once

#include <algorithm>
#include <time.h>
#include <vector>

#include <benchmark/benchmark.h>

namespace fairlead::bench {

inline double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

class Samples {
 public:
  explicit Samples(benchmark::State& state) : state_(state) {}

  // Runs and times one operation as one iteration. Requires: the benchmark uses manual time.
  template <class Operation>
  void time(Operation&& operation) {
    const double begin = thread_seconds();
    operation();
    const double took = thread_seconds() - begin;
    state_.SetIterationTime(took);
    seconds_.push_back(took);
  }

  void report() {
    if (seconds_.empty()) return;
    std::sort(seconds_.begin(), seconds_.end());
    state_.counters["p50_us"] = at(0.50);
    state_.counters["p99_us"] = at(0.99);
    state_.counters["max_us"] = at(1.0);
    state_.counters["samples"] = static_cast<double>(seconds_.size());
  }

 private:
  double at(double part) const {
    const auto last = static_cast<double>(seconds_.size() - 1);
    return seconds_[static_cast<std::size_t>(part * last)] * 1e6;
  }

  benchmark::State& state_;
  std::vector<double> seconds_;
};

}  // namespace fairlead::bench
