// Which job runs on which GPU type: the assignment with the highest sum of weights.
//
// A transportation problem with few types, solved one job at a time: a new job enters a type, and a
// chain of moves between types ends at one with GPUs left; the best chain is found by Bellman-Ford
// on the types (Ahuja, Magnanti, Orlin, "Network Flows", successive shortest paths). Exact while
// all jobs take one GPU; with larger jobs a move keeps its size, and the sum may be below the
// highest. Cost: O(jobs × types² + types³) per job. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fairlead::sim {

class TypeAssignment {
 public:
  void add_type(std::int64_t gpus);

  // `weights` by type, higher is better, below 0: cannot run there. False: there is no room for it
  // on any type, whatever moves; nothing has changed. Jobs taken are numbered from 0.
  bool add_job(std::int64_t gpus, std::vector<std::int64_t> weights);

  int type_of(std::size_t job) const { return jobs_[job].type; }

 private:
  struct Job {
    std::int64_t gpus = 1;
    std::vector<std::int64_t> weights;
    int type = -1;
  };
  std::vector<std::int64_t> free_;
  std::vector<Job> jobs_;
};

}  // namespace fairlead::sim
