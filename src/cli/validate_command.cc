// fairlead validate FILE…: is this document right, and what exactly is wrong with it?
#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>

#include "cli/commands.h"
#include "cli/output.h"
#include "model/document.h"

namespace fairlead::cli {
namespace {

struct ValidateOptions {
  std::vector<std::string> files;
  OutputFormat format = OutputFormat::kTable;
};

int validate(const ValidateOptions& options, CliContext& context) {
  int status = 0;
  for (const std::string& file : options.files) {
    const Result<std::string> text = read_document_file(file);
    if (!text) {
      status = report(context, text.error());
      continue;
    }
    const auto document = Document::parse(*text, document_name(file));
    if (!document) status = report(context, document.error());
  }
  return status;
}

}  // namespace

void add_validate_command(CLI::App& app, CliContext& context) {
  auto options = std::make_shared<ValidateOptions>();
  CLI::App* command = app.add_subcommand("validate", "Check cluster and workload documents");
  command->add_option("FILE", options->files, "Documents to check; - is standard input")->required();
  add_format_option(*command, options->format, {OutputFormat::kTable, OutputFormat::kJson});
  constexpr Example kExamples[] = {
      {"check one file", "fairlead validate cluster.yaml"},
      {"errors and warnings as objects", "fairlead validate -o json cluster.yaml workload.json"},
      {"check what another program prints", "generate | fairlead validate -"},
  };
  command->footer(examples(kExamples));
  command->callback([options, &context] { context.exit_status = validate(*options, context); });
}

}  // namespace fairlead::cli
