// fairlead export: a server's cluster as a document.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>

#include "cli/client/answer.h"
#include "cli/client/client_options.h"
#include "cli/client/present.h"
#include "cli/commands.h"
#include "model/cluster_printer.h"

namespace fairlead::cli {

Result<control::Present> fetch_present(const ConnectionFlags& flags, CliContext& context) {
  FAIRLEAD_ASSIGN(ApiClient api, connect(flags, context));
  FAIRLEAD_ASSIGN(const Reply reply, api.get(api_path({"cluster"})));
  Findings findings("cluster");
  control::Present present = control::read_present(reply.root(), findings);
  if (findings.ok()) return present;
  return fail(ErrorCode::kFailed,
              "the server's answer cannot be read: " + findings.take_errors().front().text(),
              "use the program of the server's version");
}

namespace {

struct ExportOptions {
  ConnectionFlags connection;
  OutputFormat format = OutputFormat::kYaml;
  std::string output;
};

int export_cluster(const ExportOptions& options, CliContext& context) {
  const auto present = fetch_present(options.connection, context);
  if (!present) return report(context, present.error());
  const Tree tree = cluster_tree(present->cluster);
  return write_output(context, options.output,
                      options.format == OutputFormat::kYaml ? to_yaml(tree) : to_json(tree));
}

}  // namespace

void add_export_command(CLI::App& app, CliContext& context) {
  constexpr Example kExamples[] = {
      {"the cluster as it is now", "fairlead export --output cluster.yaml"},
      {"a trace on it", "fairlead export | fairlead simulate trace jobs.csv --cluster -"},
  };
  auto options = std::make_shared<ExportOptions>();
  CLI::App& command = add_verb(
      app, "export", "The server's cluster, with what runs and waits, as a document", kExamples);
  add_format_option(command, options->format, {OutputFormat::kYaml, OutputFormat::kJson});
  add_output_option(command, options->output);
  add_connection_flags(command, options->connection);
  on_run(command, context, [options, &context] { return export_cluster(*options, context); });
}

}  // namespace fairlead::cli
