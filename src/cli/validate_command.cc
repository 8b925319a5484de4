// fairlead validate FILE…: is this document right, and what exactly is wrong with it?
#include <algorithm>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>

#include "base/printable.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/share_document.h"
#include "cli/share_report.h"
#include "model/cluster_printer.h"
#include "model/cluster_reader.h"
#include "sim/scenario/document.h"
#include "sim/scenario/runner.h"

namespace fairlead::cli {
namespace {

struct ValidateOptions {
  std::vector<std::string> files;
  OutputFormat format = OutputFormat::kTable;
};

struct Verdict {
  std::string file;
  std::string contents;  // "16 nodes, 128 GPUs, …" if it is valid
  std::vector<Error> errors;
  std::vector<Error> warnings;
  bool unreadable = false;
};

std::string counted(std::size_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

std::string contents_of(const ClusterDocument& document) {
  const ClusterSpec& cluster = document.cluster;
  std::string workloads = counted(cluster.workloads.size(), "workload");
  if (!document.has_cluster) return workloads;
  std::size_t gpus = 0;
  for (const NodeSpec& node : cluster.nodes) gpus += node.devices.size();
  return counted(cluster.nodes.size(), "node") + ", " + counted(gpus, "GPU") + ", " +
         counted(cluster.queues.size(), "queue") + ", " + workloads;
}

void check_scenario(const std::string& text, Verdict& verdict) {
  auto scenario = sim::parse_scenario(text, verdict.file);
  if (!scenario) {
    verdict.errors = std::move(scenario).error();
    return;
  }
  std::size_t expectations = 0;
  for (const sim::Step& step : scenario->steps) {
    if (std::holds_alternative<sim::Expectation>(step.what)) ++expectations;
  }
  verdict.contents = "scenario, " + counted(expectations, "expectation");
}

void check_share(const Document& document, Verdict& verdict) {
  auto share = read_share_document(document);
  if (!share) {
    verdict.errors = std::move(share).error();
    return;
  }
  verdict.contents = "share, " + counted(share->resources.size(), "resource") + ", " +
                     counted(share->queues.size(), "queue");
  verdict.warnings = share_warnings(*share, answer_share(*share), verdict.file);
}

void check_cluster_or_workloads(const Document& document, Verdict& verdict) {
  auto cluster = parse_cluster(document);
  if (!cluster) {
    verdict.errors = std::move(cluster).error();
    return;
  }
  verdict.contents = contents_of(*cluster);
  verdict.warnings = std::move(cluster->warnings);
}

// A Share may leave its kind out.
bool is_share(const Value& root) {
  const std::string kind = document_kind(root);
  return kind == "Share" || (kind.empty() && root.find("totals") != nullptr);
}

Verdict check(const std::string& file) {
  Verdict verdict;
  verdict.file = document_name(file);
  const Result<std::string> text = read_document_file(file);
  if (!text) {
    verdict.errors.push_back(text.error());
    verdict.unreadable = text.error().code == ErrorCode::kIo;
    return verdict;
  }
  if (verdict.file.ends_with(".scn")) {
    check_scenario(*text, verdict);
    return verdict;
  }
  const auto document = Document::parse(*text, verdict.file);
  if (!document) {
    verdict.errors = document.error();
    return verdict;
  }
  const auto roots = document->roots();
  if (!roots.empty() && document_kind(roots.front()) == "Scenario") {
    check_scenario(*text, verdict);
  } else if (!roots.empty() && is_share(roots.front())) {
    check_share(*document, verdict);
  } else {
    check_cluster_or_workloads(*document, verdict);
  }
  return verdict;
}

Tree findings_tree(const std::vector<Error>& findings, bool with_code) {
  Tree list = Tree::list();
  for (const Error& finding : findings) {
    Tree map = Tree::map();
    if (with_code) map.add("code", Tree::string(std::string(error_code_name(finding.code))));
    map.add("where", Tree::string(finding.where));
    const std::size_t colon = finding.where.rfind(':');
    const std::string line = colon == std::string::npos ? "" : finding.where.substr(colon + 1);
    const bool number = !line.empty() && line.find_first_not_of("0123456789") == std::string::npos;
    map.add("line", number ? Tree::number(line) : Tree::null());
    map.add("field", Tree::string(finding.field));
    map.add("message", Tree::string(finding.message));
    map.add("cure", Tree::string(finding.cure));
    list.push(std::move(map));
  }
  return list;
}

Tree verdicts_tree(const std::vector<Verdict>& verdicts) {
  Tree out = Tree::map();
  out.add("valid", Tree::boolean(std::all_of(verdicts.begin(), verdicts.end(),
                                             [](const Verdict& v) { return v.errors.empty(); })));
  Tree& files = out.add("files", Tree::list());
  for (const Verdict& verdict : verdicts) {
    Tree map = Tree::map();
    map.add("file", Tree::string(verdict.file));
    map.add("valid", Tree::boolean(verdict.errors.empty()));
    map.add("errors", findings_tree(verdict.errors, true));
    map.add("warnings", findings_tree(verdict.warnings, false));
    files.push(std::move(map));
  }
  return out;
}

int validate(const ValidateOptions& options, CliContext& context) {
  std::vector<Verdict> verdicts;
  int status = 0;
  for (const std::string& file : options.files) {
    verdicts.push_back(check(file));
    const Verdict& verdict = verdicts.back();
    if (!verdict.errors.empty() && status != kExitUsage)
      status = verdict.unreadable ? 1 : kExitUsage;
    if (options.format != OutputFormat::kTable) continue;
    (void)report(context, verdict.errors);
    report_warnings(context, verdict.warnings);
    if (verdict.errors.empty()) {
      context.out << printable(verdict.file) << ": valid, " << verdict.contents << "\n";
    }
  }
  if (options.format == OutputFormat::kJson) context.out << to_json(verdicts_tree(verdicts));
  if (options.format == OutputFormat::kYaml) context.out << to_yaml(verdicts_tree(verdicts));
  return status;
}

}  // namespace

void add_validate_command(CLI::App& app, CliContext& context) {
  auto options = std::make_shared<ValidateOptions>();
  CLI::App* command =
      app.add_subcommand("validate", "Check documents of any kind, and scenario files");
  command->add_option("FILE", options->files, "Documents to check; - is standard input")
      ->required()
      ->type_name("");
  add_format_option(*command, options->format,
                    {OutputFormat::kTable, OutputFormat::kJson, OutputFormat::kYaml});
  constexpr Example kExamples[] = {
      {"check one file", "fairlead validate cluster.yaml"},
      {"whatever kind they are", "fairlead validate cluster.yaml case.scn queues.yaml"},
      {"errors and warnings as objects", "fairlead validate -o json cluster.yaml workload.json"},
      {"check what another program prints", "generate | fairlead validate -"},
  };
  command->footer(examples(kExamples));
  command->callback([options, &context] { context.exit_status = validate(*options, context); });
}

}  // namespace fairlead::cli
