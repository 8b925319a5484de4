// The training-job traces that came with Muri (SIGCOMM'22).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "sim/csv/csv_file.h"

namespace fairlead::sim {

struct MuriJob {
  std::string name;
  std::int32_t gpus = 1;
  Instant submit;
  Duration work;  // iterations × 1.015 × iteration_time, rounded up to a millisecond
  std::string model;
};

// Columns job_id, num_gpu, submit_time (ms), iterations, model_name, iteration_time (ms); others
// are ignored, `duration` too. Sorted by submit time, equal times in the order of the file.
Checked<std::vector<MuriJob>> read_muri_jobs(const CsvFile& file);

// Start overhead by model and number of GPUs, as the authors measured it: 10 s for what is not in
// their table (vgg16, vgg19, resnet18, shufflenet_v2_x1_0, bert, gpt2, a2c, dqn; 1 to 32 GPUs).
Duration muri_start_overhead(const std::string& model, std::int32_t gpus);

}  // namespace fairlead::sim
