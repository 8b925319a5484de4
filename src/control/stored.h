// Entities as JSON: what the store keeps and the API shows is one text, so that the two cannot
// differ. Attempts are for the store alone.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "control/entities.h"
#include "model/tree.h"
#include "store/store.h"

namespace fairlead::control {

struct Amounts {
  std::int64_t gpu_milli = 0;
  std::int64_t gpu_memory_mib = 0;  // of requests by memory, and of what is allocated
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
};
Tree amounts_tree(const Amounts& amounts);
// Of all tasks that run at once.
Amounts requested(const WorkloadSpec& spec);

store::Record workload_record(const Workload& workload);
store::Record task_record(const Workload& workload, const Task& task);
store::Record attempt_record(const Attempt& attempt);

// Errors: kFailed, a record that this program did not write.
Result<Workload> read_workload_record(const store::Record& record);
Result<Task> read_task_record(const store::Record& record, const WorkloadSpec& spec);
Result<Attempt> read_attempt_record(const store::Record& record);

}  // namespace fairlead::control
