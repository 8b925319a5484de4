#include "sim/trace/own.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include <fmt/core.h>

#include "base/decimal.h"
#include "base/nearest.h"
#include "base/quantity.h"

namespace fairlead::sim {
namespace {

constexpr std::int64_t kMaxSeconds = std::int64_t{100} * 366 * 86'400;
constexpr std::int64_t kMaxTasks = 1 << 16;
constexpr std::int64_t kMaxGpus = 1024;
constexpr std::int64_t kMaxGpusOfJob = std::int64_t{1} << 24;
constexpr std::int64_t kMaxCpus = 1 << 16;
constexpr std::int64_t kMaxPriority = 1'000'000;

constexpr std::array<const char*, 16> kColumns{
    "name",     "submit_s",   "duration_s",     "project", "user",        "kind",
    "priority", "tasks",      "last_task_gpus", "gpus",    "gpu_portion", "gpu_memory_mib",
    "cpu",      "memory_mib", "device_classes", "outcome"};

constexpr std::array<std::pair<const char*, WorkloadKind>, 4> kKinds{{
    {"training", WorkloadKind::kTraining},
    {"workspace", WorkloadKind::kWorkspace},
    {"distributed", WorkloadKind::kDistributed},
    {"inference", WorkloadKind::kInference},
}};

const char* kind_name(WorkloadKind kind) {
  for (const auto& [name, value] : kKinds) {
    if (value == kind) return name;
  }
  return "training";
}

// One row through the columns that the file has.
class RowReader {
 public:
  explicit RowReader(const CsvFile& file) : file_(file) {
    for (const char* name : kColumns) columns_.push_back(file.find_column(name));
  }

  Result<TraceJob> read(std::size_t row) const;

 private:
  // The column's position if it is there and the cell is not empty.
  std::optional<std::size_t> at(std::size_t row, std::string_view name) const {
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      if (kColumns[i] != name) continue;
      if (columns_[i] && !file_.cell(row, *columns_[i]).empty()) return columns_[i];
    }
    return std::nullopt;
  }
  std::string text(std::size_t row, std::string_view name, std::string otherwise) const {
    const auto column = at(row, name);
    return column ? std::string(file_.cell(row, *column)) : otherwise;
  }
  Result<std::int64_t> amount(std::size_t row, std::string_view name, int places, std::int64_t low,
                              std::int64_t high, std::int64_t otherwise) const {
    const auto column = at(row, name);
    return column ? file_.scaled(row, *column, places, low, high) : Result<std::int64_t>(otherwise);
  }
  Result<GpuRequest> gpu(std::size_t row) const;

  const CsvFile& file_;
  std::vector<std::optional<std::size_t>> columns_;
};

Result<GpuRequest> RowReader::gpu(std::size_t row) const {
  GpuRequest gpu;
  FAIRLEAD_ASSIGN(const std::int64_t count, amount(row, "gpus", 0, 0, kMaxGpus, 1));
  if (count == 0) return gpu;
  gpu.kind = GpuRequestKind::kDevices;
  gpu.count = static_cast<std::int32_t>(count);
  const auto portion = at(row, "gpu_portion");
  const auto memory = at(row, "gpu_memory_mib");
  if (portion && memory) {
    return fail(file_.error(row, *memory, "gpu_portion is stated too", "leave one of them empty"));
  }
  if (portion) {
    FAIRLEAD_ASSIGN(const std::int64_t milli, file_.scaled(row, *portion, 3, 0, 1));
    if (milli == 0 || milli == kMilli) {
      return fail(file_.error(
          row, *portion, fmt::format("'{}' is no part of a GPU", file_.cell(row, *portion)),
          "allowed is 0.001 to 0.999; leave it empty for whole GPUs", ErrorCode::kOutOfRange));
    }
    gpu.kind = GpuRequestKind::kPortion;
    gpu.portion = MilliGpu(milli);
  } else if (memory) {
    FAIRLEAD_ASSIGN(gpu.memory.value, file_.integer(row, *memory, 1, kMaxAmount));
    gpu.kind = GpuRequestKind::kMemory;
  }
  return gpu;
}

Result<TraceJob> RowReader::read(std::size_t row) const {
  TraceJob job;
  job.name = text(row, "name", fmt::format("job-{:06}", row));
  job.project = text(row, "project", "default");
  job.user = text(row, "user", "");
  FAIRLEAD_ASSIGN(const std::size_t submit, file_.column("submit_s"));
  FAIRLEAD_ASSIGN(const std::size_t duration, file_.column("duration_s"));
  FAIRLEAD_ASSIGN(job.submit.ms, file_.scaled(row, submit, 3, 0, kMaxSeconds));
  FAIRLEAD_ASSIGN(const std::int64_t ms, file_.scaled(row, duration, 3, 0, kMaxSeconds));
  job.run_time = milliseconds(std::max<std::int64_t>(1, ms));
  FAIRLEAD_ASSIGN(const std::int64_t tasks, amount(row, "tasks", 0, 1, kMaxTasks, 1));
  job.tasks = static_cast<std::int32_t>(tasks);
  if (const auto kind = at(row, "kind")) {
    const auto known = std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& k) {
      return file_.cell(row, *kind) == k.first;
    });
    if (known == kKinds.end()) {
      return fail(file_.error(row, *kind, fmt::format("'{}' is not a kind", file_.cell(row, *kind)),
                              "allowed are training, workspace, distributed, inference"));
    }
    job.kind = known->second;
  } else if (job.tasks > 1) {
    job.kind = WorkloadKind::kDistributed;
  }
  FAIRLEAD_ASSIGN(const std::int64_t priority,
                  amount(row, "priority", 0, -kMaxPriority, kMaxPriority, job.priority));
  job.priority = static_cast<std::int32_t>(priority);
  FAIRLEAD_ASSIGN(job.request.gpu, gpu(row));
  if (tasks * job.request.gpu.count > kMaxGpusOfJob) {
    return fail(file_.error(row, *at(row, "tasks"),
                            fmt::format("{} tasks of {} GPUs are more than {} GPUs", tasks,
                                        job.request.gpu.count, kMaxGpusOfJob),
                            "lower one of them", ErrorCode::kOutOfRange));
  }
  FAIRLEAD_ASSIGN(job.request.cpu.value, amount(row, "cpu", 3, 0, kMaxCpus, 0));
  FAIRLEAD_ASSIGN(const std::int64_t mib, amount(row, "memory_mib", 0, 0, kMaxAmount >> 20, 0));
  job.request.memory = Bytes(mib << 20);
  FAIRLEAD_ASSIGN(const std::int64_t last, amount(row, "last_task_gpus", 0, 0, kMaxGpus, 0));
  job.last_gpus = static_cast<std::int32_t>(last);
  if (last > 0 && job.request.gpu.kind != GpuRequestKind::kDevices) {
    return fail(file_.error(row, *at(row, "last_task_gpus"), "the other tasks ask for no whole GPU",
                            "leave it empty, or state whole GPUs in column gpus"));
  }
  std::string classes = text(row, "device_classes", "");
  while (!classes.empty()) {
    const std::size_t bar = std::min(classes.find('|'), classes.size());
    if (bar > 0) job.device_classes.push_back(classes.substr(0, bar));
    classes.erase(0, bar + 1);
  }
  const std::string outcome = text(row, "outcome", "succeeded");
  if (outcome != "succeeded" && outcome != "failed") {
    return fail(file_.error(row, *at(row, "outcome"), fmt::format("'{}' is no outcome", outcome),
                            "allowed are succeeded and failed"));
  }
  if (outcome == "failed") job.outcome = JobOutcome::kFailed;
  return job;
}

}  // namespace

Checked<std::vector<TraceJob>> read_trace(const CsvFile& file) {
  const std::vector<std::string> known(kColumns.begin(), kColumns.end());
  RowErrors errors;
  for (const std::string& column : file.columns()) {
    if (std::find(known.begin(), known.end(), column) != known.end()) continue;
    const std::string near = nearest_name(column, known);
    errors.add(Error{ErrorCode::kInvalidArgument,
                     fmt::format("column '{}' is not known", column),
                     file.name() + ":1",
                     {},
                     near.empty() ? "known are " + listing(known, known.size())
                                  : fmt::format("did you mean '{}'?", near)});
  }
  for (const char* column : {"submit_s", "duration_s"}) {
    if (auto found = file.column(column); !found) errors.add(std::move(found).error());
  }
  if (!errors.empty()) return std::unexpected(errors.take(file.name()));
  const RowReader reader(file);
  std::vector<TraceJob> jobs;
  std::unordered_set<std::string> names;
  FAIRLEAD_TRY(read_rows(file, [&](std::size_t row) -> Result<void> {
    FAIRLEAD_ASSIGN(TraceJob job, reader.read(row));
    if (!names.insert(job.name).second) {
      return fail(file.error(row, file.find_column("name").value_or(0),
                             fmt::format("job '{}' is there twice", job.name),
                             "give each job its own name", ErrorCode::kAlreadyExists));
    }
    jobs.push_back(std::move(job));
    return {};
  }));
  sort_by_submit(jobs);
  return jobs;
}

std::string trace_text(const std::vector<TraceJob>& jobs) {
  std::string out =
      "name,submit_s,duration_s,project,user,kind,priority,tasks,last_task_gpus,gpus,gpu_portion,"
      "gpu_memory_mib,cpu,memory_mib,device_classes,outcome\n";
  for (const TraceJob& job : jobs) {
    const GpuRequest& gpu = job.request.gpu;
    std::string classes;
    for (const std::string& name : job.device_classes)
      classes += (classes.empty() ? "" : "|") + name;
    out +=
        fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_cell(job.name),
                    decimal_text(job.submit.ms, 3), decimal_text(job.run_time.ms, 3),
                    csv_cell(job.project), csv_cell(job.user), kind_name(job.kind), job.priority,
                    job.tasks, job.last_gpus > 0 ? std::to_string(job.last_gpus) : "", gpu.count,
                    gpu.kind == GpuRequestKind::kPortion ? decimal_text(gpu.portion.value, 3) : "",
                    gpu.kind == GpuRequestKind::kMemory ? std::to_string(gpu.memory.value) : "",
                    decimal_text(job.request.cpu.value, 3), job.request.memory.value >> 20,
                    csv_cell(classes), job.outcome == JobOutcome::kFailed ? "failed" : "succeeded");
  }
  return out;
}

}  // namespace fairlead::sim
