// fairlead validate FILE…: is this document right, and what exactly is wrong with it?
#include <algorithm>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/output.h"
#include "model/cluster_printer.h"
#include "model/cluster_reader.h"

namespace fairlead::cli {
namespace {

struct ValidateOptions {
  std::vector<std::string> files;
  OutputFormat format = OutputFormat::kTable;
};

struct Verdict {
  std::string file;
  std::string contents;  // "1 cluster, 16 nodes, …" if it is valid
  std::vector<Error> errors;
  std::vector<Error> warnings;
  bool unreadable = false;
};

std::string counted(std::size_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

std::string contents_of(const ClusterDocument& document) {
  const ClusterSpec& cluster = document.cluster;
  const std::string workloads = counted(cluster.workloads.size(), "workload");
  if (!document.has_cluster) return workloads;
  std::size_t gpus = 0;
  for (const NodeSpec& node : cluster.nodes) gpus += node.devices.size();
  return counted(cluster.nodes.size(), "node") + ", " + counted(gpus, "GPU") + ", " +
         counted(cluster.queues.size(), "queue") + ", " + workloads;
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
  auto document = parse_cluster(*text, verdict.file);
  if (!document) {
    verdict.errors = std::move(document).error();
    return verdict;
  }
  verdict.contents = contents_of(*document);
  verdict.warnings = std::move(document->warnings);
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
      context.out << verdict.file << ": valid, " << verdict.contents << "\n";
    }
  }
  if (options.format == OutputFormat::kJson) context.out << to_json(verdicts_tree(verdicts));
  if (options.format == OutputFormat::kYaml) context.out << to_yaml(verdicts_tree(verdicts));
  return status;
}

}  // namespace

void add_validate_command(CLI::App& app, CliContext& context) {
  auto options = std::make_shared<ValidateOptions>();
  CLI::App* command = app.add_subcommand("validate", "Check cluster and workload documents");
  command->add_option("FILE", options->files, "Documents to check; - is standard input")
      ->required();
  add_format_option(*command, options->format,
                    {OutputFormat::kTable, OutputFormat::kJson, OutputFormat::kYaml});
  constexpr Example kExamples[] = {
      {"check one file", "fairlead validate cluster.yaml"},
      {"errors and warnings as objects", "fairlead validate -o json cluster.yaml workload.json"},
      {"check what another program prints", "generate | fairlead validate -"},
  };
  command->footer(examples(kExamples));
  command->callback([options, &context] { context.exit_status = validate(*options, context); });
}

}  // namespace fairlead::cli
