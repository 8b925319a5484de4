// What a person hands in: a workload with what its tasks do. In a document it is the `kind:
// Workload` of cluster_reader.h with the fields `run`, `labels` and `autoDeleteAfter`, which say
// nothing to the scheduler.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/cluster.h"
#include "model/document.h"
#include "model/findings.h"
#include "model/tree.h"

namespace fairlead {

// What is different for one role.
struct RoleRun {
  std::vector<std::string> command;
  std::map<std::string, std::string> env;
  friend bool operator==(const RoleRun&, const RoleRun&) = default;
};

// What a task runs.
struct RunSpec {
  std::vector<std::string> command;  // program and arguments
  std::string image;
  std::string working_dir;  // absolute
  std::map<std::string, std::string> env;
  bool tty = false;
  bool keep_stdin = false;
  std::optional<std::int64_t> pids;          // processes and threads at once
  std::optional<std::int64_t> cpu_limit;     // milli
  std::optional<std::int64_t> memory_limit;  // bytes
  std::optional<std::int64_t> uid;
  std::optional<std::int64_t> gid;
  std::map<std::string, RoleRun> roles;  // by role name
  friend bool operator==(const RunSpec&, const RunSpec&) = default;

  const std::vector<std::string>& command_of(const std::string& role) const;
};

struct Submission {
  WorkloadEntry entry;
  RunSpec run;
  Labels labels;
  std::optional<Duration> auto_delete_after;
  friend bool operator==(const Submission&, const Submission&) = default;
};

// A `kind: Workload` root, or the same without apiVersion and kind. The project may be left open:
// it is empty then. Reports into findings.
Submission read_submission(const Value& value, Findings& findings);

// The fields of this header alone, for documents that hold workloads for another purpose: checks
// them and forgets them.
void check_run_fields(class ObjectReader& in, const WorkloadSpec& spec);

// As a document that read_submission() reads back equal.
Tree submission_tree(const Submission& submission);

}  // namespace fairlead
