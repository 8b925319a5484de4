// fairlead share FILE: the division of semantics 3.2 alone, for when a number surprises.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/share_document.h"
#include "cli/share_report.h"
#include "model/document.h"
#include "model/tree.h"

namespace fairlead::cli {
namespace {

struct ShareOptions {
  std::string file;
  OutputFormat format = OutputFormat::kTable;
  std::string output;
  bool explain = false;
};

int share(const ShareOptions& options, CliContext& context) {
  const Result<std::string> text = read_document_file(options.file);
  if (!text) return report(context, text.error());
  const auto parsed = Document::parse(*text, document_name(options.file));
  if (!parsed) return report_invalid(context, parsed.error());
  const auto document = read_share_document(*parsed);
  if (!document) return report_invalid(context, document.error());

  const ShareAnswer answer = answer_share(*document);
  report_warnings(context, share_warnings(*document, answer, document_name(options.file)));
  if (options.format == OutputFormat::kTable) {
    return write_output(context, options.output, share_table(*document, answer, options.explain));
  }
  const Tree tree = share_tree(*document, answer, options.explain);
  return write_output(context, options.output,
                      options.format == OutputFormat::kJson ? to_json(tree) : to_yaml(tree));
}

}  // namespace

void add_share_command(CLI::App& app, CliContext& context) {
  auto options = std::make_shared<ShareOptions>();
  CLI::App* command =
      app.add_subcommand("share", "Divide resources over queues: who may fairly hold what");
  command->add_option("FILE", options->file, "Document of kind Share; - is standard input")
      ->required()
      ->type_name("");
  command->add_flag("--explain", options->explain, "Show what each phase and round gave to whom");
  add_format_option(*command, options->format,
                    {OutputFormat::kTable, OutputFormat::kJson, OutputFormat::kYaml});
  add_output_option(*command, options->output);
  constexpr Example kExamples[] = {
      {"fair shares as a table", "fairlead share queues.yaml"},
      {"each phase's part, for a program", "fairlead share queues.yaml -o json --explain"},
      {"without a file",
       "echo '{totals: 8, queues: [{name: a, requested: 6}, {name: b, requested: 6}]}' | fairlead "
       "share -"},
  };
  command->footer(examples(kExamples));
  command->callback([options, &context] { context.exit_status = share(*options, context); });
}

}  // namespace fairlead::cli
