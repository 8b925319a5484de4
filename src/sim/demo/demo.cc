#include "sim/demo/demo.h"

namespace fairlead::sim {

const std::string& demo_cluster_document() {
  static const std::string document =
      R"yaml(# A small cluster with three projects, the one of `fairlead simulate demo`.
apiVersion: fairlead/v1
kind: Cluster

topology: [rack]

nodes:
  - name: h100-{0}
    count: 4
    cpu: 96
    memory: 1Ti
    numa: 2
    gpus: {class: H100-80GB, count: 8, perNuma: 4, perNvlinkIsland: 8}
    topology: {rack: r1}
  - name: l40s-{0}
    count: 4
    cpu: 64
    memory: 512Gi
    gpus: 4 x L40S
    topology: {rack: r2}

queues:
  - name: vision
    quota: {gpu: 20}
  - name: language
    quota: {gpu: 20}
  - name: robotics
    quota: {gpu: 8}
)yaml";
  return document;
}

GeneratorOptions demo_options(std::uint64_t seed) {
  GeneratorOptions options;
  options.seed = seed;
  options.jobs = 900;
  options.jobs_per_hour = 15;
  options.arrivals = ArrivalPattern::kDiurnal;
  options.sizes = {{250, 14}, {500, 14}, {1000, 40}, {2000, 14}, {4000, 10}, {8000, 5}, {16000, 1}};
  options.duration_median = minutes(50);
  options.duration_sigma = 1.4;
  options.duration_max = hours(16);
  options.projects = {{"vision", 5}, {"language", 4}, {"robotics", 2}};
  options.cpu_milli_per_gpu = 8000;
  options.memory_mib_per_gpu = 49'152;
  return options;
}

}  // namespace fairlead::sim
