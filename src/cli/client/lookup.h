// From what a person names to what the server knows: workloads by name, tasks by role and index.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/client/api_client.h"

namespace fairlead::cli {

struct FoundWorkload {
  Reply reply;  // owns what `value` points into
  const Value* value = nullptr;

  std::string id() const;
  std::string name() const;
};

// The workload of this name (or id); of several the youngest that has not been deleted. `project`
// empty: in any. Errors: kNotFound with the nearest name; kInvalidArgument if projects have it.
Result<FoundWorkload> find_workload(ApiClient& api, const std::string& name,
                                    const std::string& project);

// One again, as it is now.
Result<FoundWorkload> read_workload(ApiClient& api, const std::string& id);

struct TaskChoice {
  std::string task;   // "worker-1", "1", or an id; empty: all of the last attempt
  std::string index;  // -i; empty: any
};

// "worker-1": role and index, as people name a task.
std::string task_name(const Value& task);

// The tasks that are meant, in the order of role and index; of each only its last attempt.
// Error: kNotFound if there is none, naming those that there are.
Result<std::vector<const Value*>> choose_tasks(const Listing& tasks, const TaskChoice& choice,
                                               const std::string& workload);

// The one that a command runs in: chosen, else the first that runs.
Result<const Value*> choose_running_task(const Listing& tasks, const TaskChoice& choice,
                                         const std::string& workload);

// "train-4": the prefix and the number behind the highest that is in use.
Result<std::string> next_name(ApiClient& api, const std::string& prefix,
                              const std::string& project);

}  // namespace fairlead::cli
