#include "cli/simulate_options.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <ostream>

#include <CLI/CLI.hpp>

#include "base/output_file.h"
#include "sim/replay/policy.h"

namespace fairlead::cli {
namespace {

constexpr std::size_t kMaxSeeds = 10'000;
constexpr int kBarWidth = 32;

bool parse_seed(std::string_view text, std::uint64_t& seed) {
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, seed);
  return !text.empty() && parsed.ec == std::errc{} && parsed.ptr == end &&
         seed <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
}

}  // namespace

Result<std::vector<std::uint64_t>> parse_seeds(std::string_view text) {
  std::vector<std::uint64_t> seeds;
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    const std::size_t dash = part.find('-');
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    const bool ok = parse_seed(part.substr(0, dash), first) &&
                    parse_seed(dash == std::string_view::npos ? part : part.substr(dash + 1), last);
    if (!ok || last < first) {
      return fail(ErrorCode::kInvalidArgument,
                  "\"" + std::string(part) + "\" in --seeds is not a seed or a range of seeds",
                  "write 42-51, or 1,2,7, with the lower number first; allowed are 0 to "
                  "9223372036854775807");
    }
    if (last - first >= kMaxSeeds || seeds.size() + (last - first) >= kMaxSeeds) {
      return fail(ErrorCode::kOutOfRange, "--seeds names more than 10000 seeds", "name fewer");
    }
    for (std::uint64_t seed = first; seed <= last; ++seed) {
      if (std::find(seeds.begin(), seeds.end(), seed) != seeds.end()) {
        return fail(ErrorCode::kInvalidArgument,
                    "--seeds names the seed " + std::to_string(seed) + " twice", "name it once");
      }
      seeds.push_back(seed);
    }
    if (comma == std::string_view::npos) return seeds;
    rest.remove_prefix(comma + 1);
  }
}

ProgressBar::ProgressBar(CliContext& context, std::string what)
    : context_(context), what_(std::move(what)) {}

ProgressBar::~ProgressBar() {
  if (shown_ >= 0) context_.err << "\r\x1b[K" << std::flush;
}

sim::Progress ProgressBar::part(std::size_t number, std::size_t parts) {
  if (!context_.terminal) return {};
  return [this, number, parts](double done) {
    show((static_cast<double>(number) + done) / static_cast<double>(parts));
  };
}

void ProgressBar::show(double done) {
  const int mille = static_cast<int>(std::clamp(done, 0.0, 1.0) * 1000);
  if (mille == shown_) return;
  shown_ = mille;
  const int filled = mille * kBarWidth / 1000;
  std::string bar;
  for (int i = 0; i < kBarWidth; ++i) bar += i < filled ? "█" : "░";
  context_.err << "\r" << what_ << " " << bar << " " << mille / 10 << "." << mille % 10 << " %"
               << std::flush;
}

void add_policy_option(CLI::App& command, std::string& target) {
  add_choice(*command.add_option("--policy", target, "Service order (default default)"),
             sim::ServicePolicy::names());
}

void add_placement_option(CLI::App& command, const char* name, std::string& target) {
  add_choice(*command.add_option(name, target, "On which node a task goes (default default)"),
             {"default", "random", "bestfit", "dotprod", "fgd", "firstfit"});
}

void add_restart_cost_option(CLI::App& command, std::string& target, const std::string& what,
                             std::string_view word) {
  add_duration_range(*command.add_option("--restart-cost", target, what), Duration{},
                     hours(24 * 30), word);
}

void add_fairness_option(CLI::App& command, bool& target) {
  command.add_flag("--fairness", target,
                   "Also under fifo and las, and each project alone on its quota, to compare");
}

void add_seed_option(CLI::App& command, std::uint64_t& target, const std::string& what) {
  add_range(*command.add_option("--seed", target, what), "N", std::int64_t{0},
            std::numeric_limits<std::int64_t>::max());
}

std::optional<ClusterDocument> load_documents(const std::string& path, CliContext& context) {
  const Result<std::string> text = read_document_file(path);
  if (!text) {
    context.exit_status = report(context, text.error());
    return std::nullopt;
  }
  auto document = parse_cluster(*text, document_name(path));
  if (!document) {
    context.exit_status = report_invalid(context, document.error());
    return std::nullopt;
  }
  report_warnings(context, document->warnings);
  return std::move(*document);
}

bool load_cluster(const std::string& path, ClusterSpec& cluster, CliContext& context) {
  auto document = load_documents(path, context);
  if (!document) return false;
  if (!document->has_cluster || document->cluster.nodes.empty()) {
    context.exit_status = report(context, Error{ErrorCode::kInvalidArgument,
                                                "there is no cluster with nodes in it",
                                                path,
                                                {},
                                                "state kind: Cluster and at least one node"});
    return false;
  }
  cluster = std::move(document->cluster);
  return true;
}

bool check_outputs(CliContext& context, const std::vector<OutputFlag>& outputs,
                   const std::vector<std::string>& inputs) {
  namespace fs = std::filesystem;
  const auto same = [](const std::string& a, const std::string& b) {
    std::error_code error;
    return a == b || fs::equivalent(a, b, error);
  };
  const auto refuse = [&](const Error& error) {
    context.exit_status = report(context, error);
    return false;
  };
  std::vector<OutputFlag> seen;
  for (OutputFlag output : outputs) {
    const bool standard = output.path == "-" || (output.path.empty() && output.required);
    if (standard) output.path = "-";
    if (output.path.empty()) continue;
    std::error_code error;
    const fs::file_status status = fs::status(output.path, error);
    const bool special = !standard && fs::exists(status) && !fs::is_regular_file(status) &&
                         !fs::is_directory(status);
    if (special) continue;
    for (const OutputFlag& other : seen) {
      if (!same(output.path, other.path)) continue;
      return refuse(Error{ErrorCode::kInvalidArgument,
                          "goes where " + other.flag + " goes",
                          {},
                          output.flag,
                          "name a file of its own"});
    }
    seen.push_back(output);
    if (standard) continue;
    for (const std::string& input : inputs) {
      if (input == "-" || !same(output.path, input)) continue;
      return refuse(Error{ErrorCode::kInvalidArgument,
                          "would replace \"" + input + "\", which is read",
                          {},
                          output.flag,
                          "name another file"});
    }
    // Without commit() nothing is left of it.
    if (const auto file = OutputFile::create(output.path); !file) return refuse(file.error());
  }
  return true;
}

bool write_page(CliContext& context, const std::string& path, const std::string& html) {
  if (path.empty()) return true;
  context.exit_status = write_output(context, path, html);
  return context.exit_status == 0;
}

}  // namespace fairlead::cli
