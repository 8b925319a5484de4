// All that the scheduler knows, at one moment: what a client needs to play on from there. And the
// parts of it that the server keeps for its next start.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "model/cluster.h"
#include "model/document.h"
#include "model/findings.h"
#include "model/tree.h"
#include "sched/event.h"

namespace fairlead::control {

struct Present {
  Instant at;
  ClusterSpec cluster;              // with what runs and what waits
  std::vector<std::string> frozen;  // workloads that hold their place and stand still
  std::vector<sched::UsageRestored> usage;
  std::vector<sched::RuntimesRestored> runtimes;
};

// Cost: O(everything), some 10 microseconds for each workload.
Tree present_tree(const Present& present);
Present read_present(const Value& value, Findings& findings);

// Lists of the stored history.
Tree usage_tree(const std::vector<sched::UsageRestored>& usage);
Tree runtimes_tree(const std::vector<sched::RuntimesRestored>& runtimes);
sched::UsageRestored read_usage(const Value& value, Findings& findings);
sched::RuntimesRestored read_runtimes(const Value& value, Findings& findings);

}  // namespace fairlead::control
