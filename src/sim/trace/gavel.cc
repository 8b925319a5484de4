#include "sim/trace/gavel.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/core.h>

namespace fairlead::sim {
namespace {

constexpr std::int64_t kMaxScale = 1 << 16;
constexpr double kMaxSteps = 1e15;
constexpr double kMaxRate = 1e9;

}  // namespace

Checked<std::vector<GavelJob>> read_gavel_jobs(const CsvFile& file) {
  FAIRLEAD_ASSIGN(const std::size_t id, checked(file.column("job_id")));
  FAIRLEAD_ASSIGN(const std::size_t arrival, checked(file.column("arrival_unit")));
  FAIRLEAD_ASSIGN(const std::size_t type, checked(file.column("job_type")));
  FAIRLEAD_ASSIGN(const std::size_t scale, checked(file.column("scale_factor")));
  FAIRLEAD_ASSIGN(const std::size_t steps, checked(file.column("total_steps")));
  std::vector<GavelJob> jobs;
  std::unordered_set<std::string> names;
  FAIRLEAD_TRY(read_rows(file, [&](std::size_t row) -> Result<void> {
    GavelJob job;
    FAIRLEAD_ASSIGN(job.name, file.text(row, id));
    if (!names.insert(job.name).second) {
      return fail(file.error(row, id, fmt::format("job '{}' is there twice", job.name),
                             "give each job its own id", ErrorCode::kAlreadyExists));
    }
    FAIRLEAD_ASSIGN(job.arrival_unit, file.number(row, arrival, 0, 1e9));
    FAIRLEAD_ASSIGN(job.type, file.text(row, type));
    FAIRLEAD_ASSIGN(const std::int64_t gpus, file.integer(row, scale, 1, kMaxScale));
    job.gpus = static_cast<std::int32_t>(gpus);
    FAIRLEAD_ASSIGN(job.steps, file.number(row, steps, 0, kMaxSteps));
    jobs.push_back(std::move(job));
    return {};
  }));
  std::stable_sort(jobs.begin(), jobs.end(), [](const GavelJob& a, const GavelJob& b) {
    return a.arrival_unit < b.arrival_unit;
  });
  return jobs;
}

Checked<GavelThroughputs> read_gavel_throughputs(const CsvFile& file) {
  FAIRLEAD_ASSIGN(const std::size_t worker, checked(file.column("worker_type")));
  FAIRLEAD_ASSIGN(const std::size_t type, checked(file.column("job_type")));
  FAIRLEAD_ASSIGN(const std::size_t scale, checked(file.column("scale_factor")));
  FAIRLEAD_ASSIGN(const std::size_t rate, checked(file.column("steps_per_s")));
  GavelThroughputs table;
  FAIRLEAD_TRY(read_rows(file, [&](std::size_t row) -> Result<void> {
    FAIRLEAD_ASSIGN(const std::string gpu, file.text(row, worker));
    FAIRLEAD_ASSIGN(const std::string job, file.text(row, type));
    FAIRLEAD_ASSIGN(const std::int64_t gpus, file.integer(row, scale, 1, kMaxScale));
    FAIRLEAD_ASSIGN(const double steps, file.number(row, rate, 0, kMaxRate));
    if (!table.emplace(std::tuple(gpu, job, static_cast<std::int32_t>(gpus)), steps).second) {
      return fail(file.error(row, type,
                             fmt::format("'{}' on {} with {} GPUs is there twice", job, gpu, gpus),
                             "keep one of the lines", ErrorCode::kAlreadyExists));
    }
    return {};
  }));
  return table;
}

}  // namespace fairlead::sim
