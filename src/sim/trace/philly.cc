#include "sim/trace/philly.h"

#include <algorithm>

#include <fmt/core.h>

namespace fairlead::sim {
namespace {

constexpr std::int64_t kMaxGpus = 1 << 16;
constexpr std::int64_t kMaxSeconds = std::int64_t{100} * 366 * 86'400;

}  // namespace

Checked<std::vector<TraceJob>> read_philly_jobs(const CsvFile& file, std::int64_t gpus_per_node) {
  FAIRLEAD_ASSIGN(const std::size_t timestamp, checked(file.column("timestamp")));
  FAIRLEAD_ASSIGN(const std::size_t duration, checked(file.column("duration")));
  FAIRLEAD_ASSIGN(const std::size_t gpus, checked(file.column("num_gpus")));
  FAIRLEAD_ASSIGN(const std::size_t cluster, checked(file.column("cluster")));
  std::vector<TraceJob> jobs;
  jobs.reserve(file.rows());
  Instant first = kNever;
  FAIRLEAD_TRY(read_rows(file, [&](std::size_t row) -> Result<void> {
    TraceJob job;
    job.name = fmt::format("job-{:06}", row);
    std::string stamp(file.cell(row, timestamp));
    if (stamp.size() == 19 && stamp[10] == ' ') stamp[10] = 'T';
    const auto submit = parse_rfc3339(stamp + "Z");
    if (!submit) {
      return fail(file.error(row, timestamp,
                             fmt::format("'{}' is not a time", file.cell(row, timestamp)),
                             "write it as 2017-10-09 07:01:55"));
    }
    job.submit = *submit;
    first = std::min(first, job.submit);
    FAIRLEAD_ASSIGN(const std::int64_t ms, file.scaled(row, duration, 3, 0, kMaxSeconds));
    job.run_time = milliseconds(std::max<std::int64_t>(1, ms));
    FAIRLEAD_ASSIGN(const std::int64_t count, file.integer(row, gpus, 1, kMaxGpus));
    shape_gang(job, count, gpus_per_node);
    FAIRLEAD_ASSIGN(job.project, file.text(row, cluster));
    jobs.push_back(std::move(job));
    return {};
  }));
  for (TraceJob& job : jobs) job.submit = Instant{} + (job.submit - first);
  sort_by_submit(jobs);
  return jobs;
}

}  // namespace fairlead::sim
