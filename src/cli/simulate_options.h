// What the simulate commands share: seeds, files, the progress bar, where reports go.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/app.h"
#include "cli/output.h"
#include "model/cluster.h"
#include "model/cluster_reader.h"
#include "sim/cluster/progress.h"

namespace fairlead::cli {

// "42-51", "1,2,7", "1-3,9": in the order stated. At most 10,000 seeds, each at most 2^63 − 1.
// Error: kInvalidArgument, naming the part that cannot be read.
Result<std::vector<std::uint64_t>> parse_seeds(std::string_view text);

// One line on standard error that shows how far a run is; nothing unless that is a terminal.
// Part `part` of `parts` is running. Clears its line when it goes.
class ProgressBar {
 public:
  ProgressBar(CliContext& context, std::string what);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  sim::Progress part(std::size_t number, std::size_t parts);

 private:
  void show(double done);
  CliContext& context_;
  std::string what_;
  int shown_ = -1;  // per mille
};

// --policy: the service orders of sim/replay/policy.h.
void add_policy_option(CLI::App& command, std::string& target);
// The placement policies of the core, by the name that the command gives the option.
void add_placement_option(CLI::App& command, const char* name, std::string& target);
// What a start after a job's first costs: 0 to 30 days. `word` may stand for a duration.
void add_restart_cost_option(CLI::App& command, std::string& target, const std::string& what,
                             std::string_view word = {});
// --fairness: also the comparison of sim/report/comparison.h.
void add_fairness_option(CLI::App& command, bool& target);
void add_seed_option(CLI::App& command, std::uint64_t& target, const std::string& what);

// What a file of documents holds. Reports what is wrong and sets context.exit_status.
std::optional<ClusterDocument> load_documents(const std::string& path, CliContext& context);

// The `kind: Cluster` document of a file. Reports what is wrong and sets context.exit_status.
bool load_cluster(const std::string& path, ClusterSpec& cluster, CliContext& context);

struct OutputFlag {
  std::string flag;
  std::string path;
  bool required = false;  // standard output if no path is stated
};

// False after reporting that one of these files cannot be written, is written by two flags or is
// read too: better before a long replay than after it. Empty and "-" are standard output.
bool check_outputs(CliContext& context, const std::vector<OutputFlag>& outputs,
                   const std::vector<std::string>& inputs);

// Writes the page to `path` if it is set. False: reported, and context.exit_status set.
bool write_page(CliContext& context, const std::string& path, const std::string& html);

}  // namespace fairlead::cli
