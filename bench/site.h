// A made-up site for benchmarks: nodes in racks, queues under departments, a mix of requests.
//
// The same scale gives the same site. Everything goes through the public face of the scheduler.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"
#include "sched/scheduler.h"

namespace fairlead::bench {

struct SiteScale {
  std::int64_t nodes = 1000;  // of 8 devices each, 32 nodes a rack
  std::int64_t queues = 100;  // leaves, under departments of 50
  bool taking_back = true;    // rule 7
  std::int64_t pending = 0;   // left waiting by fill()
};

inline constexpr std::int64_t kDevicesPerNode = 8;
inline constexpr std::int64_t kNodesPerRack = 32;

// A workload of one role of `tasks` tasks; whole devices, or thousandths of one if below 1000.
WorkloadSpec gang(std::string name, std::string queue, std::int64_t milli_per_task,
                  std::int32_t tasks = 1);

class Site {
 public:
  // Nodes and queues; nothing waits or runs.
  explicit Site(const SiteScale& scale);

  // Submits the mix and decides until all devices are held and `scale.pending` workloads wait.
  void fill();

  sched::Scheduler& scheduler() { return *scheduler_; }
  const SiteScale& scale() const { return scale_; }

  // Applies one event a millisecond after the last one; it must be accepted.
  void tell(const sched::Event& event);
  // Decides, and keeps what started for end_one(). Returns the number of workloads started.
  std::int64_t decide();

  // The next of the mix: about 50 request shapes, queues drawn evenly.
  WorkloadSpec next_workload();
  // A workload of one task that runs has ended well: the event of it. It is forgotten here.
  sched::TaskEnded end_one();
  std::string node_name(std::int64_t i) const { return "node-" + std::to_string(i); }
  std::string queue_name(std::int64_t i) const { return "project-" + std::to_string(i); }
  QueueSpec queue(std::int64_t i) const;

  std::int64_t counter(const std::string& name) const;

  // Resident memory of the process after each step, bytes.
  struct Memory {
    std::int64_t before = 0;   // nothing yet
    std::int64_t nodes = 0;    // + nodes
    std::int64_t queues = 0;   // + queues
    std::int64_t indices = 0;  // + one workload of each shape submitted
    std::int64_t pending = 0;  // + all submitted, none started
    std::int64_t running = 0;  // + decided: the cluster is full
    std::int64_t submitted = 0;
  };
  const Memory& memory() const { return memory_; }

 private:
  struct Shape {
    std::int64_t milli = 1000;
    std::int32_t tasks = 1;
    std::int64_t weight = 1;
    std::string within;
    std::int64_t cpu_per_device = 4;
    bool non_preemptible = false;
    std::int32_t min = 0;  // 0: all tasks
  };
  void make_mix();
  WorkloadSpec workload_of(const Shape& shape);

  SiteScale scale_;
  Rng rng_{1};
  std::unique_ptr<sched::Scheduler> scheduler_;
  Instant now_;
  std::vector<Shape> mix_;
  std::int64_t mix_weight_ = 0;
  std::int64_t next_name_ = 0;
  std::vector<std::string> running_;  // workloads of one task
  Memory memory_;
};

// Resident bytes of this process.
std::int64_t resident_bytes();

}  // namespace fairlead::bench
