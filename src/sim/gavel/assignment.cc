#include "sim/gavel/assignment.h"

#include <limits>

namespace fairlead::sim {
namespace {

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min() / 4;
constexpr std::size_t kNoJob = std::numeric_limits<std::size_t>::max();

}  // namespace

void TypeAssignment::add_type(std::int64_t gpus) {
  free_.push_back(gpus);
}

bool TypeAssignment::add_job(std::int64_t gpus, std::vector<std::int64_t> weights) {
  const std::size_t types = free_.size();
  // gain[a][b]: the best change of the sum if one job of this size moves from type a to b.
  std::vector<std::vector<std::int64_t>> gain(types, std::vector<std::int64_t>(types, kNone));
  std::vector<std::vector<std::size_t>> mover(types, std::vector<std::size_t>(types, kNoJob));
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    const Job& job = jobs_[j];
    if (job.gpus != gpus) continue;
    const auto a = static_cast<std::size_t>(job.type);
    for (std::size_t b = 0; b < types; ++b) {
      if (b == a || job.weights[b] < 0) continue;
      const std::int64_t change = job.weights[b] - job.weights[a];
      if (change <= gain[a][b]) continue;
      gain[a][b] = change;
      mover[a][b] = j;
    }
  }
  // best[t]: the highest sum with one job of this size too many on type t.
  std::vector<std::int64_t> best(types, kNone);
  std::vector<std::size_t> from(types, kNoJob);
  for (std::size_t t = 0; t < types; ++t) {
    if (weights[t] >= 0) best[t] = weights[t];
  }
  for (std::size_t round = 1; round < types; ++round) {
    for (std::size_t a = 0; a < types; ++a) {
      if (best[a] == kNone) continue;
      for (std::size_t b = 0; b < types; ++b) {
        if (gain[a][b] == kNone || best[a] + gain[a][b] <= best[b]) continue;
        best[b] = best[a] + gain[a][b];
        from[b] = a;
      }
    }
  }
  std::size_t end = kNoJob;
  for (std::size_t t = 0; t < types; ++t) {
    if (free_[t] < gpus || best[t] == kNone) continue;
    if (end == kNoJob || best[t] > best[end]) end = t;
  }
  if (end == kNoJob) return false;
  free_[end] -= gpus;
  std::size_t at = end;
  for (std::size_t step = 0; step < types && from[at] != kNoJob; ++step) {
    const std::size_t a = from[at];
    jobs_[mover[a][at]].type = static_cast<int>(at);
    at = a;
  }
  jobs_.push_back(Job{gpus, std::move(weights), static_cast<int>(at)});
  return true;
}

}  // namespace fairlead::sim
