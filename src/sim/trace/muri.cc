#include "sim/trace/muri.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include <fmt/core.h>

#include "base/wide.h"

namespace fairlead::sim {
namespace {

constexpr std::int64_t kMaxGpus = 1 << 16;
constexpr std::int64_t kMaxIterations = std::int64_t{1} << 40;
constexpr std::int64_t kMaxIterationMs = std::int64_t{1} << 20;
constexpr std::int64_t kMaxTraceMs = std::int64_t{100} * 366 * 86'400'000;
// The authors' simulator runs every iteration 1.5 % slower than it was profiled.
constexpr std::int64_t kSlowdownMilli = 1015;

struct Overheads {
  const char* model;
  std::array<std::int64_t, 6> seconds;  // for 1, 2, 4, 8, 16, 32 GPUs
};

constexpr std::array<Overheads, 8> kOverheads{{
    {"vgg16", {7, 7, 8, 9, 9, 10}},
    {"vgg19", {7, 7, 8, 9, 10, 10}},
    {"resnet18", {4, 5, 5, 7, 7, 7}},
    {"shufflenet_v2_x1_0", {4, 4, 5, 5, 7, 8}},
    {"bert", {10, 10, 10, 10, 10, 10}},
    {"gpt2", {10, 10, 10, 10, 10, 10}},
    {"a2c", {38, 39, 39, 46, 46, 46}},
    {"dqn", {5, 5, 6, 6, 8, 8}},
}};

}  // namespace

Duration muri_start_overhead(const std::string& model, std::int32_t gpus) {
  for (const Overheads& row : kOverheads) {
    if (row.model != model) continue;
    for (std::size_t i = 0; i < row.seconds.size(); ++i) {
      if (gpus == 1 << i) return seconds(row.seconds[i]);
    }
  }
  return seconds(10);
}

Checked<std::vector<MuriJob>> read_muri_jobs(const CsvFile& file) {
  FAIRLEAD_ASSIGN(const std::size_t id, checked(file.column("job_id")));
  FAIRLEAD_ASSIGN(const std::size_t gpus, checked(file.column("num_gpu")));
  FAIRLEAD_ASSIGN(const std::size_t submit, checked(file.column("submit_time")));
  FAIRLEAD_ASSIGN(const std::size_t iterations, checked(file.column("iterations")));
  FAIRLEAD_ASSIGN(const std::size_t model, checked(file.column("model_name")));
  FAIRLEAD_ASSIGN(const std::size_t iteration_time, checked(file.column("iteration_time")));
  std::vector<MuriJob> jobs;
  std::unordered_set<std::string> names;
  FAIRLEAD_TRY(read_rows(file, [&](std::size_t row) -> Result<void> {
    MuriJob job;
    FAIRLEAD_ASSIGN(const std::string number, file.text(row, id));
    if (!names.insert(number).second) {
      return fail(file.error(row, id, fmt::format("job '{}' is there twice", number),
                             "give each job its own id", ErrorCode::kAlreadyExists));
    }
    job.name = "job-" + number;
    FAIRLEAD_ASSIGN(const std::int64_t count, file.integer(row, gpus, 1, kMaxGpus));
    job.gpus = static_cast<std::int32_t>(count);
    FAIRLEAD_ASSIGN(job.submit.ms, file.integer(row, submit, 0, kMaxTraceMs));
    FAIRLEAD_ASSIGN(const std::int64_t steps, file.integer(row, iterations, 1, kMaxIterations));
    FAIRLEAD_ASSIGN(const std::int64_t step_ms,
                    file.integer(row, iteration_time, 1, kMaxIterationMs));
    job.work.ms = mul_div_ceil(steps * step_ms, kSlowdownMilli, 1000);
    if (job.work.ms > kMaxTraceMs) {
      return fail(
          file.error(row, iterations,
                     fmt::format("{} iterations of {} ms take over 100 years", steps, step_ms),
                     "state fewer iterations or a shorter iteration_time", ErrorCode::kOutOfRange));
    }
    FAIRLEAD_ASSIGN(job.model, file.text(row, model));
    jobs.push_back(std::move(job));
    return {};
  }));
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const MuriJob& a, const MuriJob& b) { return a.submit < b.submit; });
  return jobs;
}

}  // namespace fairlead::sim
