// fairlead schema NAME: the JSON Schema of a document, for editors and for other programs.
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/schemas.h"

namespace fairlead::cli {
namespace {

struct SchemaOptions {
  std::string name;
  std::string output;
};

int print_schema(const SchemaOptions& options, CliContext& context) {
  std::vector<std::string> names;
  for (const Schema& schema : schemas()) {
    if (schema.name == options.name) return write_output(context, options.output, schema.text);
    names.emplace_back(schema.name);
  }
  const std::string near = nearest_name(options.name, names);
  Error error;
  error.message = "there is no schema \"" + options.name + "\"; there is " + listing(names);
  if (!near.empty()) error.cure = "did you mean \"" + near + "\"?";
  return report(context, error);
}

}  // namespace

void add_schema_command(CLI::App& app, CliContext& context) {
  auto options = std::make_shared<SchemaOptions>();
  CLI::App* command = app.add_subcommand("schema", "Print the JSON Schema of a document");
  std::string names;
  for (const Schema& schema : schemas()) {
    names += (names.empty() ? "" : "|") + std::string(schema.name);
  }
  command->add_option("NAME", options->name, "Which document")->required()->type_name(names);
  add_output_option(*command, options->output);
  constexpr Example kExamples[] = {
      {"see what a cluster document may hold", "fairlead schema cluster"},
      {"put it where an editor finds it", "fairlead schema workload --output workload.schema.json"},
  };
  command->footer(examples(kExamples));
  command->callback([options, &context] { context.exit_status = print_schema(*options, context); });
}

}  // namespace fairlead::cli
