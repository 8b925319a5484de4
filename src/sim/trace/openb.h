// The openb lists of Alibaba's GPU cluster trace v2023: nodes and pods.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/csv/csv_file.h"

namespace fairlead::sim {

struct OpenbNode {
  std::string name;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  std::int32_t gpus = 0;
  std::string model;
};

struct OpenbPod {
  std::string name;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  std::int32_t gpus = 0;
  std::int64_t gpu_milli = 0;       // of each GPU; 0 if gpus is 0, 1000 if gpus > 1
  std::vector<std::string> models;  // allowed ones, as listed; empty: any

  std::int64_t milli() const { return gpu_milli * gpus; }
};

// Columns sn, cpu_milli, memory_mib, gpu, model. Node names are unique.
Checked<std::vector<OpenbNode>> read_openb_nodes(const CsvFile& file);

// Columns name, cpu_milli, memory_mib, num_gpu, gpu_milli; gpu_spec may be absent (any model).
Checked<std::vector<OpenbPod>> read_openb_pods(const CsvFile& file);

}  // namespace fairlead::sim
