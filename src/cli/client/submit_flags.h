// What a person says of a workload on the command line, as it was typed. All dialects fill the same
// fields; workload_document.h makes the document of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace fairlead::cli {

// What kind of workload the command itself asks for.
enum class SubmitKind : std::uint8_t {
  kTraining,
  kWorkspace,
  kPytorch,
  kMpi,
  kTensorflow,
  kXgboost
};

struct SubmitFlags {
  SubmitKind kind = SubmitKind::kTraining;

  // naming
  std::string name;         // the first word
  std::string name_option;  // --name
  std::string name_prefix;
  std::string project;
  std::vector<std::string> labels;

  // type and life
  bool interactive = false;
  bool preemptible = false;
  std::string preemptibility;
  std::string priority;
  std::string completions;
  std::string parallelism;
  std::string backoff_limit;
  std::string auto_delete_after;
  std::string expected_runtime;
  std::string max_runtime;
  std::string grace_period;

  // GPUs
  std::string gpu;
  std::string gpu_request_type;
  std::string gpu_portion;
  std::string gpu_portion_limit;
  std::string gpu_memory;
  std::string gpu_memory_limit;
  std::string mig_profile;

  // CPUs, memory and the rest
  std::string cpu;
  std::string cpu_limit;
  std::string memory;
  std::string memory_limit;
  std::string pids;
  std::vector<std::string> extended_resources;

  // where
  std::vector<std::string> node_pools;
  std::vector<std::string> bare_words;  // behind the name: more of --node-pools
  std::vector<std::string> node_types;
  std::vector<std::string> gpu_types;

  // the process
  std::string image;
  std::vector<std::string> environment;
  std::string working_dir;
  std::string run_as_uid;
  std::string run_as_gid;
  bool tty = false;
  bool stdin_open = false;
  bool attach = false;
  std::vector<std::string> command;  // after "--"

  // distributed
  std::string workers;
  std::string min_replicas;
  std::string max_replicas;
  bool no_master = false;
  std::string master_command;
  std::string master_args;
  std::vector<std::string> master_environment;
  std::string master_gpu;
  std::vector<std::string> master_extended_resources;

  // Those of foreign_flags.h that were given, by name.
  std::vector<std::string> foreign;
};

// Adds every flag of a submission, in groups for --help; of a distributed kind those too.
void add_submit_flags(CLI::App& command, SubmitFlags& flags);

}  // namespace fairlead::cli
