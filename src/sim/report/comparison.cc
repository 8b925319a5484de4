#include "sim/report/comparison.h"

namespace fairlead::sim {

Result<Comparison> compare_fairness(const ClusterSpec& cluster, const std::vector<TraceJob>& jobs,
                                    const ReplayOptions& options, const ReplayResult& result,
                                    const Summary& summary, const Progress& progress) {
  Comparison out;
  out.policies.push_back({options.policy.name(), summary.finish_time, summary.completion});
  for (const char* name : {"fifo", "las"}) {
    if (options.policy.name() == name) continue;
    ReplayOptions other = options;
    FAIRLEAD_ASSIGN(other.policy, ServicePolicy::named(name));
    FAIRLEAD_ASSIGN(const ReplayResult beside, replay(cluster, jobs, other, progress));
    Summary of_other = summarise(beside, 1);
    out.policies.push_back({name, std::move(of_other.finish_time), of_other.completion});
  }
  FAIRLEAD_ASSIGN(out.safety, check_safety(cluster, jobs, options, result));
  return out;
}

}  // namespace fairlead::sim
