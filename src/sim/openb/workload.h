// The fill-up workload of FGD's evaluation: which pods arrive, in which order, on which nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "sched/event.h"
#include "sim/cluster/fragmentation.h"
#include "sim/trace/openb.h"

namespace fairlead::sim {

struct OpenbInput {
  std::vector<OpenbNode> nodes;
  std::vector<OpenbPod> pods;
};

std::int64_t total_gpu_milli(const std::vector<OpenbNode>& nodes);

// One seed's arrivals: the list sorted by name and shuffled; then, up to 1.3 × the cluster's GPUs,
// pods drawn with replacement are appended (or random ones deleted if the list asks for more).
// The volume test counts one GPU of the drawn pod, as the published runs did. `nodes` is a fresh
// permutation of the node list.
struct OpenbFill {
  std::vector<OpenbPod> pods;  // names made unique: "NAME#POSITION" for those drawn again
  std::vector<OpenbNode> nodes;
};
OpenbFill make_fill(const OpenbInput& input, std::uint64_t seed);

// The mix of a pod list: classes by (CPU, GPU milli, GPUs, models), most frequent first, until the
// part `covered` of the pods is. Memory is ignored, pods without GPU are included. The measure of
// fragmentation is taken over 95 %; the core is told all and cuts by itself.
struct OpenbMix {
  struct Entry {
    OpenbPod pod;
    std::int64_t count = 0;
  };
  std::vector<Entry> entries;
};
OpenbMix mix_of(const std::vector<OpenbPod>& pods, double covered = 0.95);

// Number of the model in order of first appearance; `models` is extended where it is new.
std::size_t model_number(std::vector<std::string>& models, const std::string& model);

std::vector<MixClass> meter_classes(const OpenbMix& mix, std::vector<std::string>& models);
sched::MixStated stated(const OpenbMix& mix);

TaskRequest request_of(const OpenbPod& pod);
WorkloadSpec workload_of(const OpenbPod& pod, const std::string& queue);
NodeSpec node_of(const OpenbNode& node);

// Everything that comes before the first pod: classes (of the nodes and those that pods name),
// nodes in order, one unlimited queue, the mix.
std::vector<sched::Event> openb_cluster_events(const std::vector<OpenbNode>& nodes,
                                               const std::vector<OpenbPod>& pods,
                                               const OpenbMix& mix, const std::string& queue);

}  // namespace fairlead::sim
